// What stands on the screen: the tree and the picture show the same element, its attributes, how it can be named,
// and a selector that is tried out.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { shortly } from "../../desk/error_words.js";

const TRY_MS = 250;
const LATER_MS = 400;

export class Inspector {
  /** `use(kind, answer)`: a person wants a step with the chosen element. */
  constructor(ctx, glass, { use, copy }) {
    Object.assign(this, { ctx, use, copy, nodes: [], size: { width: 1, height: 1 } });
    this.hovered = el("div", { class: "studio-box is-hover", hidden: true });
    this.marked = el("div", { class: "studio-box is-chosen", hidden: true });
    this.found = el("div", { class: "studio-found" });
    this.cover = el("div", { class: "studio-cover", hidden: true, "aria-hidden": "true", on: {
      pointermove: (event) => this.hover(this.under(event)), pointerleave: () => this.hover(null), click: (event) => this.choose(this.under(event), event) } });
    glass.append(this.found, this.hovered, this.marked, this.cover);
    this.glass = glass;
    this.search = el("input", { class: "input", type: "search", placeholder: "Find in the tree", "aria-label": "Find in the tree", on: { input: () => this.tree() } });
    this.list = el("div", { class: "studio-tree", role: "tree", "aria-label": "Elements of the screen", tabindex: "-1", on: { keydown: (event) => this.arrows(event), pointerleave: () => this.hover(null) } });
    this.all = el("input", { type: "checkbox", on: { change: () => this.tree() } });
    this.tried = el("input", { class: "input mono", placeholder: "Save, or {id: save}", "aria-label": "Try a selector", on: { input: () => { clearTimeout(this.trying); this.trying = setTimeout(() => this.try(), TRY_MS); } } });
    this.count = el("span", { class: "studio-count", role: "status", "aria-label": "What the selector means" });
    this.about = el("div", { class: "studio-about" }, el("p", { class: "quiet", text: "Point at the phone, or choose an element in the tree." }));
    this.again = el("button", { type: "button", class: "btn btn-sm", on: { click: () => this.look() } }, icon("refresh"), "Look again");
    this.element = el("section", { class: "studio-inspector", "aria-label": "Inspector" },
      el("div", { class: "studio-try" }, this.tried, this.count),
      this.about,
      el("div", { class: "studio-treebar" }, this.search, el("label", { class: "studio-all" }, this.all, "all layers"), this.again), this.list);
  }

  /** Reads the screen once more; the chosen element stays chosen if it is still there. */
  async look() {
    const device = this.device;
    if (!device) return;
    this.again.disabled = true;
    try {
      const told = await this.ctx.api(`/api/phone/${encodeURIComponent(device)}/nodes`);
      if (device !== this.device) return;
      Object.assign(this, { nodes: told.nodes, revision: told.revision, size: { width: told.width || 1, height: told.height || 1 } });
      this.byAt = new Map(this.nodes.map((one) => [one.at, one]));
      this.tree();
      if (this.chosen && !this.nodes.some((one) => same(one, this.chosen))) this.forget();
      this.try();
    } catch (error) {
      this.list.replaceChildren(el("p", { class: "quiet", text: shortly(error.code) }));
    } finally {
      this.again.disabled = false;
    }
  }

