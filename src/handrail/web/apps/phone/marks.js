// Drawn over the picture: the refs of the compact tree where they are, and what was touched last.

import { el } from "../../desk/element.js";
import { spaced } from "../words.js";

const SHOWN_MS = 6000;

export class Marks {
  constructor(glass) {
    this.boxes = el("div", { class: "phone-refs", "aria-hidden": "true" });
    this.last = el("div", { class: "phone-last", hidden: true, "aria-hidden": "true" }, el("span"));
    glass.append(this.boxes, this.last);
    this.w = 1080;
    this.h = 2400;
  }

  fit(w, h) {
    [this.w, this.h] = [w || this.w, h || this.h];
  }

  refs(list) {
    this.boxes.replaceChildren(...list.map((one) => this.box(one)));
  }

  box({ ref, bounds, visible, label }) {
    const box = el("div", { class: `phone-ref phone-ref-${ref[1]}`, dataset: { ref, bounds: bounds.join(","), label } },
      el("span", { text: ref }));
    this.place(box, visible);
    return box;
  }

  acted(envelope) {
    const found = envelope.target?.resolved?.bounds;
    this.last.hidden = !found;
    if (!found) return;
    this.last.firstChild.textContent = spaced(envelope.action_type);
    this.last.classList.toggle("is-failed", !envelope.success);
    this.place(this.last, found);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.last.hidden = true; }, SHOWN_MS);
  }

  place(box, [left, top, right, bottom]) {
    const share = (value, whole) => `${(100 * value) / whole}%`;
    box.style.left = share(left, this.w);
    box.style.top = share(top, this.h);
    box.style.width = share(right - left, this.w);
    box.style.height = share(bottom - top, this.h);
    box.hidden = right <= left || bottom <= top;
  }

  clear() {
    this.boxes.replaceChildren();
    this.last.hidden = true;
  }
}
