// Moving, resizing and snapping by pointer. One frame of the screen draws once; the wire hears it 20 times a second.

import { reachable, resized, snapZone, zoneBounds } from "./geometry.js";

const SLOP = 3; // px before a press is a drag
const TELL_EVERY = 50; // ms

/** `edge`: a subset of "nesw", or null to move. */
export function dragWindow(frame, event, edge) {
  new Drag(frame, event, edge).begin();
}

class Drag {
  #last = null;
  #painting = 0;
  #toldAt = 0;
  #turn = 0;
  #moved = false;

  constructor(frame, event, edge) {
    Object.assign(this, { frame, edge, start: { x: event.clientX, y: event.clientY }, pointer: event.pointerId });
    this.from = { ...frame.bounds };
    this.handle = event.target;
    this.zone = null;
    this.hint = document.getElementById("snap");
    this.stage = frame.shell.stage;
    // Asked once: during the drag it would force the browser to lay everything out again.
    this.view = frame.shell.view;
    this.corner = this.stage.getBoundingClientRect();
  }

  begin() {
    this.handle.setPointerCapture(this.pointer);
    this.listeners = {
      pointermove: (event) => this.#move(event),
      pointerup: () => this.#end(true),
      pointercancel: () => this.#end(false),
    };
    for (const [type, run] of Object.entries(this.listeners)) this.handle.addEventListener(type, run);
    this.escape = (event) => event.key === "Escape" && this.#end(false);
    window.addEventListener("keydown", this.escape, true);
  }

  #move(event) {
    const far = Math.hypot(event.clientX - this.start.x, event.clientY - this.start.y) >= SLOP;
    if (!this.#moved && !far) return;
    if (!this.#moved) this.#first(event);
    this.#last = { x: event.clientX, y: event.clientY };
    this.#painting ||= requestAnimationFrame(() => this.#paint());
  }

  #first(event) {
    const { frame } = this;
    this.#moved = true;
    frame.root.classList.add("is-dragged");
    this.stage.classList.add("is-dragging");
    frame.shell.uncover();
    const small = frame.win.maximized ? frame.win.previousBounds : frame.beforeSnap;
    this.wasMaximized = frame.win.maximized;
    frame.root.classList.remove("is-maximized");
    if (this.edge || !small) return;
    // A maximised or snapped window gets its old size back under the pointer.
    const share = (event.clientX - this.corner.left - this.from.x) / this.from.w;
    const x = this.from.x + Math.round(share * (this.from.w - small.w));
    this.from = { x, y: this.from.y, w: small.w, h: small.h };
    this.sizeChanged = true;
    frame.beforeSnap = null;
  }

  #paint() {
    this.#painting = 0;
    const dx = this.#last.x - this.start.x;
    const dy = this.#last.y - this.start.y;
    const bounds = this.edge
      ? resized(this.from, this.edge, dx, dy)
      : reachable({ ...this.from, x: this.from.x + dx, y: this.from.y + dy }, this.view);
    this.frame.preview(bounds);
    this.#zone();
    // The last place counts even if the hand rests there: it is told when its turn comes.
    this.#turn ||= setTimeout(() => this.#tell(), this.#toldAt + TELL_EVERY - performance.now());
  }

  #zone() {
    if (this.edge || this.frame.win.variant !== "standard") return;
    const zone = snapZone(this.#last.x - this.corner.left, this.#last.y - this.corner.top, this.view);
    if (zone === this.zone) return;
    this.zone = zone;
    this.hint.hidden = zone === null;
    if (zone === null) return;
    const { x, y, w, h } = zoneBounds(zone, this.view);
    this.hint.style.transform = `translate(${x}px, ${y}px)`;
    this.hint.style.width = `${w}px`;
    this.hint.style.height = `${h}px`;
  }

  #tell() {
    clearTimeout(this.#turn);
    this.#turn = 0;
    this.#toldAt = performance.now();
    if (!this.frame.root.isConnected) return; // closed by somebody meanwhile
    tellBounds(this.frame, this.frame.bounds, this.edge || this.sizeChanged);
  }

  #end(kept) {
    cancelAnimationFrame(this.#painting);
    for (const [type, run] of Object.entries(this.listeners)) this.handle.removeEventListener(type, run);
    window.removeEventListener("keydown", this.escape, true);
    this.frame.root.classList.remove("is-dragged");
    this.stage.classList.remove("is-dragging");
    if (!this.#moved) return;
    if (kept) this.#paint();
    else this.frame.preview(this.from);
    this.hint.hidden = true;
    clearTimeout(this.#turn);
    if (kept && this.zone) snapWindow(this.frame, this.zone, this.from);
    else this.#tell();
    if (!kept && this.wasMaximized) this.frame.act("window.maximize");
    this.frame.settle();
  }
}

/** Say where a window is now. */
export function tellBounds(frame, { x, y, w, h }, resizes) {
  const { windowId, monitorId } = frame.win;
  const move = { type: "window.move", windowId, monitorId, x, y };
  const resize = { type: "window.resize", windowId, monitorId, w, h };
  frame.shell.interact(...(resizes ? [move, resize] : [move]));
}

/** Half the stage, or all of it. */
export function snapWindow(frame, zone, before = frame.bounds) {
  if (zone === "max") {
    if (!frame.win.maximized) tellBounds(frame, before, true);
    frame.act("window.maximize");
    return;
  }
  const bounds = zoneBounds(zone, frame.shell.view);
  frame.beforeSnap = frame.win.maximized ? frame.win.previousBounds : { ...before };
  frame.preview(bounds);
  tellBounds(frame, bounds, true);
  frame.settle();
}
