// The text of a flow: lines that are painted, problems at their line, one button for each step, completion.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { showMenu } from "../../desk/menu.js";

import { fold, unfold } from "./portraits.js";

const CHECK_MS = 300;
const KEY = /^(\s*(?:- )?)([A-Za-z_][\w.]*)(:)(.*)$/;
const SIGNS = { passed: "check", failed: "close", warned: "alert", skipped: "minus", stopped: "stop", running: "play", paused: "pause" };

export class Editor {
  /** `ctx.api` checks; `act(what, step)` runs, from, to, pause; `changed()` after each edit that was checked. */
  constructor(ctx, { act, changed, hints }) {
    Object.assign(this, { ctx, act, changed, hints, steps: [], problems: [], states: [], pauses: new Set(), portraits: new Map() });
    this.paint = el("pre", { class: "editor-paint", "aria-hidden": "true" });
    this.area = el("textarea", { class: "editor-text", spellcheck: "false", autocomplete: "off", wrap: "off", "aria-label": "Steps of the flow as text",
      on: { input: () => this.edited(), keydown: (event) => this.key(event), blur: () => this.hints.hide(), click: () => this.hints.hide() } });
    this.gutter = el("div", { class: "editor-gutter", role: "group", "aria-label": "Steps" });
    this.says = el("ul", { class: "editor-problems", "aria-live": "polite", "aria-label": "Problems" });
    this.sheet = el("div", { class: "editor-sheet" }, this.paint, this.area, hints.element);
    this.element = el("div", { class: "editor" }, el("div", { class: "editor-scroll" }, this.gutter, this.sheet), this.says);
    this.draw();
  }

  get text() { return this.area.value; }

  set text(text) {
    this.area.value = text;
    this.edited();
  }

  /** With what is known of the elements, as it is run and saved. */
  get full() { return unfold(this.text, this.portraits); }

  set full(text) {
    const { text: plain, portraits } = fold(text);
    this.portraits = portraits;
    this.text = plain;
  }

