// What buttons send. `parallel: false` clicks go one after another: the next waits until the agent has answered
// the one before, by changing the window or giving its lock back.

import { el } from "./element.js";

const PATIENCE = 10_000; // ms; an agent that never answers does not hold the queue for ever
const MOST = 20;

export class Clicks {
  #waiting = [];
  #pending = false;
  #timer = 0;

  constructor(shell, frame, root) {
    Object.assign(this, { shell, frame, lockedBy: frame.win.lockedBy });
    this.note = el("p", { class: "clicks-note", role: "status", hidden: true });
    root.after(this.note);
  }

  press(click) {
    if (click.parallel) return this.#send(click);
    if (this.#waiting.length >= MOST) return this.shell.toast("Too many clicks are waiting already.", "warning");
    this.#waiting.push(click);
    return this.#next();
  }

  /** The window's content is new: the agent reacted. */
  answered() {
    this.#pending = false;
    this.#next();
  }

  changed(win) {
    const released = this.lockedBy !== null && win.lockedBy === null;
    this.lockedBy = win.lockedBy;
    if (released) this.answered();
  }

  #next() {
    const busy = this.#pending || this.frame.win.lockedBy !== null;
    if (!busy && this.#waiting.length) {
      this.#pending = this.#send(this.#waiting.shift());
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.answered(), PATIENCE);
    }
    const count = this.#waiting.length;
    this.note.hidden = count === 0;
    this.note.textContent = `${count} ${count === 1 ? "click waits" : "clicks wait"} for the agent`;
  }

  #send({ action, parallel, formId, formData }) {
    const { windowId, monitorId } = this.frame.win;
    const form = formData === null ? {} : { formId, formData };
    return this.shell.send({ type: "COMPONENT_ACTION", windowId, monitorId, action, parallel, ...form });
  }

  close() {
    clearTimeout(this.#timer);
    this.note.remove();
  }
}
