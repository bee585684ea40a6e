// Console: talk to the agent, see what it is doing, interrupt it.

import { el, randomId } from "../../desk/element.js";
import { problem } from "../../desk/error_words.js";
import { icon } from "../../desk/icons.js";
import { empty, failure, loading } from "../panes.js";
import { moment } from "../words.js";

const AGAIN_MS = 3000; // somebody else may talk in another browser
const TONES = { acting: "info", thinking: "info", waiting: "warning", finished: "success", failed: "error", stopped: "warning", idle: "" };

const STATUS = { acting: "working", thinking: "thinking", waiting: "waiting for you", finished: "done", failed: "failed", stopped: "stopped", idle: "ready" };

export default function mount(root, ctx) {
  const app = new Console(root, ctx);
  app.load();
  return app;
}

class Console {
  constructor(root, ctx) {
    this.ctx = ctx;
    this.known = "";
    this.status = el("div", { class: "console-agents", role: "status" });
    this.interrupt = el("button", { class: "btn btn-danger btn-sm", on: { click: () => this.stop() } }, icon("stop"), "Stop");
    this.talk = el("div", { class: "console-talk", role: "log", "aria-label": "Conversation", tabindex: "0" }, loading());
    this.input = el("textarea", { class: "input console-input", rows: "2", maxlength: "10000", "aria-label": "Message to the agent",
      on: { keydown: (event) => this.key(event) } });
    this.sending = el("button", { class: "btn btn-primary", type: "submit", "aria-label": "Send" }, icon("send"), "Send");
    root.replaceChildren(el("div", { class: "app-bar" }, this.status, el("span", { class: "grow" }), this.interrupt), this.talk,
      el("form", { class: "console-say", on: { submit: (event) => { event.preventDefault(); this.say(); } } }, this.input, this.sending));
    this.offs = [ctx.on("AGENT_STATUS", () => this.load())];
    this.timer = setInterval(() => { if (!document.hidden) this.load(); }, AGAIN_MS);
  }

  open() {
    this.input.focus();
  }

  async load() {
    try {
      const { messages, agents, hasModel = true } = await this.ctx.api("/api/console");
      if (this.closed) return;
      this.allow(hasModel);
      const now = JSON.stringify([messages, agents, hasModel]);
      if (now === this.known) return;
      this.known = now;
      this.agents(agents);
      this.messages(messages, agents, hasModel);
    } catch (error) {
      if (!this.closed && !this.known) this.talk.replaceChildren(failure(error, () => this.load()));
    }
  }

  /** Nobody would answer without a model: then there is nothing to write into. */
  allow(hasModel) {
    this.input.disabled = this.sending.disabled = !hasModel;
    this.input.placeholder = hasModel ? "What should be done? Enter sends, Shift+Enter starts a new line." : "No model is set up, so no one would answer.";
  }

  agents(agents) {
    const busy = agents.filter((one) => ["acting", "thinking", "waiting"].includes(one.status));
    const shown = busy.length ? busy : agents.slice(-1);
    this.status.replaceChildren(...(shown.length ? shown.map((one) => el("span", { class: `badge ${TONES[one.status] ? `badge-${TONES[one.status]}` : ""}`, text: `${one.agentId}: ${STATUS[one.status] ?? one.status}` }))
      : [el("span", { class: "badge", text: "No agent is working" })]));
  }

  messages(messages, agents, hasModel) {
    if (!messages.length) return this.talk.replaceChildren(hasModel ? none() : noModel());
    const isAtEnd = this.talk.scrollHeight - this.talk.scrollTop - this.talk.clientHeight < 60;
    this.talk.replaceChildren(...messages.map(message));
    if (isAtEnd) this.talk.scrollTop = this.talk.scrollHeight;
  }

  key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.say();
  }

  say() {
    const content = this.input.value.trim();
    if (!content) return;
    const said = { type: "USER_MESSAGE", messageId: randomId("message"), content, monitorId: this.ctx.monitorId };
    if (!this.ctx.send(said)) return; // the page says so
    this.input.value = "";
    this.talk.scrollTop = this.talk.scrollHeight;
    setTimeout(() => this.load(), 100);
  }

  stop() {
    if (this.ctx.send({ type: "INTERRUPT" })) this.ctx.toast("Everything that was being done is stopped. Each phone is held until you hand it back on its page.", "info");
  }

  close() {
    this.closed = true;
    clearInterval(this.timer);
    for (const off of this.offs) off();
  }
}

function message(one) {
  const isPerson = one.from === "person";
  return el("article", { class: `console-message ${isPerson ? "is-yours" : ""}`, dataset: { from: one.from } },
    el("header", {}, el("b", { text: isPerson ? "You" : one.from }), el("time", { datetime: one.at, text: moment(one.at) }),
      one.status && TONES[one.status] ? el("span", { class: `badge badge-${TONES[one.status]}`, text: STATUS[one.status] ?? one.status }) : null),
    one.code ? problem({ code: one.code, message: one.text }) : el("p", { text: one.text }));
}

const none = () => empty("console", "What should be done?", "Write it below. The agent says here what it does, and asks when it needs you.");

const noModel = () => empty("console", "No model is set up",
  "The built-in agent needs a model to answer. Start the desk with one, or let your own agent work over MCP:",
  el("code", { class: "pane-code", text: "handrail serve --model openai:NAME" }), el("code", { class: "pane-code", text: "handrail mcp" }));
