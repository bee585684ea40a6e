// One question that waits: what, why, on which picture, until when; and the answer with what it may bring.

import { el } from "../../desk/element.js";
import { allowance, allowed } from "../../desk/approvals.js";
import { icon } from "../../desk/icons.js";
import { openTab, picture } from "../../desk/pictures.js";
import { countdown, spaced } from "../words.js";

/** `answer({approve, remember?, minutes?, times?, data?, note?})` is called once. */
export function request(one, answer) {
  const isAuth = one.kind === "human_auth";
  const data = one.wants_data ? answerField("What the agent needs; it can type it", one.is_secret, { placeholder: "A code, a text, a choice" }) : null;
  const remember = ["session", "always"].includes(one.may_remember) ? rememberBox(one.may_remember) : null;
  const ticking = (one.volatile ?? []).map((text) => el("label", { class: "question-remember" }, el("input", { type: "checkbox" }), `“${text}” may change meanwhile`));
  const often = one.may_allow ? allowance() : null;
  const note = el("input", { class: "input", "aria-label": "Note to the agent", placeholder: "Message to the agent (optional)", maxlength: "500" });
  const buttons = el("div", { class: "buttons" });
  const send = (approve) => {
    for (const button of buttons.children) button.disabled = true;
    answer({
      approve,
      ...(remember?.querySelector("input").checked ? { remember: one.may_remember } : approve && often ? allowed(often.value) : {}),
      ...(approve && data ? data.read() : {}),
      ...(approve && ticking.length ? { mayChange: ticking.flatMap((box, at) => (box.firstElementChild.checked ? [at + 1] : [])) } : {}),
      ...(note.value ? { note: note.value } : {}),
    });
  };
  buttons.append(
    el("button", { class: "btn btn-primary", on: { click: () => send(true) } }, icon("check"), "Approve"),
    el("button", { class: "btn btn-danger", on: { click: () => send(false) } }, icon("close"), "Reject"));
  return el("article", { class: "card question", dataset: { id: one.id }, "aria-label": one.instruction },
    el("div", { class: "question-words" },
      el("header", {}, el("span", { class: "badge badge-warning", text: isAuth ? one.capability.replace("unknown", "question") : spaced(one.action.type) }), clock(one.expires)),
      el("h2", { text: one.action.script ? "Allow this script?" : one.instruction }),
      one.action.script ? el("pre", { class: "question-script", text: visible(one.action.script) }) : null,
      one.reason ? el("blockquote", { class: "question-reason", text: one.reason }) : null,
      facts(one), data?.element, ...ticking, remember,
      often && el("label", { class: "field" }, el("span", { text: `How often may it ${one.may_allow.replaceAll("_", " ")}?` }), often), note, buttons),
    shot(one));
}

/** Control characters, bidi marks and the like are written out: a script is what it looks like. */
function visible(script) {
  return script.replace(/[^\P{C}\n\t]/gu, (char) => `\\u{${char.codePointAt(0).toString(16)}}`);
}

function clock(expires) {
  const shown = el("span", { class: "question-clock", dataset: { expires }, title: "Without an answer by then it counts as no" });
  shown.update = () => {
    shown.textContent = `${countdown(expires)} left`;
    shown.classList.toggle("is-short", new Date(expires) - Date.now() < 30_000);
  };
  shown.update();
  return shown;
}

function facts(one) {
  const rows = [["Asked by", one.asked_by], ["Phone", one.phone ?? one.device], ["Why you are asked", one.why]];
  return el("dl", { class: "facts" }, rows.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]));
}

function rememberBox(span) {
  return el("label", { class: "question-remember" }, el("input", { type: "checkbox" }),
    span === "always" ? "Always answer this way" : "Answer this way until the session ends");
}

function shot(one) {
  if (!one.picture) return null;
  return el("button", { type: "button", class: "question-picture picture-button", title: "Open in a new tab", on: { click: () => openTab(one.picture) } },
    picture(one.picture, { alt: `The screen, with what would be touched marked: ${one.label ?? one.instruction}` }));
}