  edited() {
    this.states = [];
    this.draw();
    this.hints.show(this.area, this.steps);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), CHECK_MS);
  }

  /** At once; true where the text can be run. */
  async check() {
    clearTimeout(this.timer);
    const text = this.text;
    if (!text.trim()) {
      [this.steps, this.problems] = [[], []];
    } else {
      const told = await this.ctx.api("/api/flows/check", { method: "POST", body: { text, file: this.file ?? "" } }).catch((error) => ({ problems: [{ level: "error", message: error.message, line: 1 }], steps: [] }));
      if (text !== this.text) return false;
      [this.steps, this.problems, this.name] = [told.steps, told.problems, told.name];
    }
    for (const at of this.pauses) if (at >= this.steps.length) this.pauses.delete(at);
    this.draw();
    this.changed();
    return this.steps.length > 0;
  }

  /** How each step ended, or that it runs, by its place. */
  tell(states) {
    this.states = states;
    this.draw();
    const at = states.findIndex((one) => one === "running" || one === "failed" || one === "paused");
    if (at >= 0 && states[at] !== this.toldState) this.gutter.children[at]?.scrollIntoView?.({ block: "nearest" });
    this.toldState = states[at];
  }

  draw() {
    const lines = this.text.split("\n");
    const levels = new Map(this.problems.map((one) => [one.line, one.level]));
    const states = new Map(this.steps.flatMap(({ line, end }, at) => Array.from({ length: end - line + 1 }, (_, more) => [line + more, this.states[at]])));
    this.paint.replaceChildren(...lines.map((line, at) => {
      const row = el("div", { class: ["editor-line", levels.get(at + 1) && `is-${levels.get(at + 1)}`, states.get(at + 1) && `was-${states.get(at + 1)}`].filter(Boolean).join(" ") }, ...painted(line));
      return row;
    }));
    this.gutter.replaceChildren(...this.steps.map((step, at) => this.button(step, at)));
    this.gutter.style.height = `calc(${lines.length + 3} * var(--line))`;
    this.says.replaceChildren(...this.problems.filter((one) => one.level !== "hint" || this.problems.length < 3).map((one) => el("li", { class: `is-${one.level}` },
      el("button", { type: "button", text: `Line ${one.line}`, on: { click: () => this.goTo(one.line) } }),
      el("span", { text: [[one.path, one.message].filter(Boolean).join(": "), one.suggestion].filter(Boolean).join(" ") }))));
  }

  button({ line, label }, at) {
    const state = this.pauses.has(at) && !this.states[at] ? "pause" : this.states[at];
    const sign = { pause: "stop", ...SIGNS }[state];
    const button = el("button", { type: "button", class: `editor-step ${state ? `is-${state}` : ""} ${this.pauses.has(at) ? "is-break" : ""}`, "aria-haspopup": "menu", "aria-label": `Step ${at + 1}, ${label}${this.states[at] ? `, ${this.states[at]}` : ""}${this.pauses.has(at) ? ", pauses here" : ""}`, title: `Step ${at + 1}: run it, run from or to here, move, delete`,
      dataset: { step: String(at), state: this.states[at] ?? "" }, on: { click: () => this.menu(button, at) } }, state === "running" ? el("span", { class: "pane-spinner" }) : sign ? icon(sign) : String(at + 1));
    button.style.top = `calc(${line - 1} * var(--line))`;
    return button;
  }

  menu(button, at) {
    const last = this.steps.length - 1;
    showMenu(button, `Step ${at + 1}`, [
      { label: "Run this step", icon: "play", run: () => this.act({ first: at, last: at }) },
      { label: "Run from here", icon: "play", run: () => this.act({ first: at }) },
      { label: "Run to here", icon: "play", run: () => this.act({ last: at }) },
      { label: this.pauses.has(at) ? "Don't pause here" : "Pause here", icon: "clock", run: () => this.pause(at) }, "-",
      { label: "Move up", icon: "restore", disabled: at === 0, keys: "Alt ↑", run: () => this.move(at, at - 1) },
      { label: "Move down", icon: "restore", disabled: at === last, keys: "Alt ↓", run: () => this.move(at, at + 1) },
      { label: "Delete", icon: "trash", run: () => this.remove(at) },
    ]);
  }

  pause(at) {
    if (!this.pauses.delete(at)) this.pauses.add(at);
    this.draw();
  }

  chunk(at) {
    const { line, end } = this.steps[at];
    return this.text.split("\n").slice(line - 1, end);
  }

  move(at, to) {
    if (to < 0 || to >= this.steps.length) return;
    const [first, second] = at < to ? [at, to] : [to, at];
    const lines = this.text.split("\n");
    const [a, b] = [this.chunk(first), this.chunk(second)];
    lines.splice(this.steps[first].line - 1, this.steps[second].end - this.steps[first].line + 1, ...b, ...a);
    this.text = lines.join("\n");
    this.check();
  }

  remove(at) {
    const first = ({ line }) => this.text.split("\n")[line - 1].trim();
    const key = first(this.steps[at]);
    this.portraits.get(key)?.splice(this.steps.slice(0, at).filter((one) => first(one) === key).length, 1);
    const lines = this.text.split("\n");
    lines.splice(this.steps[at].line - 1, this.steps[at].end - this.steps[at].line + 1);
    this.text = lines.join("\n");
    this.check();
  }

  /** New steps at the end, each a text such as `- tap: Save`; `replaced` of the last ones make room for them. */
  append(texts, { app = null, replaced = [] } = {}) {
    let text = this.text.trimEnd();
    if (!/^steps:/m.test(text)) text = [text || "name: New flow", app && !/^app:/m.test(text) ? `app: ${app}` : null, "steps:"].filter(Boolean).join("\n");
    for (const old of [...replaced].reverse()) {
      const { text: chunk, portraits } = fold(inset(old));
      for (const step of portraits.keys()) this.portraits.get(step)?.pop();
      if (text.endsWith(chunk)) text = text.slice(0, -chunk.length).trimEnd();
    }
    const added = fold(texts.map(inset).join("\n"));
    for (const [step, all] of added.portraits) this.portraits.set(step, [...(this.portraits.get(step) ?? []), ...all]);
    this.text = `${text}\n${added.text}\n`;
    this.area.closest(".editor-scroll").scrollTop = 1e9;
    return this.check();
  }

  goTo(line) {
    const at = this.text.split("\n").slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    this.area.focus();
    this.area.setSelectionRange(at, at);
  }

  get stepAtCaret() {
    const line = this.text.slice(0, this.area.selectionStart).split("\n").length;
    return this.steps.findIndex((one) => one.line <= line && line <= one.end);
  }

  key(event) {
    if (this.hints.key(event, this.area)) return void this.edited();
    if (event.altKey && ["ArrowUp", "ArrowDown"].includes(event.key) && !event.shiftKey) {
      event.preventDefault();
      const at = this.stepAtCaret;
      if (at >= 0) this.move(at, at + (event.key === "ArrowUp" ? -1 : 1));
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.act({});
    } else if (event.key === "Enter") {
      const before = this.text.slice(0, this.area.selectionStart).split("\n").at(-1);
      const indent = /^\s*/.exec(before)[0];
      if (!indent) return undefined;
      event.preventDefault();
      this.area.setRangeText(`\n${indent}`, this.area.selectionStart, this.area.selectionEnd, "end");
      this.edited();
    }
    return undefined;
  }
}

const inset = (text) => text.trimEnd().split("\n").map((line) => `  ${line}`).join("\n");

function painted(line) {
  const comment = line.search(/(^|\s)#/);
  const [code, rest] = comment < 0 ? [line, ""] : [line.slice(0, comment), line.slice(comment)];
  const match = KEY.exec(code);
  const parts = match ? [match[1], el("b", { text: match[2] }), match[3], ...variables(match[4])] : variables(code);
  return [...parts, rest ? el("i", { text: rest }) : "", "\u200b"];
}

const variables = (text) => text.split(/(\$\{[^}]*\})/).map((part, at) => (at % 2 ? el("em", { text: part }) : part));
