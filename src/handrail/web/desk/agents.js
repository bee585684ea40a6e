// What agents are doing, and the button that stops them.

import { el } from "./element.js";
import { whatFailed } from "./error_words.js";
import { icon } from "./icons.js";

const STATUS = { acting: "working", waiting: "waiting for you", finished: "done", idle: "ready" };
const BUSY = new Set(["thinking", "acting", "waiting"]);

export class Agents {
  #known = new Map();

  constructor(shell) {
    this.shell = shell;
    this.text = el("span", { class: "agent-text" });
    this.stop = el("button", { type: "button", class: "btn btn-sm btn-danger", on: { click: () => this.#stop() } }, icon("stop"), el("span", { text: "Stop" }));
    this.element = el("div", { class: "agents", role: "status", "aria-label": "Agents", hidden: true }, el("span", { class: "agent-dot" }), this.text, this.stop);
    shell.connection.on("AGENT_STATUS", (frame) => this.#told(frame));
    shell.connection.on("SNAPSHOT", () => { this.#known.clear(); this.#draw(); });
  }

  #told({ agentId, status, message, code }) {
    this.#known.delete(agentId);
    this.#known.set(agentId, { agentId, status, message: code ? whatFailed(code) : message });
    this.#draw();
  }

  #draw() {
    const all = [...this.#known.values()];
    const busy = all.filter((one) => BUSY.has(one.status));
    const shown = busy.at(-1) ?? all.at(-1);
    this.element.hidden = !shown;
    if (!shown) return;
    const others = busy.length > 1 ? ` (+${busy.length - 1})` : "";
    this.element.dataset.status = shown.status;
    this.text.textContent = `${shown.agentId}: ${shown.message || (STATUS[shown.status] ?? shown.status)}${others}`;
    this.text.title = this.text.textContent;
    this.stop.hidden = busy.length === 0;
    this.stop.setAttribute("aria-label", `Stop ${shown.agentId}`);
    this.current = shown.agentId;
  }

  #stop() { this.shell.send({ type: "INTERRUPT", agentId: this.current }); }
}
