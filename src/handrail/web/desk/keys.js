// Keys that work anywhere on the desk.

import { showHelp } from "./help.js";
import { showWindowMenu } from "./window_menu.js";

export function listenToKeys(shell, windows, taskbar) {
  const run = {
    KeyN: () => nextWindow(windows),
    KeyT: () => shell.tile(),
    KeyS: () => taskbar.launcher.toggle(),
    Space: () => withFocused(windows, shell, (frame) => showWindowMenu(frame)),
  };
  window.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    const isChord = event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey;
    if (event.key === "F6") goRound(shell, windows, event.shiftKey ? -1 : 1);
    else if (isChord && run[event.code]) run[event.code]();
    else if (event.key === "?" && !isTyping(event.target)) showHelp();
    else return;
    event.preventDefault();
  });
}

const isTyping = (target) => Boolean(target.closest?.("input, textarea, select, [contenteditable], canvas"));

function withFocused(windows, shell, run) {
  const frame = windows.frame(shell.monitor.focused) ?? windows.visible.at(-1);
  if (frame) run(frame);
}

/** The bottom one comes to the front, so that pressing it again and again shows every window. */
function nextWindow(windows) {
  const [bottom] = windows.visible.filter((frame) => frame.win.variant === "standard");
  if (!bottom) return;
  bottom.act("window.focus");
  bottom.root.focus();
}

function goRound(shell, windows, step) {
  const front = windows.frame(shell.monitor.focused)?.root;
  const regions = [document.getElementById("icons"), front, ...document.querySelectorAll(".dock > .window"), document.getElementById("taskbar")].filter(Boolean);
  const at = regions.findIndex((one) => one.contains(document.activeElement));
  const next = regions[(at + step + regions.length) % regions.length];
  const first = next.querySelector("button:not([tabindex='-1']):not(:disabled), [tabindex='0']");
  (first ?? next).focus();
}
