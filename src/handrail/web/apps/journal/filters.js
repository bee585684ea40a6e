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
    this.element = el("div", { class: "journal-filters", role: "search" }, icon("search"), this.text, ...Object.values(this.selects));
  }

  /** Phones that can be chosen are those that were seen. */
  saw(devices) {
    const select = this.selects.device;
    const known = new Set([...select.options].map((one) => one.value));
    for (const device of new Set(devices)) if (device && !known.has(device)) select.append(el("option", { value: device, text: device }));
    select.hidden = select.options.length < 3; // all of them, and the only one
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
