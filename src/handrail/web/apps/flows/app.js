// Flows: recorded work. Which there are, running one on a phone, its steps as they go, its report.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { empty, failure, loading } from "../panes.js";
import { ago, count, lasted, moment, toneOf } from "../words.js";
import { legend } from "../legend.js";
import { history } from "./past.js";
import { setup } from "./setup.js";
import { Watch } from "./watch.js";

const OUTCOMES = { passed: "passed", failed: "failed", stopped: "was stopped", running: "is running" };

export default function mount(root, ctx) {
  const app = new Flows(root, ctx);
  app.load();
  app.open(ctx.options ?? {});
  return app;
}

class Flows {
  constructor(root, ctx) {
    this.ctx = ctx;
    this.list = el("div", { class: "split-list", "aria-label": "Flows and runs" }, loading());
    this.detail = el("div", { class: "split-detail" });
    this.split = el("div", { class: "split" }, this.list, this.detail);
    const again = el("button", { class: "btn btn-sm", on: { click: () => this.load() } }, icon("refresh"), "Refresh");
    this.where = el("span", { class: "quiet mono flows-where" });
    root.replaceChildren(el("div", { class: "app-bar" }, this.where, el("span", { class: "grow" }), again), legend(), this.split);
    this.nothing();
  }

  open({ run, file }) {
    if (run) this.watch(run);
    if (file) this.choose(file);
  }

  /** It may have been saved just now. */
  async choose(file) {
    await this.load();
    this.list.querySelector(`.row[data-file="${CSS.escape(file)}"]`)?.click();
  }

  nothing() {
    this.split.classList.remove("has-detail");
    this.detail.replaceChildren(empty("flow", "Choose a flow", "See its steps, fill in its variables, pick a phone and run it. Or look at an earlier run."));
  }

  async load() {
    try {
      const [{ folders, flows }, { runs }, { devices }] = await Promise.all(
        ["/api/flows", "/api/flows/runs", "/api/devices"].map((path) => this.ctx.api(path)));
      if (this.closed) return;
      this.devices = devices;
      this.all = runs;
      this.last = new Map(runs.toReversed().map((one) => [one.file, one])); // the newest of each file
      this.where.textContent = folders.join(" · ");
      this.list.replaceChildren(...this.flows(flows, folders), ...this.runs(runs));
    } catch (error) {
      if (!this.closed) this.list.replaceChildren(failure(error, () => this.load()));
    }
  }

  flows(flows, folders) {
    if (!flows.length) {
      return [empty("flow", "No flows yet", folders.length ? `Put .yaml files into ${folders[0]}, or turn something that was done into one: Journal → Turn this session into a flow.`
        : "Start the desk with --flows FOLDER.")];
    }
    return [el("h3", { class: "flows-part", text: "Flows" }), ...flows.map((one) => this.flow(one))];
  }

  flow(one) {
    const bad = one.problems.filter((problem) => problem.level === "error").length;
    const notes = one.problems.length;
    const file = one.broken ? `can't run: ${count(bad, "error")}` : notes ? count(notes, "warning") : null;
    const last = this.last.get(one.file);
    const lately = last ? `last run ${OUTCOMES[last.outcome] ?? last.outcome} ${ago(last.started)}` : "never run";
    return el("button", { class: "row", dataset: { file: one.file }, on: { click: (event) => { this.mark(event); this.setup(one); } } },
      el("span", { class: `dot ${last ? `dot-${toneOf(last.outcome)}` : "dot-none"}`, title: lately }),
      el("span", { class: "row-title", text: one.name }),
      el("span", { class: "row-time", text: count(one.steps, "step") }),
      el("span", { class: "row-more" }, file ? el("span", { class: one.broken ? "flows-bad" : "flows-note", text: `${file} · ` }) : null,
        [lately, one.file, ...one.tags.map((tag) => `#${tag}`)].join(" · ")));
  }

  runs(runs) {
    if (!runs.length) return [];
    return [el("h3", { class: "flows-part", text: "Runs" }), ...runs.map((one) => el("button", { class: "row", dataset: { run: one.id }, on: { click: (event) => { this.mark(event); this.watch(one.id); } } },
      el("span", { class: `dot dot-${toneOf(one.outcome)}`, title: OUTCOMES[one.outcome] ?? one.outcome }),
      el("span", { class: "row-title", text: one.name }),
      el("span", { class: "row-time", text: moment(one.started) }),
      el("span", { class: "row-more", text: [OUTCOMES[one.outcome] ?? one.outcome, `${one.done} of ${count(one.total, "step")}`, one.duration_ms ? lasted(one.duration_ms) : null].filter(Boolean).join(" · ") })))];
  }

  mark(event) {
    for (const one of this.list.querySelectorAll(".row")) one.setAttribute("aria-current", String(one === event.currentTarget));
  }

  setup(flow) {
    this.leave();
    this.split.classList.add("has-detail");
    const usable = this.devices.filter((one) => one.usable !== false && (one.state ?? "device") === "device");
    const edit = el("button", { class: "btn btn-sm flows-edit", on: { click: () => this.ctx.open("studio", { file: flow.file }) } }, icon("edit"), "Edit in Studio");
    const past = history(this.all.filter((one) => one.file === flow.file), (id) => this.watch(id));
    this.detail.replaceChildren(this.back(), ...setup(flow, usable, (chosen) => this.run(flow, chosen)), ...[edit, past].filter(Boolean));
  }

  async run(flow, chosen) {
    try {
      const run = await this.ctx.api("/api/flows/run", { method: "POST", body: { file: flow.file, ...chosen } });
      this.watch(run.id);
    } catch (error) {
      this.ctx.fail(error, "The flow could not be started.");
    }
  }

  watch(id) {
    this.leave();
    this.split.classList.add("has-detail");
    this.watching = new Watch(this.ctx, id, () => this.load(), this.all ?? []);
    this.detail.replaceChildren(this.back(), this.watching.element);
  }

  back() {
    return el("button", { class: "btn btn-sm split-back", text: "← All flows", on: { click: () => { this.leave(); this.nothing(); } } });
  }

  leave() {
    this.watching?.close();
    this.watching = null;
  }

  close() {
    this.closed = true;
    this.leave();
  }
}
