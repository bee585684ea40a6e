// One flow before it runs: its steps, what is wrong with its file, its variables and its phones.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { count } from "../words.js";

/** `run({device | devices, env})` when the person says so. */
export function setup(flow, devices, run) {
  const names = flow.devices.length > 1 ? flow.devices : ["device"];
  const phones = names.map((name, at) => phone(name, names.length > 1 ? name : "Phone", devices, at));
  const variables = flow.variables.map(variable);
  const start = el("button", { class: "btn btn-primary", type: "submit", disabled: flow.broken || !devices.length }, icon("play"), "Run");
  const form = el("form", { class: "flows-form", on: { submit: (event) => { event.preventDefault(); run(chosen(form, names, flow)); } } },
    phones, variables, el("div", { class: "buttons" }, start, devices.length ? null : el("span", { class: "quiet", text: "Connect a phone first." })));
  return [
    el("header", {}, el("h2", { text: flow.name }), el("p", { class: "quiet", text: [flow.file, flow.app, count(flow.steps, "step")].filter(Boolean).join(" · ") })),
    problems(flow.problems), form, preview(flow.preview ?? []),
  ].filter(Boolean);
}

function phone(name, label, devices, at) {
  return el("label", { class: "field" }, el("span", { text: label }),
    el("select", { name: `phone:${name}`, required: true }, devices.map((one, index) =>
      el("option", { value: one.serial, text: one.name ?? one.serial, title: one.serial, ...(index === at ? { selected: true } : {}) }))));
}

function variable({ name, value }) {
  return el("label", { class: "field" }, el("span", { class: "mono", text: name }),
    el("input", { name: `env:${name}`, value: value ?? "", placeholder: value === null ? "required" : "empty", required: value === null }));
}

function chosen(form, names, flow) {
  const given = new FormData(form);
  const phones = Object.fromEntries(names.map((name) => [name, given.get(`phone:${name}`)]));
  const env = {};
  for (const { name, value } of flow.variables) {
    const text = given.get(`env:${name}`);
    if (text !== (value ?? "")) env[name] = text;
  }
  return names.length > 1 ? { devices: phones, env } : { device: phones.device, env };
}

/** What a run would do, step by step. */
function preview(steps) {
  if (!steps.length) return null;
  return el("section", { class: "flows-preview" }, el("h3", { text: "What it does" }),
    el("ol", { "aria-label": "Steps of this flow" }, steps.map(({ label, depth, part }) =>
      el("li", { class: part ? "flows-part-name" : "", style: { "--depth": String(depth) } }, el("span", { text: part ? `${label}:` : label.replace(/^\w+/, (kind) => kind.replaceAll("_", " ")) })))));
}

function problems(found) {
  if (!found.length) return null;
  const badge = { error: "badge-error", warning: "badge-warning", hint: "badge-info" };
  return el("ul", { class: "flows-problems" }, found.map((one) => el("li", {},
    el("span", { class: `badge ${badge[one.level]}`, text: one.level }),
    el("div", {}, el("span", { text: [one.path, one.message].filter(Boolean).join(": ") }), el("span", { class: "quiet", text: ` line ${one.line}` }),
      one.suggestion ? el("p", { class: "quiet", text: one.suggestion }) : null))));
}
