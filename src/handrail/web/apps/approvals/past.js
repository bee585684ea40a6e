// One question that was answered, or never was.

import { el } from "../../desk/element.js";
import { moment, spaced, toneOf } from "../words.js";

const STATES = { pending: "waiting", approved: "allowed", denied: "refused", expired: "no answer", withdrawn: "withdrawn", void: "not used" };

export function past(one) {
  const by = one.answered_by ? ` by ${one.answered_by}` : "";
  const when = one.answered ?? one.created;
  return el("article", { class: "past", dataset: { id: one.id } },
    el("span", { class: `badge badge-${one.state === "pending" ? "warning" : toneOf(one.state)}`, text: STATES[one.state] ?? one.state }),
    el("div", {},
      el("strong", { text: one.instruction }),
      el("p", { class: "quiet", text: [spaced(one.action.type), one.reason, one.phone ?? one.device].filter(Boolean).join(" · ") }),
      el("p", { class: "quiet", text: `${moment(when)}${by}${one.remember ? ` · remembered: ${one.remember}` : ""}${one.note ? ` · “${one.note}”` : ""}` })));
}
