// One run of the text in the editor: how far it is, and why it failed, with the way to heal it.

import { el } from "../../desk/element.js";
import { errorOf, problem } from "../../desk/error_words.js";
import { icon } from "../../desk/icons.js";
import { openTab, picture } from "../../desk/pictures.js";
import { lasted } from "../words.js";

const EVERY_MS = 250;
const PORTRAIT = /^[+-]\s+(element|package|class|role|id|text|description|path|bounds|screen|neighbours): /; // not a step's own words
const STATE = { passed: "passed", failed: "failed", stopped: "stopped", running: "running", warned: "warned", skipped: "skipped" };

export class Result {
  /** `tell(states)` marks the editor's steps, `heal(text)` takes a healed text, `over(run)` when it has ended. */
  constructor(ctx, { tell, heal, over, goTo }) {
    Object.assign(this, { ctx, tell, heal, over, goTo });
    this.element = el("section", { class: "studio-result", "aria-label": "Run", "aria-live": "polite" });
    this.nothing();
  }

  nothing() {
    this.element.replaceChildren(el("p", { class: "quiet", text: "Run the flow, and every step is followed here. If one fails, this says why." }));
  }

  async start(body) {
    clearTimeout(this.timer);
    const run = await this.ctx.api("/api/flows/run", { method: "POST", body });
    this.id = run.id;
    this.waited = 0;
    this.show(run);
    this.timer = setTimeout(() => this.read(), EVERY_MS);
  }

  get isRunning() { return this.run?.outcome === "running"; }

  async read() {
    const id = this.id;
    try {
      const run = await this.ctx.api(`/api/flows/runs/${encodeURIComponent(id)}`);
      if (id !== this.id || this.closed) return;
      const wasRunning = this.isRunning;
      this.show(run);
      if (wasRunning && !this.isRunning) this.over(run);
      if (this.isRunning || (!run.report && (this.waited += 1) < 40)) this.timer = setTimeout(() => this.read(), EVERY_MS);
    } catch (error) {
      if (!this.closed) this.ctx.fail(error, "The run can't be followed.");
    }
  }

  post(what, body = {}) {
    return this.ctx.api(`/api/flows/runs/${encodeURIComponent(this.id)}/${what}`, { method: "POST", body }).catch((error) => this.ctx.fail(error));
  }

  show(run) {
    this.run = run;
    const outer = run.steps.filter((one) => one.path.length === 1);
    this.tell(outer.map((one, at) => (run.pausedAt === at ? "paused" : one.outcome === "waiting" ? "" : STATE[one.outcome])));
    const told = JSON.stringify([run.outcome, run.report, run.pausedAt, run.steps.map((one) => [one.outcome, one.label])]);
    if (told === this.told) return;
    this.told = told;
    const failed = [...run.steps].reverse().find((one) => one.outcome === "failed");
    const button = (look, sign, text, click) => el("button", { type: "button", class: `btn btn-sm ${look}`, on: { click } }, icon(sign), text);
    this.element.replaceChildren(...[
      el("div", { class: "studio-verdict", dataset: { outcome: run.outcome, run: run.id } }, this.isRunning ? el("span", { class: "pane-spinner" }) : icon(run.outcome === "passed" ? "check" : "alert"),
        el("strong", { text: run.pausedAt !== null ? `Paused before step ${run.pausedAt + 1}` : this.isRunning ? `Running step ${Math.min(run.done + 1, run.total)} of ${run.total}` : run.outcome === "passed" ? `Passed in ${lasted(run.duration_ms)}` : run.outcome === "stopped" ? "Stopped" : failed ? `Step ${failed.path[0] + 1} failed` : "It could not begin" }),
        el("span", { class: "grow" }),
        run.pausedAt !== null ? button("btn-primary", "play", "Go on", () => this.post("continue")) : null,
        run.pausedAt !== null ? button("", "play", "One step", () => this.post("continue", { step: true })) : null,
        this.isRunning ? button("btn-danger", "stop", "Stop the run", () => this.post("stop")) : null,
        run.report ? button("", "external", "Report", () => openTab(run.report)) : null),
      failed ? this.why(failed, run) : run.error ? el("p", { class: "studio-why", role: "alert", text: run.error }) : null,
      el("ol", { class: "studio-steps", "aria-label": "Steps of the run" }, run.steps.map((one) => this.step(one))),
    ].filter(Boolean));
    if (failed) this.pictures(run);
  }

  why(step, run) {
    const shots = this.shots = el("div", { class: "studio-shots" });
    return el("div", { class: "studio-why", role: "alert" },
      el("p", { class: "studio-what" }, el("strong", { text: step.label }), el("span", { text: step.error ?? "" })),
      problem(errorOf(step)), run.healed ? this.healing(run) : null, shots,
      step.diff ? el("details", {}, el("summary", { text: "What changed on the screen" }), el("pre", { class: "code", text: step.diff })) : null);
  }

  /** The successor of the element that is gone, as the edit of the text that it means. */
  healing(run) {
    const lines = run.proposals.join("\n").split("\n").filter((line) => /^[+-](?![+-])/.test(line) && !PORTRAIT.test(line));
    return el("div", { class: "studio-heal" }, el("p", { text: "The element seems to have another name now. This edit would follow it:" }),
      el("pre", { class: "code studio-diff", "aria-label": "The edit" }, lines.map((line) => el("div", { class: line.startsWith("+") ? "is-new" : "is-old", text: line }))),
      el("button", { type: "button", class: "btn btn-sm btn-primary", on: { click: () => this.heal(run.healed) } }, icon("check"), "Heal: take this edit"));
  }

  /** What the phone showed when it failed; the inspector beside has the tree of that moment. */
  pictures(run) {
    if (!run.report) return;
    const shot = picture(`/api/flows/runs/${encodeURIComponent(run.id)}/failure.jpg`, { alt: "The phone when it failed" });
    shot.addEventListener("error", () => this.shots.replaceChildren());
    this.shots.replaceChildren(el("figure", {}, shot, el("figcaption", { text: "The phone when it failed" })));
  }

  step(one) {
    return el("li", { class: `is-${one.outcome}`, style: { "--depth": String(one.path.length - 1) }, dataset: { outcome: one.outcome } },
      el("button", { type: "button", class: "studio-step", on: { click: () => this.goTo(one.path[0]) } },
        el("span", { class: `dot dot-${{ passed: "success", failed: "error", running: "info", warned: "warning", stopped: "warning" }[one.outcome] ?? "none"}` }),
        el("span", { text: [one.label ?? "", one.typed ? `“${one.typed}”` : ""].filter(Boolean).join(" ") }), el("span", { class: "row-time", text: one.duration_ms ? lasted(one.duration_ms) : "" })));
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
  }
}
