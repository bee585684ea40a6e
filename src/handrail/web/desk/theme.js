// Light or dark: what the person chose here, else what the system prefers.

const KEY = "handrail.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const watchers = new Set();

export const theme = () => localStorage.getItem(KEY) ?? (dark.matches ? "dark" : "light");

function show() {
  document.documentElement.dataset.theme = theme();
  for (const watcher of watchers) watcher(theme());
}

export function toggleTheme() {
  localStorage.setItem(KEY, theme() === "dark" ? "light" : "dark");
  show();
}

/** "light", "dark", or "system" where nothing was chosen. */
export const chosenTheme = () => localStorage.getItem(KEY) ?? "system";

export function chooseTheme(name) {
  if (name === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, name);
  show();
}

/** `watcher("light" | "dark")` now and at each change. */
export function watchTheme(watcher) {
  watchers.add(watcher);
  watcher(theme());
  return () => watchers.delete(watcher);
}

dark.addEventListener("change", show);
show();
