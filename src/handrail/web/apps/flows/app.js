// Flows: recorded work. Which there are, running one on a phone, its steps as they go, its report.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { empty, failure, loading } from "../panes.js";
import { lasted, moment, toneOf } from "../words.js";
import { setup } from "./setup.js";
import { Watch } from "./watch.js";

export default function mount(root, ctx) {
  const app = new Flows(root, ctx);
  app.load();
  return app;
}

class Flows {
  constructor(root, ctx) {
    this.ctx = ctx;
    this.list = el("div", { class: "split-list", "aria-label": "Flows and runs" }, loading());
    this.detail = el("div", { class: "split-detail" });
    this.split = el("div", { class: "split" }, this.list, this.detail);
    const again = el("button", { class: "btn btn-sm", on: { click: () => this.load() } }, icon("refresh"), "Look again");
    this.where = el("span", { class: "quiet mono flows-where" });
    root.replaceChildren(el("div", { class: "app-bar" }, this.where, el("span", { class: "grow" }), again), this.split);
    this.nothing();
  }

  open({ run }) {
    if (run) this.watch(run);
  }

  nothing() {
    this.split.classList.remove("has-detail");
    this.detail.replaceChildren(empty("flow", "Choose a flow", "See what is wrong with it, give its variables, pick a phone and run it; or look at an earlier run."));
  }

  async load() {
    try {
      const [{ folders, flows }, { runs }, { devices }] = await Promise.all(
        ["/api/flows", "/api/flows/runs", "/api/devices"].map((path) => this.ctx.api(path)));
      if (this.closed) return;
      this.devices = devices;
      this.where.textContent = folders.join(" · ");
      this.list.replaceChildren(...this.flows(flows, folders), ...this.runs(runs));
    } catch (error) {
      if (!this.closed) this.list.replaceChildren(failure(error, () => this.load()));
    }
  }

  flows(flows, folders) {
    if (!flows.length) {
      return [empty("flow", "No flow is here", folders.length ? `Put .yaml files into ${folders[0]}, or make one of what was done: Journal → This session as a flow.`
        : "Start the desk with --flows FOLDER.")];
    }
    return [el("h3", { class: "flows-part", text: "Flows" }), ...flows.map((one) => this.flow(one))];
  }

  flow(one) {
    const bad = one.problems.filter((problem) => problem.level === "error").length;
    const state = one.broken ? ["error", `${bad} error${bad === 1 ? "" : "s"}`] : one.problems.length ? ["warning", `${one.problems.length} to look at`] : ["success", "clean"];
    return el("button", { class: "row", dataset: { file: one.file }, on: { click: (event) => { this.mark(event); this.setup(one); } } },
      el("span", { class: `dot dot-${state[0]}`, title: state[1] }),
      el("span", { class: "row-title", text: one.name }),
      el("span", { class: "row-time", text: `${one.steps} steps` }),
      el("span", { class: "row-more", text: [one.file, state[1], ...one.tags.map((tag) => `#${tag}`)].join(" · ") }));
  }

  runs(runs) {
    if (!runs.length) return [];
    return [el("h3", { class: "flows-part", text: "Runs" }), ...runs.map((one) => el("button", { class: "row", dataset: { run: one.id }, on: { click: (event) => { this.mark(event); this.watch(one.id); } } },
      el("span", { class: `dot dot-${toneOf(one.outcome)}`, title: one.outcome }),
      el("span", { class: "row-title", text: one.name }),
      el("span", { class: "row-time", text: moment(one.started) }),
      el("span", { class: "row-more", text: [one.outcome, `${one.done} of ${one.total}`, one.duration_ms ? lasted(one.duration_ms) : null].filter(Boolean).join(" · ") })))];
  }

  mark(event) {
    for (const one of this.list.querySelectorAll(".row")) one.setAttribute("aria-current", String(one === event.currentTarget));
  }

  setup(flow) {
    this.leave();
    this.split.classList.add("has-detail");
    const usable = this.devices.filter((one) => one.usable !== false);
    this.detail.replaceChildren(this.back(), ...setup(flow, usable, (chosen) => this.run(flow, chosen)));
  }

  async run(flow, chosen) {
    try {
      const run = await this.ctx.api("/api/flows/run", { method: "POST", body: { file: flow.file, ...chosen } });
      this.watch(run.id);
    } catch (error) {
      this.ctx.toast(error.hint ? `${error.message} ${error.hint}` : error.message, "error");
    }
  }

  watch(id) {
    this.leave();
    this.split.classList.add("has-detail");
    this.watching = new Watch(this.ctx, id, () => this.load());
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
