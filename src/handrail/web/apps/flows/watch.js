// One run: its steps as they go, then its report.

import { el } from "../../desk/element.js";
import { errorOf, fold, problem } from "../../desk/error_words.js";
import { icon } from "../../desk/icons.js";
import { openTab } from "../../desk/pictures.js";
import { failure, loading } from "../panes.js";
import { lasted, moment, toneOf } from "../words.js";
import { comparison } from "./past.js";

const EVERY_MS = 350;
const SIGNS = { passed: "check", failed: "close", warned: "alert", skipped: "minus", stopped: "stop" };

export class Watch {
  /** `runs` are those that this one can be compared with. */
  constructor(ctx, id, over, runs = []) {
    this.runs = runs;
    this.beside = el("div");
    this.ctx = ctx;
    this.id = id;
    this.over = over;
    this.element = el("div", { class: "flows-run" }, loading());
    this.read();
  }

  async read() {
    try {
      const run = await this.ctx.api(`/api/flows/runs/${encodeURIComponent(this.id)}`);
      if (this.closed) return;
      this.show(run);
      if (run.outcome === "running" || (!run.report && this.wasRunning && (this.waited = (this.waited ?? 0) + 1) < 20)) {
        this.wasRunning = true;
        this.timer = setTimeout(() => this.read(), EVERY_MS);
      } else if (this.wasRunning) {
        this.over();
      }
    } catch (error) {
      if (!this.closed) this.element.replaceChildren(failure(error, () => this.read()));
    }
  }

  show(run) {
    const isRunning = run.outcome === "running";
    this.element.dataset.outcome = run.outcome;
    this.element.replaceChildren(
      el("header", { class: "flows-head" }, el("h2", { text: run.name }), el("span", { class: `badge badge-${toneOf(run.outcome)}`, text: run.outcome })),
      el("p", { class: "quiet", text: [Object.values(run.devices).join(", "), moment(run.started), run.duration_ms ? lasted(run.duration_ms) : null].filter(Boolean).join(" · ") }),
      el("progress", { class: "flows-progress", max: Math.max(1, run.total), value: run.done, "aria-label": `${run.done} of ${run.total} steps` }),
      el("div", { class: "buttons" },
        isRunning ? el("button", { class: "btn btn-danger", on: { click: () => this.stop() } }, icon("stop"), "Stop") : null,
        isRunning ? null : this.compare(run),
        run.report ? el("button", { class: "btn btn-primary", on: { click: () => openTab(run.report) } }, icon("external"), "Report") : null),
      ...(run.error ? [el("div", { class: "flows-error problem", role: "alert" }, el("strong", { text: "The run ended before its last step." }), fold({ message: run.error }))] : []),
      el("ol", { class: "flows-steps", "aria-label": "Steps" }, run.steps.map((one) => this.step(one))), this.beside);
  }

  /** With the run of the same file before it. */
  compare(run) {
    const before = this.runs.find((one) => one.file === run.file && one.id !== run.id && one.started < run.started);
    if (!before) return null;
    const show = async () => this.beside.replaceChildren(comparison(await this.ctx.api(`/api/flows/runs/${encodeURIComponent(before.id)}`), run));
    return el("button", { class: "btn", text: "Compare with the run before", on: { click: () => show().catch((error) => this.ctx.fail(error)) } });
  }

  step(one) {
    const sign = one.outcome === "running" ? el("span", { class: "pane-spinner" }) : one.outcome === "waiting" ? el("span", { class: "flows-waiting" }) : icon(SIGNS[one.outcome] ?? "minus");
    return el("li", { class: `flows-step is-${one.outcome}`, style: { "--depth": String(one.path.length - 1) }, dataset: { path: one.path.join("."), outcome: one.outcome } },
      sign,
      el("span", { class: "flows-label" }, [one.label ?? "", one.typed ? `“${one.typed}”` : ""].filter(Boolean).join(" "), one.tries > 1 ? el("span", { class: "quiet", text: ` ${one.tries} tries` }) : null,
        one.error ? el("div", { class: "flows-error" }, problem(errorOf(one))) : null),
      el("span", { class: "row-time", text: one.duration_ms ? lasted(one.duration_ms) : "" }),
      one.action_id ? el("button", { class: "btn btn-sm btn-ghost", text: "In the journal", "aria-label": `${one.label}: show it in the journal`, on: { click: () => this.ctx.open("journal", { entry: one.action_id }) } }) : el("span"));
  }

  async stop() {
    try {
      await this.ctx.api(`/api/flows/runs/${encodeURIComponent(this.id)}/stop`, { method: "POST", body: {} });
    } catch (error) {
      this.ctx.fail(error, "The run could not be stopped.");
    }
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
  }
}
