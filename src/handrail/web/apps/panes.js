// What an app shows in place of content: that it loads, that there is nothing, that something failed.

import { icon } from "../desk/icons.js";
import { el } from "../desk/element.js";
import { problem } from "../desk/error_words.js";

/** While the first answer is under way. */
export function loading(text = "Loading…") {
  return el("div", { class: "pane pane-loading", role: "status" },
    el("span", { class: "pane-spinner", "aria-hidden": "true" }), el("span", { text }));
}

/** Nothing there, and what would bring something. */
export function empty(name, title, hint, ...more) {
  return el("div", { class: "empty pane" }, icon(name), el("strong", { text: title }), el("p", { text: hint }), ...more);
}

/** A refusal of the server: what, what next, and our own text behind a fold. */
export function failure(error, retry) {
  return el("div", { class: "empty pane pane-failure", role: "alert" },
    icon("alert"), problem(error),
    retry ? el("button", { class: "btn btn-sm", text: "Try again", on: { click: retry } }) : null);
}

/** One line above content that is still there. */
export function notice(kind, text, ...more) {
  return el("div", { class: `notice notice-${kind}`, role: kind === "danger" ? "alert" : "status" },
    el("span", { class: "notice-text", text }), ...more);
}
