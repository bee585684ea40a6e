// What an app shows in place of content: that it loads, that there is nothing, that something failed.

import { icon } from "../desk/icons.js";
import { el } from "../desk/element.js";

/** While the first answer is under way. */
export function loading(text = "Loading…") {
  return el("div", { class: "pane pane-loading", role: "status" },
    el("span", { class: "pane-spinner", "aria-hidden": "true" }), el("span", { text }));
}

/** Nothing there, and what would bring something. */
export function empty(name, title, hint, ...more) {
  return el("div", { class: "empty pane" }, icon(name), el("strong", { text: title }), el("p", { text: hint }), ...more);
}

/** A refusal of the server: what, why, what next. */
export function failure(error, retry) {
  return el("div", { class: "empty pane pane-failure", role: "alert" },
    icon("alert"),
    el("strong", { text: error.message || "That did not work." }),
    error.hint ? el("p", { text: error.hint }) : null,
    error.code ? el("code", { class: "pane-code", text: error.code }) : null,
    retry ? el("button", { class: "btn btn-sm", text: "Try again", on: { click: retry } }) : null);
}

/** One line above content that is still there. */
export function notice(kind, text, ...more) {
  return el("div", { class: `notice notice-${kind}`, role: kind === "danger" ? "alert" : "status" },
    el("span", { class: "notice-text", text }), ...more);
}
