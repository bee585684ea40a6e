// Completion in the text of a flow: actions, their fields, options of steps, and what can be seen on the screen.

import { el } from "../../desk/element.js";

const TOP = ["name", "app", "tags", "env", "devices", "steps"];
const BESIDE = ["label", "optional", "when", "retry", "timeout_ms", "settle", "expect", "reason", "device"];
const HOLDERS = ["repeat", "run_flow", "parallel", "when", "finish"];
const MOST = 8;

export class Hints {
  /** `labels()` are the words on the phone's screen. */
  constructor(ctx, labels) {
    this.labels = labels;
    this.list = [];
    this.element = el("ul", { class: "editor-hints", role: "listbox", "aria-label": "Completions", hidden: true });
    this.fields = {};
    ctx.api("/api/actions").then((schema) => { this.fields = fieldsOf(schema); }, () => {});
  }

  /** After a key: what could stand where the caret is. */
  show(area) {
    this.hide();
    if (area.selectionStart !== area.selectionEnd || document.activeElement !== area) return;
    const before = area.value.slice(0, area.selectionStart);
    const lines = before.split("\n");
    const { from, words, quote } = this.context(lines);
    if (from === null || from.length < 1) return;
    const low = from.toLowerCase();
    this.list = [...new Set(words)].filter((one) => one.toLowerCase().startsWith(low) && one !== from).slice(0, MOST);
    if (!this.list.length) return;
    Object.assign(this, { from, quote, at: 0 });
    this.element.replaceChildren(...this.list.map((text, at) => el("li", { role: "option", "aria-selected": String(at === 0), text, on: { pointerdown: (event) => { event.preventDefault(); this.at = at; this.take(area); } } })));
    this.element.style.left = `calc(${lines.at(-1).length - from.length} * 1ch + var(--pad))`;
    this.element.style.top = `calc(${lines.length} * var(--line))`;
    this.element.hidden = false;
  }

  context(lines) {
    const line = lines.at(-1);
    const step = /^\s*- ([\w.]*)$/.exec(line);
    if (step) return { from: step[1], words: [...Object.keys(this.fields), ...HOLDERS], quote: ": " };
    const value = /^\s*(?:- )?[\w.]+: "?([^"{[]*)$/.exec(line) ?? /(?:text|target|visible|absent): "?([^"{[,]*)$/.exec(line);
    if (value) return { from: value[1], words: this.labels(), quote: "" };
    const top = /^([a-z_]*)$/.exec(line);
    if (top) return { from: top[1], words: TOP, quote: ": " };
    const beside = /^\s+(\w*)$/.exec(line);
    if (!beside) return { from: null, words: [] };
    const action = [...lines].reverse().map((one) => /^\s*- ([\w.]+)/.exec(one)?.[1]).find(Boolean);
    return { from: beside[1], words: [...BESIDE, ...(this.fields[action] ?? [])], quote: ": " };
  }

  /** True where a key was meant for the list, and changed the text. */
  key(event, area) {
    if (this.element.hidden) return false;
    if (event.key === "Escape") {
      event.stopPropagation();
      this.hide();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (event.altKey) return false;
      event.preventDefault();
      this.at = (this.at + (event.key === "ArrowDown" ? 1 : -1) + this.list.length) % this.list.length;
      [...this.element.children].forEach((one, at) => one.setAttribute("aria-selected", String(at === this.at)));
    } else if (event.key === "Tab" || event.key === "Enter") {
      event.preventDefault();
      this.take(area);
      return true;
    }
    return false;
  }

  take(area) {
    const text = `${this.list[this.at]}${this.quote}`;
    area.setRangeText(text, area.selectionStart - this.from.length, area.selectionStart, "end");
    this.hide();
    area.dispatchEvent(new Event("input"));
  }

  hide() {
    this.element.hidden = true;
    this.list = [];
  }
}

/** Action → its fields, from the schema that `/api/actions` tells. */
function fieldsOf(schema) {
  const all = schema.$defs ?? schema.actions ?? schema;
  const found = {};
  for (const one of Object.values(all)) {
    const type = one?.properties?.type?.const;
    if (type && !type.includes(".")) found[type] = Object.keys(one.properties).filter((name) => name !== "type");
  }
  return found;
}
