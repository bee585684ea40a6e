// What happens on the phone, newest first: an action under way, and the last ones with their ends.

import { el } from "../../desk/element.js";
import { ended, lasted, spaced, toneOf, who } from "../words.js";

const KEPT = 12;

export class Story {
  constructor() {
    this.now = el("div", { class: "phone-now", role: "status" });
    this.list = el("ol", { class: "phone-acts" });
    this.none = el("p", { class: "quiet", text: "Nothing was done here yet." });
    this.section = el("section", {}, el("h3", { text: "Actions" }), this.now, this.none, this.list);
    this.clear();
  }

  get hasAny() {
    return this.list.childElementCount > 0;
  }

  clear() {
    this.list.replaceChildren();
    this.now.hidden = true;
    this.none.hidden = false;
  }

  live(frame) {
    this.now.hidden = false;
    this.now.textContent = `${spaced(frame.actionType ?? "action")}: ${spaced(frame.lifecycleState)}…`;
  }

  /** Nothing is under way any more. */
  quiet() {
    this.now.hidden = true;
  }

  ended(envelope, actor) {
    this.none.hidden = true;
    this.list.prepend(act(envelope, actor));
    while (this.list.childElementCount > KEPT) this.list.lastChild.remove();
  }
}

function act(envelope, actor) {
  const on = envelope.target?.resolved;
  const what = on?.text || on?.accessibility_id || "";
  const took = envelope.timings_ms?.total;
  const end = envelope.success ? ended(envelope.lifecycle_state) : envelope.failure_code;
  return el("li", { class: "phone-act", dataset: { action: envelope.action_id } },
    el("span", { class: `dot dot-${toneOf(envelope.lifecycle_state)}` }),
    el("span", { class: "phone-act-what" }, el("b", { text: spaced(envelope.action_type) }), what ? ` “${what}”` : ""),
    el("span", { class: "phone-act-more", text: [end, took ? lasted(took) : null, actor ? who(actor) : null].filter(Boolean).join(" · ") }),
    envelope.success ? null : el("span", { class: "phone-act-why", text: envelope.message ?? "" }));
}
