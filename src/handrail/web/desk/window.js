// One window's frame: title bar, buttons, edges, and the box its content lives in. It draws what the state
// says and tells gestures apart; it never decides where a window is.

import { el } from "./element.js";
import { anyIcon, icon } from "./icons.js";
import { Content } from "./content.js";
import { dragWindow } from "./drag.js";
import { onWindowKey } from "./window_keys.js";
import { showWindowMenu } from "./window_menu.js";

const EDGES = ["n", "e", "s", "w", "ne", "se", "sw", "nw"];
// The server filters by a list of its own; this one holds even if that fails. No property here can move a
// window, lift it above others or let it catch clicks outside its box.
const STYLES = new RegExp(
  "^(color|background(-color)?|opacity|accent-color|border(-(color|style|width|radius|top|right|bottom|left))?"
  + "|padding(-(top|right|bottom|left))?|gap|font-(family|size|style|weight|variant)|line-height"
  + "|(letter|word)-spacing|text-(align|transform|decoration|indent)|white-space|word-break|overflow-wrap|direction)$");
const ECHO = 1_000; // ms that a gesture's result stays although the server has not said the same

export class WindowFrame {
  #override = null;
  #echo = 0;
  #styled = new Set();

  constructor(shell, win) {
    this.shell = shell;
    this.win = win;
    this.title = el("h2", { class: "window-title" });
    this.marks = el("span", { class: "window-marks" });
    this.symbol = el("button", {
      type: "button", class: "btn-icon window-symbol", "aria-haspopup": "menu", "aria-expanded": "false",
      on: { click: () => showWindowMenu(this) },
    });
    this.body = el("div", { class: "window-body" });
    this.bar = el("header", { class: "window-bar" }, this.symbol, this.title, this.marks, this.#buttons());
    this.root = el("section", { class: "window", tabindex: "-1", dataset: { key: win.key } }, this.bar, this.body,
      EDGES.map((edge) => el("div", { class: `edge edge-${edge}`, dataset: { edge } })));
    this.content = new Content(shell, this);
    this.#listen();
  }

  #buttons() {
    const button = (name, label, run) =>
      el("button", { type: "button", class: `btn-icon window-${name}`, "aria-label": label, on: { click: run } }, icon(name));
    this.maximizer = button("maximize", "Maximise", () => this.toggleMaximized());
    return el("span", { class: "window-buttons" },
      button("minimize", "Minimise", () => this.act("window.minimize")),
      this.maximizer,
      button("close", "Close", () => this.act("window.close")));
  }

