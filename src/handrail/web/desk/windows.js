// Keeps one frame per window of the state: which are shown, on which layer, in which order.
// Frames keep their place in the document for life, because moving an iframe there would reload it.

import { covered } from "./covered.js";
import { WindowFrame } from "./window.js";

const MANY = 40; // with fewer windows all are painted
const CULL_AFTER = 120; // ms after the last change

export class Windows {
  #frames = new Map();
  #orders = new Map();

  constructor(shell) {
    this.shell = shell;
    this.layer = document.getElementById("layer");
    this.docks = { top: document.getElementById("dock-top"), bottom: document.getElementById("dock-bottom") };
    this.shown = null;
    shell.store.watch((state, changed) => this.#changed(state, changed));
    shell.onWidth(() => this.all());
    shell.uncover = () => this.#cull();
    shell.gotApps = () => this.all(); // windows of apps that were drawn before have their icons now
    // A click inside an iframe reaches only the iframe; the page sees that it lost the focus to one.
    window.addEventListener("blur", () => this.#intoFrame());
  }

  frame(key) { return this.#frames.get(key); }

  get visible() {
    return this.shell.monitor.order.map((key) => this.#frames.get(key)).filter((one) => one && !one.root.hidden);
  }

  #changed(state, changed) {
    if (changed.all || this.shown !== this.shell.monitor.id) return this.all();
    const keys = new Set(changed.windows);
    if (changed.fields.has("monitors")) this.#reordered(keys);
    this.#rank();
    for (const key of keys) this.#draw(state, key);
    return this.#cullSoon();
  }

  all() {
    this.shown = this.shell.monitor.id;
    this.#rank();
    for (const key of new Set([...this.#frames.keys(), ...Object.keys(this.shell.state.windows)])) {
      this.#draw(this.shell.state, key);
    }
    this.was = this.shell.monitor;
    this.#cull(); // at once: hundreds of windows should not even be painted a first time
  }

  #cullSoon() {
    this.culling ||= setTimeout(() => this.#cull(), CULL_AFTER);
  }

  /** Windows out of sight are not painted. A window that is being dragged covers nothing: it will move on. */
  #cull() {
    clearTimeout(this.culling);
    this.culling = 0;
    const frames = this.visible.reverse();
    const boxes = frames.length <= MANY ? [] : frames.map((frame) => ({ key: frame.win.key, ...frame.bounds, opaque: frame.isOpaque }));
    const hidden = covered(boxes, this.shell.view);
    for (const frame of frames) frame.root.classList.toggle("is-covered", hidden.has(frame.win.key));
  }

  #rank() {
    const { order, panels } = this.shell.monitor;
    this.#orders = new Map([...order, ...panels].map((key, index) => [key, index + 1]));
  }

  /** Which windows a changed z-order or focus touches: those whose rank or focus is another than drawn. */
  #reordered(keys) {
    const now = this.shell.monitor;
    now.order.forEach((key, index) => this.was?.order[index] === key || keys.add(key));
    for (const key of [this.was?.focused, now.focused]) if (key) keys.add(key);
    this.was = now;
  }

  #draw(state, key) {
    const win = state.windows[key];
    const known = this.#frames.get(key);
    if (!win) {
      known?.close();
      this.#frames.delete(key);
      return;
    }
    const here = win.monitorId === this.shell.monitor.id;
    if (!known && !here) return;
    const frame = known ?? this.#make(win);
    frame.root.hidden = !here || win.minimized;
    frame.update(win, this.shell.monitor.focused === key, this.#orders.get(key) ?? 1);
    if (!frame.root.hidden) frame.content.update(win);
  }

  #make(win) {
    const frame = new WindowFrame(this.shell, win);
    const home = win.variant === "panel" ? this.docks[win.dockEdge ?? "bottom"] : this.layer;
    home.append(frame.root);
    this.#frames.set(win.key, frame);
    return frame;
  }

  #intoFrame() {
    const key = document.activeElement?.tagName === "IFRAME" && document.activeElement.closest(".window")?.dataset.key;
    if (key) this.#frames.get(key)?.focusOnDesk();
  }
}
