// Tables: sorted by a click on a header, the header stays in sight, and of a long table only the rows in sight exist.

import { el } from "./element.js";
import { icon } from "./icons.js";

const ROW = 34; // px, as in content.css
const WHOLE = 200; // rows up to here are all there
const SPARE = 12; // rows drawn beyond each edge
const SAMPLE = 100; // rows looked at for the columns' widths
const WIDEST = 60; // characters of a column of a long table
const LETTER = 7.5; // px of one, about
const PADDING = 6; // characters' worth of room beside a text
const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

export class Table {
  #sort = null;

  constructor(root) {
    this.box = el("div", { class: "table-box", tabindex: "0", role: "group", "aria-label": "Table, scrollable" });
    root.append(this.box);
    this.box.addEventListener("scroll", () => { this.painting ||= requestAnimationFrame(() => this.#rows()); });
    this.sizes = new ResizeObserver(() => this.head && this.#rows());
    this.sizes.observe(this.box);
  }

  show({ content }) {
    const { headers, rows } = content.data;
    this.data = { headers, rows };
    this.width = Math.max(headers.length, ...rows.slice(0, SAMPLE).map((row) => row.length), 0);
    if (this.#sort && this.#sort.column >= this.width) this.#sort = null;
    if (this.width === 0) return this.#nothing();
    this.#frame();
    return this.#sorted();
  }

  #nothing() {
    this.head = null;
    this.box.replaceChildren(el("div", { class: "empty" }, icon("menu"), el("strong", { text: "An empty table" }),
      el("p", { text: "Rows appear here when the agent adds them." })));
  }

  #frame() {
    const columns = el("colgroup", {}, this.#widths().map((share) => el("col", { style: { width: `${share}%` } })));
    this.head = el("tr", { "aria-rowindex": "1" }, Array.from({ length: this.width }, (_, at) => this.#header(at)));
    this.body = el("tbody");
    const isWhole = this.data.rows.length <= WHOLE;
    const floor = Math.min(isWhole ? this.width * 90 : this.#needed(), 20_000);
    this.table = el("table", { class: `table ${isWhole ? "is-whole" : ""}`, "aria-rowcount": this.data.rows.length + 1, style: { minWidth: `${floor}px` } },
      columns, el("thead", {}, this.head), this.body);
    const count = this.data.rows.length;
    this.foot = el("p", { class: "table-count", text: `${count.toLocaleString()} ${count === 1 ? "row" : "rows"}` });
    const { scrollTop, scrollLeft } = this.box;
    this.box.replaceChildren(this.table, this.foot);
    Object.assign(this.box, { scrollTop, scrollLeft });
  }

  /** Pixels in which no cell up to `WIDEST` characters is cut. */
  #needed() {
    return this.#longest(WIDEST).reduce((sum, one) => sum + one * LETTER, 0);
  }

  #longest(most) {
    const sample = this.data.rows.slice(0, SAMPLE);
    const head = (at) => (this.data.headers[at] ?? "").length + 3; // its letters are bold, and it has a sign
    return Array.from({ length: this.width }, (_, at) => PADDING + Math.min(most, Math.max(head(at), ...sample.map((row) => (row[at] ?? "").length))));
  }

  /** Shares of the width by the longest text of a sample, none too narrow or too greedy. */
  #widths() {
    const longest = this.#longest(this.data.rows.length <= WHOLE ? 40 : WIDEST);
    const sum = longest.reduce((a, b) => a + b, 0);
    return longest.map((one) => (100 * one) / sum);
  }

  #header(at) {
    const name = this.data.headers[at] ?? "";
    const way = this.#sort?.column === at ? this.#sort.way : null;
    const sign = { ascending: "↑", descending: "↓" }[way] ?? "";
    return el("th", { scope: "col", "aria-sort": way ?? "none" },
      el("button", { type: "button", title: name, dataset: { at }, on: { click: () => this.#click(at) } },
        el("span", { text: name || `Column ${at + 1}` }), el("span", { class: "sign", text: sign, "aria-hidden": "true" })));
  }

  #click(column) {
    const way = this.#sort?.column === column ? this.#sort.way : null;
    const next = { ascending: "descending", descending: null }[way];
    this.#sort = way && !next ? null : { column, way: next ?? "ascending" };
    this.head.replaceChildren(...Array.from({ length: this.width }, (_, at) => this.#header(at)));
    this.head.querySelector(`[data-at="${column}"]`).focus();
    this.#sorted();
  }

  #sorted() {
    this.order = this.data.rows.map((_, index) => index);
    if (this.#sort) {
      const { column, way } = this.#sort;
      const sign = way === "ascending" ? 1 : -1;
      const compare = comparison(this.data.rows.map((row) => row[column] ?? ""));
      this.order.sort((a, b) => sign * compare(a, b) || a - b);
    }
    this.drawn = null;
    this.#rows();
  }

  #rows() {
    this.painting = 0;
    const count = this.order.length;
    const all = count <= WHOLE;
    const first = all ? 0 : Math.max(0, Math.floor(this.box.scrollTop / ROW) - SPARE);
    const last = all ? count : Math.min(count, Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + SPARE);
    if (this.drawn === `${first}-${last}`) return;
    this.drawn = `${first}-${last}`;
    const rows = this.order.slice(first, last).map((index, at) => this.#row(this.data.rows[index], first + at));
    this.body.replaceChildren(gap(first), ...rows, gap(count - last));
  }

  #row(cells, at) {
    const columns = Array.from({ length: this.width }, (_, column) => {
      const text = cells[column] ?? "";
      if (this.data.rows.length <= WHOLE || text.length <= WIDEST) return el("td", { text });
      return el("td", { text, class: "is-long", tabindex: "0", title: "Click to read all of it", on: { click: () => this.#read(column, text), keydown: ({ key }) => key === "Enter" && this.#read(column, text) } });
    });
    return el("tr", { "aria-rowindex": at + 2 }, columns);
  }

  /** A cell that is longer than any column: its whole text. */
  #read(column, text) {
    const close = el("button", { type: "button", class: "btn btn-primary", text: "Close", dataset: { local: "" }, on: { click: () => dialog.close() } });
    const dialog = el("dialog", { class: "modal", "aria-label": this.data.headers[column] || "Cell" },
      el("div", { class: "modal-form" }, el("p", { class: "text", text }), el("div", { class: "modal-buttons" }, close)));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  close() { this.sizes.disconnect(); }
}

/** By number where every cell is one, which is twenty times as quick; else as people sort words. */
function comparison(cells) {
  const numbers = cells.map((cell) => (cell.trim() === "" ? NaN : Number(cell)));
  if (numbers.every(Number.isFinite)) return (a, b) => numbers[a] - numbers[b];
  return (a, b) => order.compare(cells[a], cells[b]);
}

const gap = (rows) => el("tr", { class: "gap", "aria-hidden": "true", style: { height: `${rows * ROW}px` } });
