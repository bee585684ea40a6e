// The monitors of the desk: which one this browser shows, and a new one.

import { el } from "./element.js";
import { icon } from "./icons.js";

const MOST = 16;

export class Monitors {
  constructor(shell) {
    this.shell = shell;
    this.element = el("div", { class: "monitors", role: "group", "aria-label": "Monitors" });
    shell.store.watch((_, changed) => (changed.fields.has("monitors") || changed.all) && this.#draw());
  }

  #draw() {
    const { state, monitor } = this.shell;
    const told = JSON.stringify([monitor.id, state.monitors.map((one) => one.id)]);
    if (told === this.told) return;
    this.told = told;
    const held = this.element.contains(document.activeElement);
    const buttons = state.monitors.map((one, at) => el("button", { type: "button", class: "monitor", text: at + 1, title: one.id,
      "aria-label": `Monitor ${at + 1}`, "aria-pressed": String(one.id === monitor.id), on: { click: () => this.#show(one.id) } }));
    const add = el("button", { type: "button", class: "monitor", "aria-label": "New monitor", on: { click: () => this.#add() } }, icon("plus"));
    this.element.replaceChildren(...buttons, ...(buttons.length < MOST ? [add] : []));
    if (held) this.element.querySelector("[aria-pressed=true]")?.focus();
  }

  #show(id) {
    if (!this.shell.subscribe(id)) return this.shell.toast("Not connected.", "warning");
    return this.shell.store.apply({});
  }

  #add() {
    const taken = new Set(this.shell.state.monitors.map((one) => one.id));
    let number = 1;
    while (taken.has(`monitor-${number}`)) number += 1;
    this.#show(`monitor-${number}`);
  }
}
