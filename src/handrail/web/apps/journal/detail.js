// One action in full: pictures, what changed, how long what took, how it was checked, and all of it as JSON.

import { el } from "../../desk/element.js";
import { errorOf, problem, shortly } from "../../desk/error_words.js";
import { icon } from "../../desk/icons.js";
import { openTab, picture } from "../../desk/pictures.js";
import { ended, lasted, moment, spaced, toneOf, who } from "../words.js";

const PICTURES = { before: "Before", after: "After", screenshot: "Screenshot" };
const DOORS = { cli: "in a terminal", mcp: "over MCP", http: "over HTTP", ws: "over a socket", desk: "at the desk", flow: "in a flow", agent: "built-in agent", python: "a Python program" };
const KINDS = {
  accepted: "received", resolved: "target found", dispatched: "sent", pending_verification: "done", verified: "checked", failed: "failed",
  approval: "a person answered", by_hand: "by a person's own hand", pictured: "pictures kept",
};
const ANSWERS = { approved: "allowed", denied: "refused", expired: "no answer in time", void: "not used" };
const DELIVERED = { delivered: "yes", not_delivered: "no", unknown: "not known" };
const PHASES = ["queue", "permit", "approval", "resolve", "look", "journal", "work", "dispatch", "watch", "expect", "settle", "waiting", "verify", "diff", "other"];

export function detail(entry, { flow }) {
  const envelope = entry.envelope;
  return [
    head(entry, envelope), facts(entry, envelope), pictures(entry.pictures), changes(entry.diff), timings(envelope?.timings_ms),
    life(entry.events),
    el("div", { class: "buttons" }, el("button", { class: "btn btn-sm", on: { click: flow } }, icon("flow"), "Turn this session into a flow")),
    raw("Action (JSON)", entry.action), raw("Result (JSON)", envelope), raw("Events (JSON)", entry.events),
  ].filter(Boolean);
}

function head(entry, envelope) {
  const state = envelope?.lifecycle_state ?? "unfinished";
  const on = envelope?.target?.resolved;
  const what = on?.text || on?.accessibility_id;
  return el("header", { class: "journal-title" },
    el("h2", {}, spaced(entry.action?.type ?? envelope?.action_type ?? entry.events[0].kind), what ? ` “${what}”` : ""),
    el("span", { class: `badge badge-${toneOf(state, envelope?.failure_code)}`, text: envelope?.failure_code ? shortly(envelope.failure_code) : ended(state) }),
    envelope?.reason ? el("p", { class: "journal-reason", text: envelope.reason }) : null,
    envelope && !envelope.success ? el("div", { class: `journal-why ${toneOf(state, envelope.failure_code) === "warning" ? "is-calm" : ""}` }, problem(errorOf(envelope))) : null);
}

function facts(entry, envelope) {
  const check = envelope?.verification;
  const rows = [
    ["Who", [who(entry.actor), DOORS[entry.door] ?? entry.door].filter(Boolean).join(", ")],
    ["Phone", [entry.phone ?? envelope?.device?.model, entry.device].filter(Boolean).join(" · ")],
    ["When", entry.events[0].at_ms ? moment(entry.events[0].at_ms) : null],
    ["Reached the phone", DELIVERED[envelope?.delivery]],
    ["Checked", check && [spaced(check.mode), check.outcome, short(check.observed)].filter(Boolean).join(" · ")],
    ["Approval", envelope?.approval && [ANSWERS[envelope.approval.decision] ?? envelope.approval.decision, envelope.approval.by && `by ${envelope.approval.by}`].filter(Boolean).join(" ")],
    ["Screen", envelope?.ui_fingerprint_after && `${envelope.ui_fingerprint_before ?? "?"} → ${envelope.ui_fingerprint_after}`],
  ];
  return el("dl", { class: "facts" }, rows.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]));
}

const short = (value) => (value === null || value === undefined ? "" : String(typeof value === "string" ? value : JSON.stringify(value)).slice(0, 120));

function pictures(found) {
  const shown = Object.entries(PICTURES).filter(([name]) => found[name]);
  if (!shown.length) return null;
  return el("div", { class: "journal-pictures" }, shown.map(([name, title]) => {
    const address = `/api/journal/blob/${found[name]}`;
    const shot = picture(address, { alt: `${title} the action` });
    const figure = el("figure", {}, el("button", { type: "button", class: "picture-button", title: "Open in a new tab", on: { click: () => openTab(address) } }, shot),
      el("figcaption", { text: title }));
    shot.addEventListener("error", () => figure.replaceChildren(el("p", { class: "quiet", text: `${title}: no longer kept.` })));
    return figure;
  }));
}

function changes(diff) {
  if (!diff) return null;
  const lines = diff.split("\n").map((line) => el("span", { class: tone(line), text: `${line}\n` }));
  return el("section", {}, el("h3", { text: "What changed" }), el("pre", { class: "code journal-diff", tabindex: "0", "aria-label": "What changed" }, lines));
}

function tone(line) {
  return { "+": "is-new", "-": "is-gone", "~": "is-other" }[line.trim()[0]] ?? "";
}

function timings(found) {
  if (!found?.total) return null;
  const parts = PHASES.filter((name) => found[name] >= 0.05);
  const longest = Math.max(...parts.map((name) => found[name]), 1);
  return el("section", {}, el("h3", { text: `Timings · ${lasted(found.total)}` }),
    el("div", { class: "journal-times" }, parts.flatMap((name) => [
      el("span", { text: name }),
      el("span", { class: "journal-bar" }, el("span", { style: { width: `${Math.max(1, (100 * found[name]) / longest)}%` } })),
      el("span", { class: "mono", text: found[name] < 10 ? `${found[name].toFixed(1)} ms` : lasted(found[name]) }),
    ])));
}

function life(events) {
  return el("section", {}, el("h3", { text: "History" }), el("ol", { class: "journal-life" }, events.map((one) =>
    el("li", {}, el("b", { text: KINDS[one.kind] ?? spaced(one.kind) }), el("span", { class: "quiet", text: ` ${moment(one.at_ms)} · record ${one.seq}` }),
      el("code", { text: one.hash.slice(0, 12), title: one.hash })))));
}

function raw(title, value) {
  if (!value) return null;
  return el("details", { class: "journal-raw" }, el("summary", { text: title }), el("pre", { class: "code", tabindex: "0", text: JSON.stringify(value, null, 2) }));
}