  #listen() {
    this.root.addEventListener("pointerdown", (event) => this.#pressed(event), true);
    this.root.addEventListener("keydown", (event) => onWindowKey(event, this));
    this.root.addEventListener("focusin", () => this.focusOnDesk());
    this.bar.addEventListener("dblclick", (event) => event.target.closest("button") || this.toggleMaximized());
    this.bar.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      showWindowMenu(this, { x: event.clientX, y: event.clientY });
    });
  }

  #pressed(event) {
    if (event.button !== 0) return;
    const edge = event.target.dataset?.edge;
    const onBar = event.target.closest?.(".window-bar") && !event.target.closest("button");
    this.focusOnDesk();
    if (!this.canMove) return;
    if (edge || onBar) dragWindow(this, event, edge ?? null);
  }

  get canMove() { return this.win.variant !== "panel" && !this.shell.isPhone && this.shell.connection.online; }

  /** True when nothing behind it shines through. */
  get isOpaque() {
    return this.win.variant === "standard" && this.#styled.size === 0 && !this.root.classList.contains("is-dragged");
  }

  act(type, fields) { return this.shell.act(type, this.win, fields); }

  focusOnDesk() {
    const { win, shell } = this;
    if (win.variant === "panel" || shell.monitor.focused === win.key || !shell.connection.online) return;
    if (!shell.state.windows[win.key]) return;
    this.act("window.focus");
  }

  toggleMaximized() {
    if (this.win.variant === "standard") this.act(this.win.maximized ? "window.restore" : "window.maximize");
  }

  get bounds() { return this.#override ?? this.win.bounds; }

  /** Shown here at once; the state's word counts again when it says the same, or after a moment. */
  preview(bounds) {
    this.#override = bounds;
    clearTimeout(this.#echo);
    this.place();
  }

  settle() {
    clearTimeout(this.#echo);
    this.#echo = setTimeout(() => {
      this.#override = null;
      this.place();
    }, ECHO);
  }

  place() {
    const { x, y, w, h } = this.bounds;
    const style = this.root.style;
    // A panel lies on its edge, whatever this browser's height.
    style.transform = `translate(${x}px, ${this.win.variant === "panel" ? 0 : y}px)`;
    style.width = `${w}px`;
    style.height = `${h}px`;
  }

  /** The state changed: draw it. */
  update(win, focused, z) {
    this.win = win;
    if (this.#override && same(this.#override, win.bounds) && !this.root.classList.contains("is-dragged")) this.#override = null;
    const { root } = this;
    root.classList.toggle("is-focused", focused);
    root.classList.toggle("is-maximized", win.maximized && !this.#override);
    root.classList.toggle("is-frameless", win.frameless);
    root.classList.toggle("is-locked", win.lockedBy !== null);
    root.dataset.variant = win.variant;
    root.style.zIndex = z;
    root.setAttribute("aria-label", win.title || win.windowId);
    this.#head(win);
    this.#style(win.windowStyle ?? {});
    this.place();
  }

  #head(win) {
    const symbol = symbolOf(win, this.shell);
    const told = [win.title, win.lockedBy, win.agentId, win.maximized, ...symbol].join("\n");
    if (this.told === told) return;
    this.told = told;
    this.title.textContent = win.title || win.windowId;
    this.title.title = win.title;
    this.symbol.replaceChildren(anyIcon(...symbol));
    this.symbol.setAttribute("aria-label", `Menu of ${win.title || win.windowId}`);
    this.maximizer.setAttribute("aria-label", win.maximized ? "Restore" : "Maximise");
    this.maximizer.replaceChildren(icon(win.maximized ? "restore" : "maximize"));
    this.marks.replaceChildren(...marksOf(win));
  }

  #style(wanted) {
    for (const name of this.#styled) if (!(name in wanted)) this.root.style.removeProperty(name);
    this.#styled = new Set(Object.keys(wanted).filter((name) => STYLES.test(name)));
    for (const name of this.#styled) {
      if (!/url\s*\(|var\s*\(/i.test(wanted[name])) this.root.style.setProperty(name, wanted[name]);
    }
  }

  close() {
    clearTimeout(this.#echo);
    this.content.close();
    this.root.remove();
  }
}

const same = (a, b) => a.x === b.x && a.y === b.y && a.w === b.w && a.h === b.h;
const RENDERER_ICONS = { markdown: "file", html: "file", text: "file", table: "menu", iframe: "globe", component: "apps" };

function symbolOf(win, shell) {
  const data = win.content?.data;
  const app = typeof data === "string" && data.startsWith("app:") ? shell.apps.get(data.slice(4).split("?")[0]) : null;
  const other = typeof data === "string" && data.startsWith("app:") ? "apps" : RENDERER_ICONS[win.content?.renderer];
  return [app?.icon ?? other, "apps", app?.iconType];
}

/** Who opened it, and who holds its lock; one mark where both are the same. */
function marksOf(win) {
  const marks = [];
  if (!win.isPersons && win.agentId && win.agentId !== win.lockedBy) {
    marks.push(el("span", { class: "window-agent", text: win.agentId, title: `Opened by ${win.agentId}` }));
  }
  if (win.lockedBy !== null) {
    marks.push(el("span", { class: "window-lock", title: `${win.lockedBy} works in this window; other agents can't change it` },
      icon("lock"), el("span", { text: win.lockedBy })));
  }
  return marks;
}
