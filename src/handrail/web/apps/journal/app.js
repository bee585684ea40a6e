// Journal: everything that was done, newest first, one action in full, and the proof that nothing was changed.

import { el } from "../../desk/element.js";
import { shortly } from "../../desk/error_words.js";
import { icon } from "../../desk/icons.js";
import { empty, failure, loading, notice } from "../panes.js";
import { ended, moment, spaced, toneOf, who } from "../words.js";
import { checkpointPanel } from "./checkpoint.js";
import { detail } from "./detail.js";
import { Filters } from "./filters.js";
import { Runs } from "./runs.js";
import { fill } from "../../desk/pictures.js";
import { legend } from "../legend.js";

const VIEWS = { actions: "Actions", runs: "Runs" };
const SOON_MS = 400; // after an action ended, so that a burst is one reading

export default function mount(root, ctx) {
  const app = new Journal(root, ctx);
  app.open(ctx.options ?? {});
  return app;
}

class Journal {
  constructor(root, ctx) {
    this.ctx = ctx;
    this.filters = new Filters(() => this.load());
    this.runs = new Runs(ctx, (before) => this.page(before, "/runs"), (action) => { this.view("actions"); this.show(action); });
    this.tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "View" }, Object.entries(VIEWS).map(([name, text]) =>
      el("button", { role: "tab", "aria-selected": String(name === "actions"), dataset: { view: name }, text, on: { click: () => this.view(name) } })));
    this.signed = el("button", { class: "btn", title: "Sign the journal's newest state, to keep it elsewhere: it proves later that nothing was removed", on: { click: () => this.checkpoint() } }, icon("lock"), "Sign checkpoint");
    this.proof = el("button", { class: "btn", title: "Check every record: none was changed, left out or put in", on: { click: () => this.verify() } }, icon("shield"), "Verify records");
    this.said = el("div");
    this.rows = el("div", { class: "split-list", role: "list", "aria-label": "Actions", on: { keydown: (event) => this.arrows(event) } });
    this.detail = el("div", { class: "split-detail" });
    this.split = el("div", { class: "split" }, this.rows, this.detail);
    root.replaceChildren(el("div", { class: "app-bar" }, this.tabs, this.filters.element, el("span", { class: "grow" }), this.signed, this.proof), legend(), this.said, this.split, this.runs.element);
    this.runs.element.hidden = true;
    this.nothing();
    this.rows.replaceChildren(loading());
    this.offs = [ctx.on("ENVELOPE", (frame) => { if (frame.envelope) this.loadSoon(); })];
  }

  open({ entry, view }) {
    if (view) this.view(view);
    else this.load();
    if (entry) this.show(entry);
  }

  view(name) {
    this.isRuns = name === "runs";
    for (const one of this.tabs.children) one.setAttribute("aria-selected", String(one.dataset.view === name));
    this.split.hidden = this.isRuns;
    this.runs.element.hidden = !this.isRuns;
    this.load();
  }

  nothing() {
    this.split.classList.remove("has-detail");
    this.detail.replaceChildren(empty("journal", "Choose an action", "Its pictures, what changed, how long it took and its proof are shown here."));
  }

  loadSoon() {
    clearTimeout(this.soon);
    const seen = this.isRuns ? this.runs.element : this.rows;
    this.soon = setTimeout(() => { if (seen.scrollTop < 40) this.load(); }, SOON_MS);
  }

  async load() {
    if (this.isRuns) return void this.filters.saw(await this.runs.load());
    const asked = (this.asked = Symbol("asked"));
    try {
      const page = await this.page();
      if (asked !== this.asked || this.closed) return;
      this.filters.saw(page.actions);
      const focused = document.activeElement?.closest?.(".row")?.dataset.action;
      if (page.actions.length) this.rows.replaceChildren(...this.list(page));
      else this.rows.replaceChildren(this.none(page));
      if (focused) this.rows.querySelector(`[data-action="${CSS.escape(focused)}"]`)?.focus();
    } catch (error) {
      if (asked === this.asked && !this.closed) this.rows.replaceChildren(failure(error, () => this.load()));
    }
  }

  none(page) {
    if (this.filters.any || page.next) return empty("search", "No results", "Change the filters to see more.", this.more(page));
    return empty("journal", "The journal is empty", "Whatever an agent, a flow or you do on a phone appears here.");
  }

  page(before = null, kind = "") {
    const wanted = new URLSearchParams({ ...(kind ? {} : { limit: "40" }), ...this.filters.values, ...(before ? { before } : {}) });
    return this.ctx.api(`/api/journal${kind}?${wanted}`);
  }

  list(page) {
    return [...page.actions.map((row) => this.row(row)), this.more(page)].filter(Boolean);
  }

  more({ next }) {
    if (!next) return null;
    const button = el("button", { class: "btn journal-more", text: "Older", on: { click: async () => {
      button.disabled = true;
      try {
        button.replaceWith(...this.list(await this.page(next)));
      } catch (error) {
        this.ctx.fail(error);
        button.disabled = false;
      }
    } } });
    return button;
  }

  row(one) {
    const end = one.failure_code ? shortly(one.failure_code) : ended(one.state);
    return el("div", { role: "listitem" }, el("button", {
      class: "row", dataset: { action: one.action_id, seq: one.seq, state: one.state },
      "aria-current": String(one.action_id === this.shown), on: { click: () => this.show(one.action_id) },
    },
      el("span", { class: `dot dot-${toneOf(one.state, one.failure_code)}`, title: end }),
      el("span", { class: "row-title", text: [spaced(one.type) + (one.about ? ` “${one.about}”` : ""), ...(["failed", "unfinished"].includes(one.state) ? [end] : [])].join(" · ") }),
      this.thumb(one),
      el("time", { class: "row-time", datetime: new Date(one.at_ms).toISOString(), text: moment(one.at_ms) }),
      el("span", { class: "row-more", text: [one.reason, who(one.actor)].filter(Boolean).join(" — ") })));
  }

  /** What the screen looked like, fetched when it comes into sight. */
  thumb({ picture }) {
    if (!picture) return el("span", { class: "journal-thumb" });
    const image = el("img", { class: "journal-thumb", alt: "" });
    this.seen ??= new IntersectionObserver((all) => all.forEach(({ isIntersecting, target }) => {
      if (!isIntersecting) return;
      this.seen.unobserve(target);
      fill(target, `/api/journal/blob/${target.dataset.blob}`);
    }), { root: this.rows, rootMargin: "300px" });
    image.dataset.blob = picture;
    this.seen.observe(image);
    return image;
  }

  arrows(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const all = [...this.rows.querySelectorAll(".row")];
    const at = all.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    all[at + step]?.focus();
  }

  async show(action) {
    this.shown = action;
    for (const one of this.rows.querySelectorAll(".row")) one.setAttribute("aria-current", String(one.dataset.action === action));
    this.split.classList.add("has-detail");
    this.detail.replaceChildren(loading());
    try {
      const entry = await this.ctx.api(`/api/journal/entry/${encodeURIComponent(action)}`);
      if (this.shown !== action || this.closed) return;
      this.detail.replaceChildren(this.back(), ...detail(entry, { flow: () => this.flow(entry) }));
      this.detail.scrollTop = 0;
    } catch (error) {
      if (this.shown === action) this.detail.replaceChildren(this.back(), failure(error, () => this.show(action)));
    }
  }

  back() {
    return el("button", { class: "btn btn-sm split-back", text: "← All actions", on: { click: () => { this.shown = null; this.nothing(); } } });
  }

  async flow(entry) {
    const wanted = new URLSearchParams({ session: entry.session ?? "", device: entry.device ?? "", name: "recorded" });
    try {
      const { text } = await this.ctx.api(`/api/journal/flow?${wanted}`);
      this.detail.replaceChildren(this.back(), el("h2", { text: "This session as a flow" }),
        el("p", { class: "quiet", text: "Save it among the flows to run it again from Flows or with handrail run." }),
        el("div", { class: "buttons" }, this.runs.keep(entry), el("button", { class: "btn btn-sm", text: "Copy", on: { click: () => this.copy(text) } }),
          el("button", { class: "btn btn-sm", text: "Back to the action", on: { click: () => this.show(entry.action_id) } })),
        el("pre", { class: "code journal-flow", tabindex: "0", text }));
    } catch (error) {
      this.ctx.fail(error, "This session can't be made a flow.");
    }
  }

  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      this.ctx.toast("Copied.", "success");
    } catch {
      this.ctx.toast("This browser does not let the page copy; select the text instead.", "warning");
    }
  }

  async checkpoint() {
    this.signed.disabled = true;
    try {
      const one = await this.ctx.api("/api/journal/checkpoint");
      this.said.replaceChildren(checkpointPanel(one, (text) => this.copy(text), () => this.said.replaceChildren()));
    } catch (error) {
      this.ctx.fail(error, "The journal could not be signed.");
    } finally {
      this.signed.disabled = false;
    }
  }

  async verify() {
    this.proof.disabled = true;
    this.said.replaceChildren(notice("info", "Checking every record…"));
    try {
      const verdict = await this.ctx.api("/api/journal/verify", { method: "POST", body: {} });
      this.said.replaceChildren(this.verdict(verdict));
    } catch (error) {
      this.said.replaceChildren();
      this.ctx.fail(error, "The journal could not be verified.");
    } finally {
      this.proof.disabled = false;
    }
  }

  verdict(one) {
    const close = el("button", { class: "btn btn-sm btn-ghost", "aria-label": "Close the result", on: { click: () => this.said.replaceChildren() } }, icon("close"));
    if (!one.ok) return notice("danger", `Something was changed: record ${one.first_bad} does not fit (${one.why}).`, close);
    const warned = one.warnings.length ? ` ${one.warnings.length} stored pictures or trees are missing or changed.` : "";
    return notice(one.warnings.length ? "warn" : "ok", `Nothing was changed: all ${one.count} records fit together.${warned}`,
      el("code", { class: "journal-head", text: one.head, title: "The journal's fingerprint. Keep a copy elsewhere to prove later that nothing was removed." }), close);
  }

  close() {
    this.closed = true;
    clearTimeout(this.soon);
    this.runs.close();
    for (const off of this.offs) off();
  }
}
