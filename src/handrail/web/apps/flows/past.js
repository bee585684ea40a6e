// A flow's last runs: how each ended, how often the outcome changed, and two of them beside one another.

import { el } from "../../desk/element.js";
import { lasted, moment, toneOf } from "../words.js";

const SHOWN = 20;
const ENDED = new Set(["passed", "failed", "stopped"]);

/** `runs` of one flow, newest first. */
export function history(runs, open) {
  const last = runs.filter((one) => ENDED.has(one.outcome)).slice(0, SHOWN);
  if (!last.length) return null;
  const failed = last.filter((one) => one.outcome === "failed").length;
  const turns = last.slice(1).filter((one, at) => one.outcome !== last[at].outcome).length;
  const flaky = last.length > 1 ? Math.round((100 * turns) / (last.length - 1)) : 0;
  return el("section", { class: "flows-past", "aria-label": "Last runs" }, el("h3", { text: "Last runs" }),
    el("div", { class: "flows-dots" }, last.toReversed().map((one) => el("button", { type: "button", class: `flows-dot dot-${toneOf(one.outcome)}`, "aria-label": `${one.outcome}, ${moment(one.started)}`, title: `${one.outcome} · ${moment(one.started)} · ${lasted(one.duration_ms)}`, on: { click: () => open(one.id) } }))),
    el("p", { class: "quiet", text: `${last.length - failed} of ${last.length} did not fail. ${flaky ? `The outcome changed in ${flaky} % of them: that is how flaky it is.` : "The outcome did not change."}` }));
}

/** What was different between two runs of one flow, step by step. */
export function comparison(before, now) {
  const rows = now.steps.map((step, at) => [before.steps.find((one) => one.path.join() === step.path.join()) ?? before.steps[at], step]);
  const cell = (one) => el("td", {}, one ? el("span", { class: `dot dot-${toneOf(one.outcome)}`, title: one.outcome }) : "–", one ? ` ${one.outcome}${one.duration_ms ? ` · ${lasted(one.duration_ms)}` : ""}` : "");
  return el("div", { class: "flows-compare" }, el("table", {},
    el("caption", { text: `Run of ${moment(before.started)} beside run of ${moment(now.started)}` }),
    el("thead", {}, el("tr", {}, ["Step", "Before", "Now"].map((text) => el("th", { scope: "col", text })))),
    el("tbody", {}, rows.map(([old, step]) => el("tr", { class: old?.outcome === step.outcome ? "" : "is-changed" }, el("th", { scope: "row", text: step.label ?? "" }), cell(old), cell(step))))));
}
