// What happens on the phone, newest first: an action under way, and the last ones with their ends.

import { shortly, whatFailed } from "../../desk/error_words.js";
import { el } from "../../desk/element.js";
import { ended, lasted, moment, spaced, toneOf, who } from "../words.js";

const KEPT = 12;
const STAGES = { accepted: "getting ready", resolved: "about to begin", dispatched: "under way", pending_verification: "being checked" };

export class Story {
  #running = new Map();

  constructor() {
    this.now = el("div", { class: "phone-now", role: "status" });
    this.list = el("ol", { class: "phone-acts" });
    this.none = el("p", { class: "quiet", text: "Nothing was done here yet." });
    this.section = el("section", {}, el("h3", { text: "Actions" }), this.now, this.none, this.list);
    this.asked = 0;
    this.clear();
  }

  get kept() { return KEPT; }

  clear() {
    this.#running.clear();
    this.list.replaceChildren();
    this.none.hidden = false;
    this.#tell();
  }

  /** What was done before this page was opened, newest first. */
  before(rows) {
    const known = new Set([...this.list.children].map((one) => one.dataset.action));
    const acts = rows.filter((one) => !known.has(one.action_id) && one.state !== "unfinished").map(fromJournal);
    this.list.append(...acts.slice(0, KEPT - this.list.childElementCount));
    this.none.hidden = this.list.childElementCount > 0;
  }

  /** So many questions about this phone wait for a person. */
  asks(count) {
    this.asked = count;
    this.#tell();
  }

  live(frame) {
    this.#running.set(frame.actionId, frame);
    this.#tell();
  }

  ended(envelope, actor) {
    this.over(envelope.action_id);
    this.none.hidden = true;
    this.list.prepend(fromEnvelope(envelope, actor));
    while (this.list.childElementCount > KEPT) this.list.lastChild.remove();
  }

  over(id) {
    this.#running.delete(id);
    this.#tell();
  }

  #tell() {
    const newest = [...this.#running.values()].at(-1);
    this.now.hidden = !newest;
    if (!newest) return;
    const waits = this.asked && ["accepted", "resolved"].includes(newest.lifecycleState);
    const stage = newest.said ? "waits until you hand the phone back" : waits ? "waits for your answer" : STAGES[newest.lifecycleState] ?? "under way";
    this.now.classList.toggle("is-waiting", Boolean(newest.said || waits));
    this.now.textContent = [newest.actor ? who(newest.actor) : null, `${spaced(newest.actionType ?? "action")} ${stage}`].filter(Boolean).join(": ");
  }
}

function fromEnvelope(envelope, actor) {
  const on = envelope.target?.resolved;
  const took = envelope.timings_ms?.total;
  return act({
    id: envelope.action_id, type: envelope.action_type, about: on?.text || on?.accessibility_id || "", state: envelope.lifecycle_state,
    code: envelope.success ? null : envelope.failure_code, more: [took ? lasted(took) : null, actor ? who(actor) : null],
  });
}

const fromJournal = (row) => act({
  id: row.action_id, type: row.type, about: row.about, state: row.state, code: row.failure_code, more: [moment(row.at_ms), who(row.actor)],
});

function act({ id, type, about, state, code, more }) {
  const tone = toneOf(state, code);
  return el("li", { class: "phone-act", dataset: { action: id } },
    el("span", { class: `dot dot-${tone}` }),
    el("span", { class: "phone-act-what" }, el("b", { text: spaced(type) }), about ? ` “${about}”` : ""),
    el("span", { class: "phone-act-more", text: [code ? shortly(code) : ended(state), ...more].filter(Boolean).join(" · ") }),
    code ? el("span", { class: `phone-act-why ${tone === "warning" ? "is-calm" : ""}`, text: whatFailed(code) }) : null);
}
