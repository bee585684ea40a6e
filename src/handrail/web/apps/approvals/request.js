// One question that waits: what, why, on which picture, until when; and the answer with what it may bring.

import { el } from "../../desk/element.js";
import { allowance, allowed } from "../../desk/approvals.js";
import { icon } from "../../desk/icons.js";
import { openTab, picture } from "../../desk/pictures.js";
import { countdown, spaced } from "../words.js";

/** `answer({approve, remember?, minutes?, times?, data?, note?})` is called once. */
export function request(one, answer) {
  const isAuth = one.kind === "human_auth";
  const data = one.wants_data ? dataField(one) : null;
  const remember = ["session", "always"].includes(one.may_remember) ? rememberBox(one.may_remember) : null;
  const often = one.may_allow ? allowance() : null;
  const note = el("input", { class: "input", "aria-label": "Note to the agent", placeholder: "Message to the agent (optional)", maxlength: "500" });
  const buttons = el("div", { class: "buttons" });
  const send = (approve) => {
    for (const button of buttons.children) button.disabled = true;
    answer({
      approve,
      ...(remember?.querySelector("input").checked ? { remember: one.may_remember } : approve && often ? allowed(often.value) : {}),
      ...(approve && data?.querySelector("input").value ? { data: data.querySelector("input").value } : {}),
      ...(note.value ? { note: note.value } : {}),
    });
  };
  buttons.append(
    el("button", { class: "btn btn-primary", on: { click: () => send(true) } }, icon("check"), "Approve"),
    el("button", { class: "btn btn-danger", on: { click: () => send(false) } }, icon("close"), "Reject"));
  return el("article", { class: "card question", dataset: { id: one.id }, "aria-label": one.instruction },
    el("div", { class: "question-words" },
      el("header", {}, el("span", { class: "badge badge-warning", text: isAuth ? one.capability.replace("unknown", "question") : spaced(one.action.type) }), clock(one.expires)),
      el("h2", { text: one.instruction }),
      one.reason ? el("blockquote", { class: "question-reason", text: one.reason }) : null,
      facts(one), data, remember,
      often && el("label", { class: "field" }, el("span", { text: `How often may it ${one.may_allow.replaceAll("_", " ")}?` }), often), note, buttons),
    shot(one));
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

function dataField(one) {
  return el("label", { class: "field" }, el("span", { text: one.is_secret ? "What the agent needs; it can type it and not read it" : "What the agent needs; it will read it" }),
    el("input", { type: one.is_secret ? "password" : "text", autocomplete: "one-time-code", placeholder: "A code, a text, a choice" }));
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
