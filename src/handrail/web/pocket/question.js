// One question on a small screen: the picture with its mark, the sentence, who asks and why, and three buttons.

import { answerField } from "../desk/answer_field.js";
import { whatToDo } from "../desk/error_words.js";
import { el } from "../desk/element.js";
import { icon } from "../desk/icons.js";
import { picture } from "../desk/pictures.js";
import { countdown } from "../apps/words.js";

const CALM = 600; // ms before Approve takes a touch: nobody approves what just appeared under the finger
const SHORT = 30_000; // ms: time is running out
// What a person can type in. A payment or a fingerprint is done on the phone itself: there the answer is yes or no.
const TYPED = { "2fa": "The code", sms: "The code in the message", oauth: "The code or the address", location: "The place", contacts: "The contact", calendar: "The date", files: "The name of the file", unknown: "What it asks for" };

/** `answer({approve, data?})` and `stop()` give promises; a refusal is shown and can be tried again. */
export function question(one, { answer, stop }) {
  const failed = el("p", { class: "pocket-failed", role: "alert", hidden: true });
  const field = one.wants_data ? answerField(TYPED[one.capability], one.is_secret, { enterkeyhint: "done" }) : null;
  const buttons = [];
  const run = (work) => async () => {
    for (const button of buttons) button.disabled = true;
    try {
      await work();
    } catch (error) {
      failed.hidden = false;
      failed.textContent = whatToDo(error.code);
      for (const button of buttons) button.disabled = false;
    }
  };
  const yes = () => answer({ approve: true, ...field?.read() });
  const approve = el("button", { type: "button", class: "btn btn-lg btn-primary pocket-yes", disabled: true, on: { click: run(yes) } }, icon("check"), "Approve");
  const reject = el("button", { type: "button", class: "btn btn-lg btn-danger", on: { click: run(() => answer({ approve: false })) } }, icon("close"), "Reject");
  const halt = el("button", { type: "button", class: "btn btn-ghost pocket-stop", on: { click: run(stop) } }, icon("stop"), "Stop all agents");
  buttons.push(approve, reject, halt);
  const left = el("span", { class: "pocket-left" });
  const element = el("article", { class: "pocket-question", dataset: { id: one.id }, "aria-label": one.instruction },
    el("div", { class: "pocket-strip" }, icon("shield"), el("span", { text: who(one) }), left),
    shot(one),
    el("div", { class: "pocket-words" },
      el("h1", { text: one.instruction }),
      one.reason ? el("blockquote", { text: one.reason }) : null,
      facts(one), field?.element, failed),
    el("div", { class: "pocket-buttons" }, reject, approve, halt));
  element.update = () => {
    left.textContent = `${countdown(one.expires)} left`;
    left.classList.toggle("is-short", new Date(one.expires) - Date.now() < SHORT);
  };
  element.update();
  setTimeout(() => { approve.disabled = false; }, CALM);
  return element;
}

const who = (one) => (one.asked_by ? `${one.asked_by} asks` : "An agent asks");

function facts(one) {
  const rows = [["Why you are asked", one.why], ["Phone", one.phone ?? one.device]];
  return el("dl", { class: "pocket-facts" }, rows.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]));
}

function shot(one) {
  if (!one.picture) return null;
  const image = picture(one.picture, { alt: `The screen, with what would be touched marked: ${one.label ?? one.instruction}` });
  const figure = el("figure", { class: "pocket-shot" }, image);
  image.addEventListener("error", () => figure.remove());
  return figure;
}

/** What became of one, in words; `one` may be unknown. */
export function ended(one) {
  const by = one?.answered_by ? ` by ${one.answered_by}` : "";
  const told = {
    approved: { tone: "success", icon: "check", title: "Approved", text: `It was allowed${by}, once.` },
    denied: { tone: "danger", icon: "close", title: "Rejected", text: `It was refused${by}. The agent has been notified.` },
    expired: { tone: "warning", icon: "clock", title: "Too late", text: "No one answered in time, so it was not done." },
    withdrawn: { tone: "warning", icon: "info", title: "No longer asked", text: "The agent has left, or was stopped. Nothing was done." },
    void: { tone: "warning", icon: "info", title: "Approved, and not used", text: "The screen had changed meanwhile, so it was not done." },
  };
  return told[one?.state] ?? { tone: "calm", icon: "bell", title: "A notification arrived", text: "It came with no question: it was a test, or the question is long gone." };
}
