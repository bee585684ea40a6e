// Drawn over the picture: the refs of the compact tree where they are, and what is being touched. The mark belongs to
// the screen on which the finger comes down: it goes when that screen does, and what was never sent leaves none.

import { shortly } from "../../desk/error_words.js";
import { el } from "../../desk/element.js";
import { spaced } from "../words.js";

const SHOWN_MS = 3000;
const TOUCHES = new Set(["resolved", "dispatched", "pending_verification"]);

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

  /** An action is allowed and about to touch something. */
  aimed({ bounds, lifecycleState, actionType }) {
    if (bounds && TOUCHES.has(lifecycleState)) this.mark(bounds, spaced(actionType), false);
  }

  /** It ended. What was touched stays marked for a moment where the screen is still the same. */
  acted(envelope) {
    const found = envelope.target?.resolved?.bounds;
    const moved = envelope.ui_fingerprint_before !== envelope.ui_fingerprint_after;
    if (!found || moved || envelope.delivery === "not_delivered") return this.forget();
    const code = envelope.success ? "" : ` · ${shortly(envelope.failure_code)}`;
    this.mark(found, spaced(envelope.action_type) + code, !envelope.success);
    this.timer = setTimeout(() => this.forget(), SHOWN_MS);
    return undefined;
  }

  mark(bounds, text, failed) {
    clearTimeout(this.timer);
    this.last.hidden = false;
    this.last.firstChild.textContent = text;
    this.last.classList.toggle("is-failed", failed);
    this.place(this.last, bounds);
  }

  forget() {
    clearTimeout(this.timer);
    this.last.hidden = true;
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
    this.forget();
  }
}
