// The engine's own question, above everything else in the browser's top layer: what is about to happen, why, the
// screen with the target marked, how long there is. Escape puts it aside; it never answers.

import { answerField } from "./answer_field.js";
import { el, freshId } from "./element.js";
import { icon } from "./icons.js";

const CALM = 600; // ms before Approve takes a click: nobody approves what just appeared under the pointer
const ALLOWED = { "15/5": "For 15 minutes, at most 5 times", "60/10": "For an hour, at most 10 times", "480/20": "For 8 hours, at most 20 times" };
const SPANS = { session: "Answer this way until the session ends", always: "Always answer this way" };

export class Approvals {
  #open = null;
  #aside = new Set();

  constructor(shell) {
    this.shell = shell;
    this.pill = el("button", { type: "button", class: "approval-pill", hidden: true, on: { click: () => this.recall() } });
    setInterval(() => this.#tick(), 500);
    shell.store.watch((_, changed) => changed.fields.has("approvals") && this.update());
  }

  get isOpen() { return this.#open !== null; }

  update() {
    const { approvals } = this.shell.state;
    const first = approvals.find((one) => !this.#aside.has(one.approvalId));
    this.#mark(approvals);
    if (this.#open && this.#open.id === first?.approvalId) return;
    this.#open?.element.remove();
    this.#open = null;
    if (first) this.#show(first);
  }

  /** Everything put aside is asked again. */
  recall() {
    this.#aside.clear();
    this.update();
  }

  #mark({ length }) {
    this.pill.hidden = length === 0;
    this.pill.replaceChildren(icon("shield"), el("span", { text: `${length} ${length === 1 ? "question" : "questions"}` }));
  }

  #show(asked) {
    const [heading, text] = [freshId("approval"), freshId("approval")];
    const form = this.#form(asked);
    const element = el("dialog", { class: "modal approval", "aria-labelledby": heading, "aria-describedby": text },
      el("div", { class: "approval-strip" }, icon("shield"), el("span", { text: "Your decision is needed" }), form.left),
      el("div", { class: "approval-body" },
        asked.imageData ? el("figure", {}, el("img", { alt: "The screen, with what is about to be touched marked",
          src: `data:image/png;base64,${asked.imageData}` })) : null,
        el("div", { class: "approval-words" },
          el("h2", { id: heading, text: asked.title, tabindex: "-1", autofocus: true }),
          el("p", { id: text, class: "modal-message", text: asked.message, hidden: Boolean(appOf(asked)) }),
          facts(asked), form.data, form.remember, form.allow)),
      el("div", { class: "modal-buttons" }, form.later, el("span", { class: "spring" }), form.reject, form.approve));
    element.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.#putAside(asked.approvalId);
    });
    document.body.append(element);
    this.#open = { id: asked.approvalId, element, left: form.left, expires: Date.parse(asked.expiresAt) };
    element.showModal();
    this.#tick();
    setTimeout(() => { form.approve.disabled = false; }, CALM);
  }

  #form(asked) {
    const button = (label, look, run) => el("button", { type: "button", class: `btn ${look}`, on: { click: run } }, label);
    const box = el("input", { type: "checkbox" });
    const field = asked.wantsData ? answerField("Code or answer, which the agent can type", asked.isSecret) : null;
    const often = allowance();
    const answer = (confirmed) => this.#answer(asked, confirmed, box.checked, field, allowed(often.value));
    const approve = button("Approve", "btn-primary", () => answer(true));
    approve.disabled = true;
    const later = button("Later", "btn-ghost", () => this.#putAside(asked.approvalId));
    later.dataset.local = "";
    return {
      approve,
      reject: button("Reject", "btn-danger", () => answer(false)),
      later,
      left: el("span", { class: "approval-left" }),
      data: field?.element,
      remember: SPANS[asked.canRemember] ? el("label", { class: "check" }, box, el("span", { text: SPANS[asked.canRemember] })) : null,
      allow: asked.canAllow ? el("label", { class: "field approval-allow" }, el("span", { text: `How often may it ${asked.canAllow.replaceAll("_", " ")}?` }), often) : null,
    };
  }

  #answer({ dialogId, canRemember }, confirmed, remembered, field, often) {
    const remember = SPANS[canRemember] && remembered ? { remember: true } : confirmed ? often : {};
    const { data, ...reader } = (confirmed && field?.read()) || {};
    this.shell.send({ type: "DIALOG_FEEDBACK", dialogId, confirmed, ...remember, ...(data ? { data: { value: data }, ...reader } : {}) });
  }

  #putAside(id) {
    this.#aside.add(id);
    this.update();
    this.onAside();
  }

  /** An agent's dialog may be shown again. */
  onAside = () => {};

  #tick() {
    if (!this.#open) return;
    const seconds = Math.max(0, Math.round((this.#open.expires - Date.now()) / 1000));
    this.#open.left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
  }
}

/** How long and how often the like of it is allowed too; only this once unless somebody chooses. */
export function allowance() {
  const options = [["", "Only this once"], ...Object.entries(ALLOWED)];
  return el("select", { "aria-label": "Allow for a time" }, options.map(([value, text]) => el("option", { value, text })));
}

/** What goes with the answer. */
export function allowed(chosen) {
  const [minutes, times] = chosen.split("/").map(Number);
  return chosen ? { minutes, times } : {};
}

/** Where the title says what would be touched, the rest of the question is the app. */
const appOf = ({ title, message }) => (title.includes("“") ? /' in ([\w.:/-]+)\?$/.exec(message)?.[1] : null);

function facts(asked) {
  const { reason, why, device, phone, askedBy } = asked;
  const rows = [["In the app", appOf(asked)], ["The agent says", reason], ["Why you are asked", why], ["Phone", phone ?? device], ["Asked by", askedBy]];
  const told = rows.filter(([, value]) => value);
  return el("dl", { class: "facts" }, told.map(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]).flat());
}
