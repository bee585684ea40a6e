// The bar: start, one button per window, then what is going on: agents, approvals, monitors, notifications, theme.

import { el } from "./element.js";
import { icon } from "./icons.js";
import { Launcher } from "./launcher.js";
import { Monitors } from "./monitors.js";
import { Agents } from "./agents.js";
import { theme, toggleTheme, watchTheme } from "./theme.js";
import { showMenu } from "./menu.js";
import { showHelp } from "./help.js";

// Windows made in the same millisecond: w9 before w10, in every browser.
const natural = new Intl.Collator("en", { numeric: true });

export class Taskbar {
  #buttons = new Map();

  constructor(shell, parts) {
    this.shell = shell;
    const bar = document.getElementById("taskbar");
    this.tasks = el("div", { class: "tasks", role: "toolbar", "aria-label": "Windows" });
    this.tasks.addEventListener("keydown", (event) => this.#walk(event));
    const start = el("button", { type: "button", class: "start", "aria-haspopup": "dialog", "aria-expanded": "false", "aria-label": "Handrail: Start" },
      el("img", { src: "/static/icon.svg", alt: "" }), el("span", { text: "Handrail" }));
    this.launcher = new Launcher(shell, start, parts.desktop);
    this.home = el("button", { type: "button", class: "btn-icon home", dataset: { local: "" }, "aria-label": "Desktop", "aria-pressed": "false", on: { click: () => this.#goHome() } }, icon("home"));
    this.all = el("button", { type: "button", class: "all-tasks", "aria-haspopup": "menu", "aria-expanded": "false", hidden: true, on: { click: () => this.#list() } }, icon("menu"), el("span"));
    new ResizeObserver(() => this.#overflow()).observe(this.tasks);
    bar.append(start, this.home, this.tasks, this.all, el("div", { class: "tray" },
      new Agents(shell).element, parts.approvals.pill, new Monitors(shell).element, this.#theme(),
      el("button", { type: "button", class: "btn-icon help-button", dataset: { local: "" }, "aria-label": "Keyboard shortcuts", on: { click: showHelp } }, icon("help")),
      parts.notifications.button, this.#clock()));
    shell.store.watch((state, changed) => this.#changed(changed));
    this.#draw();
  }

  #theme() {
    const button = el("button", { type: "button", class: "btn-icon", dataset: { local: "" }, on: { click: toggleTheme } });
    watchTheme(() => {
      const next = theme() === "dark" ? "light" : "dark";
      button.setAttribute("aria-label", `Use the ${next} theme`);
      button.replaceChildren(icon(next === "dark" ? "moon" : "sun"));
    });
    return button;
  }

  #clock() {
    const clock = el("time", { class: "clock" });
    const tick = () => { clock.textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }); };
    tick();
    setInterval(tick, 10_000);
    return clock;
  }

  /** At phone width: the icons instead of the window in front. */
  #goHome(show = !document.body.classList.contains("at-home")) {
    document.body.classList.toggle("at-home", show);
    this.home.setAttribute("aria-pressed", String(show));
  }

  #changed(changed) {
    const before = this.focusedKey;
    this.focusedKey = this.shell.monitor.focused;
    if (this.focusedKey && this.focusedKey !== before) this.#goHome(false);
    if (changed.all || changed.windows.size || changed.fields.has("monitors")) this.#draw();
  }

  #draw() {
    const { state, monitor } = this.shell;
    const shown = Object.values(state.windows)
      .filter((one) => one.monitorId === monitor.id && one.variant === "standard")
      .sort((a, b) => a.createdMs - b.createdMs || natural.compare(a.key, b.key));
    const told = shown.map((one) => `${one.key}\n${one.title}\n${one.minimized}`).join("\0") + monitor.focused;
    if (told === this.told) return; // only moved or resized
    this.told = told;
    const keys = new Set(shown.map((one) => one.key));
    for (const [key, button] of this.#buttons) {
      if (keys.has(key)) continue;
      button.remove();
      this.#buttons.delete(key);
    }
    shown.forEach((win, at) => this.#button(win, monitor.focused === win.key, at));
    this.tasks.hidden = shown.length === 0;
    this.#rove();
    this.#overflow();
  }

  /** Not all of them fit: a button opens the list with their whole names. */
  #overflow() {
    const isOver = this.tasks.scrollWidth > this.tasks.clientWidth + 1;
    this.all.hidden = !isOver;
    this.tasks.classList.toggle("is-over", isOver);
    if (isOver) this.tasks.querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.all.lastChild.textContent = this.#buttons.size;
    this.all.setAttribute("aria-label", `All ${this.#buttons.size} windows`);
  }

  #list() {
    const windows = [...this.tasks.children].map(({ dataset }) => this.shell.state.windows[dataset.key]).filter(Boolean);
    showMenu(this.all, "Windows", windows.map((win) => ({
      label: win.title || win.windowId, icon: win.minimized ? "minimize" : "external", run: () => this.#show(win),
    })));
  }

  #show(win) {
    this.#goHome(false);
    this.shell.act("window.focus", win);
  }

  #button(win, focused, at) {
    const button = this.#buttons.get(win.key) ?? this.#make(win.key);
    const there = this.tasks.children[at] ?? null;
    if (there !== button) this.tasks.insertBefore(button, there);
    const name = win.title || win.windowId;
    if (button.textContent !== name) {
      button.replaceChildren(el("span", { text: name }));
      button.title = name;
    }
    const pressed = String(focused && !win.minimized);
    if (button.getAttribute("aria-pressed") !== pressed) button.setAttribute("aria-pressed", pressed);
    button.classList.toggle("is-minimized", win.minimized);
    if (focused && !button.wasFocused) button.scrollIntoView({ block: "nearest", inline: "nearest" });
    button.wasFocused = focused;
  }

  #make(key) {
    const button = el("button", { type: "button", class: "task", tabindex: "-1", dataset: { key },
      on: { click: () => this.#click(key), contextmenu: (event) => this.#menu(event, key) } });
    this.#buttons.set(key, button);
    return button;
  }

  #click(key) {
    const win = this.shell.state.windows[key];
    const inFront = this.shell.monitor.focused === key && !win.minimized;
    const shown = inFront && !(this.shell.isPhone && document.body.classList.contains("at-home"));
    this.#goHome(false);
    if (!(inFront && !shown)) this.shell.act(shown ? "window.minimize" : "window.focus", win);
  }

  #menu(event, key) {
    event.preventDefault();
    const win = this.shell.state.windows[key];
    showMenu(event.currentTarget, win.title, [
      { label: "Show", icon: "external", run: () => this.shell.act("window.focus", win) },
      { label: "Close", icon: "close", run: () => this.shell.act("window.close", win) },
    ]);
  }

  #rove() {
    const all = [...this.#buttons.values()];
    const current = all.find((one) => one === document.activeElement) ?? all.find((one) => one.getAttribute("aria-pressed") === "true") ?? all[0];
    for (const one of all) if (one.tabIndex !== (one === current ? 0 : -1)) one.tabIndex = one === current ? 0 : -1;
  }

  #walk(event) {
    const all = [...this.tasks.children];
    const at = all.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    all[(to + all.length) % all.length].focus();
    this.#rove();
  }
}
