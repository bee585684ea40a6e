// The policy file as text, with what its rules mean beside it and an action to try on them before it is saved.

import { el } from "../../desk/element.js";
import { fold, problem } from "../../desk/error_words.js";
import { badge, ruleList } from "./rules.js";

const SOON_MS = 350;
const EXAMPLE = `[[rule]]
name = "payments"
label = ["Pay*", "Buy*"]
verdict = "ask"          # allow, ask or deny
why = "it costs money"
`;
const TRIED = {
  "tap a button": (label) => ({ type: "tap", target: { text: label || "OK" } }),
  "type a text": (label) => ({ type: "type_text", target: { text: label || "Name" }, text: "Ada" }),
  "start an app": (_, app) => ({ type: "start_app", package: app || "com.example" }),
  "open an address": (label) => ({ type: "open_url", url: /^\w+:/.test(label) ? label : "https://example.org" }),
  "run a shell command": (label) => ({ type: "run_shell", command: label || "id" }),
};

export function policyEditor(policy, ctx, again) {
  const text = el("textarea", { class: "input code-field", rows: "14", spellcheck: "false", "aria-label": "Rules as text", value: policy.text ?? EXAMPLE, on: { input: () => soon() } });
  const kind = el("select", { class: "input", "aria-label": "What an agent wants to do", on: { change: () => check() } }, Object.keys(TRIED).map((name) => el("option", { text: name })));
  const label = el("input", { class: "input", "aria-label": "Label of the element, or the address or command", placeholder: "label, e.g. Pay €60", on: { input: () => soon() } });
  const app = el("input", { class: "input", "aria-label": "App", placeholder: "app, e.g. com.handrail.shop", on: { input: () => soon() } });
  const decided = el("p", { class: "settings-decided", role: "status" });
  const meaning = el("div", { class: "settings-meaning", "aria-live": "polite" });
  const save = el("button", { type: "button", class: "btn btn-primary", text: "Save", on: { click: keep } });
  let timer = 0;
  const soon = () => { clearTimeout(timer); timer = setTimeout(check, SOON_MS); };
  const send = (path, more) => ctx.api(path, { method: "POST", body: { text: text.value, ...more } });

  async function check() {
    const tried = text.value;
    const answer = await send("/api/policy/check", { action: TRIED[kind.value](label.value, app.value), label: label.value, app: app.value })
      .catch((error) => ({ problem: error }));
    if (tried !== text.value) return;
    save.disabled = Boolean(answer.problem);
    meaning.replaceChildren(answer.problem ? el("div", { class: "notice notice-danger", role: "alert" }, el("div", { class: "notice-text" }, el("strong", { text: answer.problem.message }), el("p", { text: answer.problem.hint ?? "" }))) : ruleList(answer.rules));
    const verdict = answer.decides;
    decided.replaceChildren(...(verdict ? [badge(verdict.verdict), ` by ${verdict.rule}${verdict.why ? `: ${verdict.why}` : ""}`] : [""]));
  }

  async function keep() {
    save.disabled = true;
    await send("/api/policy", { before: policy.text ?? null }).then(() => { ctx.toast("Saved. The rules hold from now on.", "success"); again(); },
      (error) => { save.disabled = false; meaning.prepend(el("div", { class: "notice notice-danger", role: "alert" }, error.code === "INVALID_ACTION" ? fold(error) : problem(error))); });
  }

  check();
  return el("section", { class: "settings-editor", "aria-label": "Edit the rules" },
    el("div", {}, text, el("div", { class: "buttons" }, save, el("button", { type: "button", class: "btn", text: "Cancel", on: { click: again } }))),
    el("div", { class: "settings-beside" }, el("h3", { text: "Try it" }), el("div", { class: "settings-try" }, kind, label, app), decided, el("h3", { text: "What it says" }), meaning));
}