  lookSoon() {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.look(), LATER_MS);
  }

  get words() { return this.nodes.flatMap((one) => [one.text, one.description]).filter(Boolean); }

  set pointing(on) {
    this.cover.hidden = !on;
    this.isPointing = on;
    this.hover(null);
    this.menu?.remove();
    if (on) this.look();
  }

  place(box, bounds) {
    const [left, top, right, bottom] = bounds;
    const { width, height } = this.size;
    Object.assign(box.style, { left: `${(100 * left) / width}%`, top: `${(100 * top) / height}%`, width: `${(100 * (right - left)) / width}%`, height: `${(100 * (bottom - top)) / height}%` });
    box.hidden = right <= left || bottom <= top;
  }

  /** The element that a person means at a place: what has a ref, and is smallest. */
  under({ clientX, clientY }) {
    const box = this.glass.getBoundingClientRect();
    const x = ((clientX - box.left) / box.width) * this.size.width, y = ((clientY - box.top) / box.height) * this.size.height;
    const hit = this.nodes.filter(({ visible: [left, top, right, bottom] }) => left <= x && x < right && top <= y && y < bottom);
    const area = ({ visible: [left, top, right, bottom] }) => (right - left) * (bottom - top);
    const named = hit.filter((one) => one.ref || one.text || one.description);
    return (named.length ? named : hit).sort((a, b) => area(a) - area(b) || b.at - a.at)[0] ?? null;
  }

  hover(node) {
    if (node === this.over) return;
    this.over = node;
    this.hovered.hidden = !node;
    if (node) this.place(this.hovered, node.visible);
    this.list.querySelector(".is-hover")?.classList.remove("is-hover");
    if (!node) return;
    const row = this.list.querySelector(`[data-at="${node.at}"]`);
    row?.classList.add("is-hover");
    if (this.isPointing) row?.scrollIntoView({ block: "nearest" });
  }

  rows() {
    const wanted = this.search.value.trim().toLowerCase();
    const isKept = (one) => this.all.checked || one.ref || one.text || one.description || same(one, this.chosen ?? {});
    const fits = (one) => !wanted || JSON.stringify(Object.values(one)).toLowerCase().includes(wanted);
    return this.nodes.filter((one) => isKept(one) && fits(one));
  }

  tree() {
    const focused = document.activeElement?.dataset?.at;
    const rows = this.rows();
    const kept = new Set(rows.map((one) => one.at));
    const depth = (one) => { let steps = 0; for (let up = this.byAt.get(one.in); up; up = this.byAt.get(up.in)) steps += kept.has(up.at); return Math.min(steps, 12); };
    this.list.replaceChildren(...rows.map((one, index) => el("div", { class: "studio-node", role: "treeitem", tabindex: index === 0 ? "0" : "-1", "aria-level": String(depth(one) + 1), "aria-selected": String(this.chosen ? same(one, this.chosen) : false),
      dataset: { at: String(one.at) }, style: { "--depth": String(depth(one)) }, on: { pointerenter: () => this.hover(one), focus: () => this.hover(one), click: () => this.choose(one) } },
    one.ref ? el("code", { text: one.ref }) : null, el("span", { class: "studio-role", text: one.role === "unknown" ? short(one.class) : one.role.replaceAll("_", " ") }),
    el("span", { class: "studio-words", text: one.text || one.description || idTail(one) }))));
    if (focused) this.list.querySelector(`[data-at="${focused}"]`)?.focus();
  }

  arrows(event) {
    const all = [...this.list.children];
    const at = all.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      all[at]?.click();
    } else if (to !== undefined && all[to]) {
      event.preventDefault();
      all[at] && (all[at].tabIndex = -1);
      all[to].tabIndex = 0;
      all[to].focus();
    }
  }

  forget() {
    this.chosen = null;
    this.marked.hidden = true;
    this.menu?.remove();
  }

  async choose(node, event = null) {
    if (!node) return;
    this.chosen = node;
    this.place(this.marked, node.visible);
    for (const row of this.list.children) row.setAttribute("aria-selected", String(Number(row.dataset.at) === node.at));
    this.menu?.remove();
    try {
      const named = await this.ctx.api(`/api/phone/${encodeURIComponent(this.device)}/selectors?${new URLSearchParams({ node: node.at, revision: this.revision })}`);
      if (this.chosen !== node) return;
      this.show(node, named);
      if (event) this.ask(node, named, event);
    } catch (error) {
      if (error.code !== "INVALID_ACTION") return this.ctx.fail(error);
      await this.look(); // the screen has changed since: the same element, if it is still there
      const again = this.nodes.find((one) => same(one, node));
      if (again && !this.tired) { this.tired = true; await this.choose(again, event); }
      this.tired = false;
    }
    return undefined;
  }

  buttons(node, named, look) {
    const button = (kind, text) => el("button", { type: "button", class: `btn btn-sm ${kind === "visible" ? "btn-primary" : ""}`, text, on: { click: () => { this.menu?.remove(); this.use(kind, named); } } });
    return el("div", { class: look }, button("visible", "Expect: it is visible"), named.steps.text ? button("text", "Expect: this text") : null, button("tap", "Tap it"));
  }

  /** At the place that was pointed at: what to do with it. */
  ask(node, named, { clientX, clientY }) {
    const box = this.glass.getBoundingClientRect();
    this.menu = el("div", { class: "studio-ask", role: "group", "aria-label": "What about this element" },
      el("strong", { text: node.text || node.description || short(node.class) }), this.buttons(node, named, "studio-ask-buttons"));
    this.glass.parentElement.append(this.menu);
    const around = this.glass.parentElement.getBoundingClientRect();
    const { width, height } = this.menu.getBoundingClientRect();
    this.menu.style.left = `${Math.max(4, Math.min(clientX - around.left, around.width - width - 4))}px`;
    this.menu.style.top = `${clientY + height + 12 < box.bottom ? clientY - around.top + 12 : Math.max(4, clientY - around.top - height - 12)}px`;
  }

  show(node, named) {
    const [best, ...others] = named.selectors;
    const copies = [["Copy step", named.steps.tap], ["Copy selector", best.text], ["Copy Python", named.python]];
    const facts = Object.entries({ class: node.class, id: node.id, text: node.text, description: node.description, hint: node.hint_text, state: (node.flags ?? []).join(", "), bounds: node.bounds.join(", ") }).filter(([, value]) => value);
    this.about.replaceChildren(
      el("div", { class: "studio-best" }, el("code", { text: best.text }), matches(best)),
      this.buttons(node, named, "buttons"),
      el("div", { class: "buttons" }, copies.map(([label, text]) => el("button", { type: "button", class: "btn btn-sm btn-ghost", text: label, on: { click: () => this.copy(text) } }))),
      others.length ? el("details", {}, el("summary", { text: `${others.length} other way${others.length > 1 ? "s" : ""} to name it` }), el("ul", { class: "studio-others" }, others.map((one) => el("li", {}, el("code", { text: one.text }), matches(one), el("button", { type: "button", class: "btn btn-sm btn-ghost", text: "Copy", "aria-label": `Copy ${one.text}`, on: { click: () => this.copy(one.text) } }))))) : null,
      el("details", {}, el("summary", { text: "Attributes" }), el("dl", { class: "facts" }, facts.flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]))));
  }

  async try() {
    const text = this.tried.value.trim();
    this.found.replaceChildren();
    this.count.textContent = "";
    if (!text) return;
    try {
      const told = await this.ctx.api(`/api/phone/${encodeURIComponent(this.device)}/matches`, { method: "POST", body: { text } });
      if (text !== this.tried.value.trim()) return;
      this.count.textContent = told.matches.length === 1 ? "means one element" : told.matches.length ? `means ${told.matches.length} elements` : "means nothing here";
      this.found.replaceChildren(...told.matches.map(({ bounds }) => { const box = el("div", { class: "studio-box is-match" }); this.place(box, bounds); return box; }));
    } catch (error) {
      if (text === this.tried.value.trim()) this.count.textContent = error.message.split("\n")[0].replace(/^.*?: /, "");
    }
  }

  close() {
    clearTimeout(this.soon);
    clearTimeout(this.trying);
  }
}

const same = (one, other) => one.at === other.at && one.class === other.class && one.id === other.id && one.text === other.text;
const short = (name) => String(name ?? "").split(".").pop();
const idTail = ({ id }) => (id ? id.split("/").pop() : "");
const matches = ({ matches: count }) => el("span", { class: `badge ${count === 1 ? "badge-success" : "badge-warning"}`, text: count === 1 ? "unique" : `${count} match` });
