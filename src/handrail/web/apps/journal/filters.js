// Which actions are shown: words, kind, state, who.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";

const CHOICES = {
  touches: [["1", "Actions only"], ["", "Actions and reads"]],
  state: [["", "All results"], ["verified", "Verified"], ["pending_verification", "Done"], ["failed", "Failed"], ["unfinished", "Unfinished"]],
  actor: [["", "Everyone"], ["agent", "Agents"], ["person", "People"], ["flow", "Flows"]],
  device: [["", "All phones"]],
};
const NAMES = { touches: "Kind", state: "Result", actor: "By whom", device: "Phone" };
const TYPING_MS = 250;

export class Filters {
  constructor(changed) {
    this.text = el("input", { class: "input journal-search", type: "search", placeholder: "Search…", "aria-label": "Search",
      on: { input: () => { clearTimeout(this.timer); this.timer = setTimeout(changed, TYPING_MS); } } });
    this.selects = Object.fromEntries(Object.entries(CHOICES).map(([name, options]) => [name,
      el("select", { class: "input", "aria-label": NAMES[name], dataset: { filter: name }, on: { change: changed } },
        options.map(([value, text]) => el("option", { value, text })))]));
    this.more = el("button", { class: "btn btn-sm journal-narrow", "aria-expanded": "false", on: { click: () => this.toggle() } }, icon("settings"), "Filters");
    this.element = el("div", { class: "journal-filters", role: "search" }, icon("search"), this.text, this.more, ...Object.values(this.selects));
  }

  /** Where there is little room, all but the search is folded away. */
  toggle() {
    const isOpen = this.element.classList.toggle("is-open");
    this.more.setAttribute("aria-expanded", String(isOpen));
  }

  /** Phones and agents that can be chosen are those that were seen. */
  saw(found) {
    this.offer("device", found.map((one) => [one.device, one.phone ?? one.device]));
    this.offer("actor", found.map((one) => [one.actor?.id, one.actor?.id]));
    this.selects.device.hidden = this.selects.device.options.length < 3; // all of them, and the only one
  }

  offer(name, pairs) {
    const select = this.selects[name];
    const known = new Set([...select.options].map((one) => one.value));
    for (const [value, text] of new Map(pairs)) if (value && !known.has(value)) select.append(el("option", { value, text }));
  }

  get values() {
    const chosen = Object.entries(this.selects).map(([name, select]) => [name, select.value]);
    return Object.fromEntries([["text", this.text.value.trim()], ...chosen].filter(([, value]) => value));
  }

  /** Whether more than the usual narrows the list. */
  get any() {
    return Object.keys(this.values).some((name) => name !== "touches");
  }
}
