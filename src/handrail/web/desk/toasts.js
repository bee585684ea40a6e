// Short messages at the edge: the state's, and those of this browser alone.

import { el, randomId } from "./element.js";
import { icon } from "./icons.js";

const STAYS = 5_000; // ms, for those of this browser
const STAYS_WITH_BODY = 9_000; // there is more to read
const ICONS = { info: "info", success: "check", warning: "alert", error: "alert" };

export class Toasts {
  #own = new Map();
  #shown = new Map();

  constructor(shell) {
    this.shell = shell;
    this.box = document.getElementById("toasts");
    shell.showToast = (toast) => this.#show(toast);
    shell.store.watch((_, changed) => changed.fields.has("toasts") && this.#draw());
  }

  #show(toast) {
    const same = [...this.#own.values()].find((one) => one.message === toast.message);
    const id = same?.id ?? randomId("own");
    clearTimeout(same?.timer);
    const timer = setTimeout(() => this.#end(id), toast.body ? STAYS_WITH_BODY : STAYS);
    this.#own.set(id, { ...toast, id, timer });
    this.#draw();
  }

  /** One that somebody reads stays until they dismiss it. */
  #end(id) {
    if (!this.#shown.get(id)?.element.querySelector("details[open]")) this.#drop(id);
  }

  #drop(id) {
    this.#own.delete(id);
    this.#draw();
  }

  #draw() {
    const wanted = new Map([...this.shell.state.toasts, ...this.#own.values()].map((one) => [one.id, one]));
    for (const [id, { element }] of this.#shown) {
      if (wanted.has(id)) continue;
      element.remove();
      this.#shown.delete(id);
    }
    for (const [id, toast] of wanted) this.#put(id, toast);
  }

  #put(id, toast) {
    const text = JSON.stringify([toast.message, toast.variant, toast.action]);
    const known = this.#shown.get(id);
    if (known?.text === text) return;
    const element = this.#element(toast);
    if (known) known.element.replaceWith(element);
    else this.box.append(element);
    this.#shown.set(id, { element, text });
  }

  #element({ id, message, variant = "info", action, body }) {
    const button = action ? el("button", { type: "button", class: "btn btn-sm", text: action.label, on: { click: () => this.#act(id, action) } }) : null;
    const close = el("button", { type: "button", class: "btn-icon", "aria-label": "Dismiss", dataset: this.#own.has(id) ? { local: "" } : {}, on: { click: () => this.#dismiss(id) } }, icon("close"));
    return el("div", { class: `toast toast-${variant}`, role: variant === "error" ? "alert" : null },
      icon(ICONS[variant] ?? "info"), body ? el("div", { class: "toast-text" }, body) : el("span", { class: "toast-text", text: message }), button, close);
  }

  #act(id, action) {
    if (action.run) action.run();
    else this.shell.send({ type: "TOAST_ACTION", toastId: id, eventId: action.eventId });
    this.#dismiss(id);
  }

  #dismiss(id) {
    if (this.#own.has(id)) this.#drop(id);
    else this.shell.interact({ type: "toast.dismiss", id });
  }
}
