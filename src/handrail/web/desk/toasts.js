// Short messages at the edge: the state's, and those of this browser alone.

import { el, randomId } from "./element.js";
import { icon } from "./icons.js";

const STAYS = 5_000; // ms, for those of this browser
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
    const timer = setTimeout(() => this.#drop(id), STAYS);
    this.#own.set(id, { ...toast, id, timer });
    this.#draw();
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

  #element({ id, message, variant = "info", action }) {
    const button = action ? el("button", { type: "button", class: "btn btn-sm", text: action.label, on: { click: () => this.#act(id, action) } }) : null;
    const close = el("button", { type: "button", class: "btn-icon", "aria-label": "Dismiss", on: { click: () => this.#dismiss(id) } }, icon("close"));
    return el("div", { class: `toast toast-${variant}`, role: variant === "error" ? "alert" : null },
      icon(ICONS[variant] ?? "info"), el("span", { class: "toast-text", text: message }), button, close);
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
