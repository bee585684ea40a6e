// What may be done: the file's rules as sentences, the defaults by class, and answers that count without asking.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { fold, whatToDo } from "../../desk/error_words.js";
import { empty } from "../panes.js";
import { policyEditor } from "./rules_editor.js";

const TONES = { allow: "badge-success", ask: "badge-warning", deny: "badge-error" };
const SAID = { allow: "allowed", ask: "asks you", deny: "never" };
export const badge = (verdict) => el("span", { class: `badge ${TONES[verdict]}`, text: SAID[verdict] });

export function rules(policy, ctx, again) {
  const { file, exists, problem, changing, rules: found, knownHosts } = policy;
  const edit = el("button", { type: "button", class: "btn btn-sm", on: { click: () => where.replaceWith(policyEditor(policy, ctx, again)) } }, icon("edit"), "Edit the rules");
  const where = el("div", { class: "settings-file" }, icon("file"), el("code", { class: "quiet", text: file }), edit);
  if (problem) return [el("div", { class: "notice notice-danger", role: "alert" }, el("div", { class: "notice-text" }, el("strong", { text: "Nothing is allowed, because the file can't be used." }), fold(problem))), where];
  if (changing) return [el("p", { class: "quiet", text: "The file is being changed. Until it rests, both versions hold and the stricter one wins." }), where];
  if (!found.length) return [el("section", { class: "card settings-card" }, el("strong", { text: exists ? "The file has no rules" : "There are no rules of your own yet" }), el("p", { class: "quiet", text: "The defaults below decide everything. Add some below: you see what each means, and try it, before it counts." }), where)];
  return [ruleList(found),
  knownHosts.length ? el("p", { class: "quiet", text: `Opened without asking: ${knownHosts.join(", ")}` }) : "", where];
}

export const ruleList = (found) => el("ol", { class: "settings-rules", "aria-label": "Rules of your file" }, found.map((one) => el("li", { class: "card settings-rule" }, badge(one.verdict),
  el("div", {}, el("strong", { text: one.name }), el("p", { text: one.sentence }), one.unreachable ? el("p", { class: "settings-dead", text: `Never decides: ${one.unreachable}.` }) : null,
    el("p", { class: "quiet", text: [one.kept, counted(one)].filter(Boolean).join(" ") })))));

export function classes(found) {
  const row = (one) => el("tr", {}, el("th", { scope: "row" }, el("span", { text: sentenceCase(one.title) }), one.why ? el("small", { text: one.why }) : null),
    el("td", {}, badge(one.local)), el("td", {}, badge(one.remote)), el("td", { class: "settings-count", text: counted(one) || "–" }));
  return [el("h3", { text: "Defaults, by class" }), el("div", { class: "settings-scroll" }, el("table", { class: "settings-table" },
    el("thead", {}, el("tr", {}, ["What", "From here", "From elsewhere", "So far"].map((text) => el("th", { scope: "col", text })))), el("tbody", {}, found.map(row))))];
}

export async function remembered(ctx, heading, again) {
  const [{ permissions }, { grants }] = await Promise.all([ctx.api("/api/permissions"), ctx.api("/api/grants")]);
  const head = heading("Remembered answers", "They count without asking. Revoke one, and you are asked again.");
  if (!permissions.length && !grants.length) return [head, empty("lock", "No answer is remembered", "Tick “remember” when you answer, and the same question is not asked again.")];
  const revoke = (address) => () => ctx.api(address, { method: "DELETE" }).then(again, (error) => ctx.toast(whatToDo(error.code), "error"));
  const line = (mark, words, name, address) => el("li", { class: "card settings-rule" }, mark, el("div", {}, words),
    el("button", { type: "button", class: "btn btn-sm btn-danger", "aria-label": `Revoke ${name}`, on: { click: revoke(address) } }, icon("trash"), "Revoke"));
  return [head, el("ul", { class: "settings-rules", "aria-label": "Remembered answers" },
    grants.map((one) => line(el("span", { class: "badge badge-info", text: "for a time" }), el("p", { text: one.sentence }), one.sentence, `/api/grants?id=${encodeURIComponent(one.id)}`)),
    permissions.map(({ key, allow }) => line(badge(allow ? "allow" : "deny"), el("code", { text: key }), key, `/api/permissions?key=${encodeURIComponent(key)}`)))];
}

const sentenceCase = (text) => text.charAt(0).toUpperCase() + text.slice(1).replaceAll("`", "");

function counted({ asked, approved, denied }) {
  if (!asked) return "";
  const rest = asked - approved - denied;
  return [`Asked ${asked}×`, approved ? `${approved} yes` : "", denied ? `${denied} no` : "", rest ? `${rest} unanswered` : ""].filter(Boolean).join(", ");
}
