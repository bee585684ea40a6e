// The elements that agents can name, as a list: the way to use the phone without a pointer.

import { el } from "../../desk/element.js";
import { shortly } from "../../desk/error_words.js";

export class Elements {
  constructor(tap) {
    this.tap = tap;
    this.count = el("span", { class: "quiet" });
    this.list = el("ul", { class: "phone-elements" });
    this.text = el("pre", { class: "code phone-tree", tabindex: "0", "aria-label": "The compact tree" });
    this.section = el("section", { class: "phone-elements-part" },
      el("h3", {}, "Elements ", this.count), this.list,
      el("details", {}, el("summary", { text: "As agents read it" }), this.text));
  }

  show(tree) {
    this.count.textContent = `${tree.refs.length} · ${tree.revision ?? ""}`;
    this.text.textContent = tree.text;
    this.list.replaceChildren(...tree.refs.map((one) => this.row(one)));
  }

  row({ ref, label, role }) {
    return el("li", {}, el("button", { class: "phone-element", title: `Tap ${ref}`, on: { click: () => this.tap(ref) } },
      el("code", { text: ref }), el("span", { text: label || String(role ?? "").replaceAll("_", " ") })));
  }

  trouble(error) {
    this.count.textContent = shortly(error.code);
  }
}
