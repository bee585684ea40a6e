// Approvals: what waits for a person, what was answered, and the answers that count again.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { empty, failure, loading } from "../panes.js";
import { request } from "./request.js";
import { past } from "./past.js";

const TABS = { waiting: "Waiting", history: "History", remembered: "Remembered" };

export default function mount(root, ctx) {
  const app = new Approvals(root, ctx);
  app.open(ctx.options ?? {});
  return app;
}

class Approvals {
  constructor(root, ctx) {
    this.root = root;
    this.ctx = ctx;
    this.page = el("div", { class: "approvals-page", role: "tabpanel", tabindex: "-1" });
    this.tabs = Object.keys(TABS).map((name) => el("button", { role: "tab", dataset: { tab: name }, on: { click: () => this.show(name) } }, TABS[name]));
    const list = el("div", { class: "tabs", role: "tablist", "aria-label": "Approvals", on: { keydown: (event) => this.arrows(event) } }, this.tabs);
    root.replaceChildren(el("div", { class: "app-bar" }, list), this.page);
    const again = () => { if (this.tab !== "remembered") this.load(); };
    this.offs = [ctx.on("APPROVAL_REQUEST", again), ctx.on("APPROVAL_RESOLVED", again)];
    this.timer = setInterval(() => this.tick(), 1000);
  }

  open({ tab = "waiting" }) {
    this.show(tab);
  }

  show(tab) {
    this.tab = tab;
    for (const one of this.tabs) {
      const isIt = one.dataset.tab === tab;
      one.setAttribute("aria-selected", String(isIt));
      one.tabIndex = isIt ? 0 : -1;
    }
    this.page.replaceChildren(loading());
    this.load();
  }

  arrows(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = this.tabs[(this.tabs.findIndex((one) => one.dataset.tab === this.tab) + step + this.tabs.length) % this.tabs.length];
    this.show(next.dataset.tab);
    next.focus();
  }

  async load() {
    const tab = this.tab;
    try {
      const shown = await this[tab]();
      if (tab === this.tab && !this.closed) this.page.replaceChildren(...shown);
    } catch (error) {
      if (tab === this.tab && !this.closed) this.page.replaceChildren(failure(error, () => this.show(tab)));
    }
  }

  async waiting() {
    const { approvals } = await this.ctx.api("/api/approvals?state=pending");
    const tab = this.tabs[0];
    tab.replaceChildren(TABS.waiting, ...(approvals.length ? [" ", el("span", { class: "badge badge-error", text: approvals.length })] : []));
    if (!approvals.length) return [empty("shield", "Nothing waits for you", "When an agent wants to do something that your rules ask about, it appears here and on top of everything.")];
    // A card that a person is typing into stays as it is.
    const known = new Map([...this.page.querySelectorAll(".question[data-id]")].map((one) => [one.dataset.id, one]));
    return approvals.map((one) => known.get(one.id) ?? request(one, (answer) => this.answer(one, answer)));
  }

  async answer(one, answer) {
    try {
      await this.ctx.api("/api/approvals", { method: "POST", body: { id: one.id, ...answer } });
      this.ctx.toast(answer.approve ? "Allowed." : "Refused.", answer.approve ? "success" : "info");
    } catch (error) {
      this.ctx.fail(error, "Your answer did not arrive.");
    }
    await this.load();
    this.page.focus();
  }

  async history(before = null) {
    const { approvals, next } = await this.ctx.api(`/api/approvals?history=1&limit=30${before ? `&before=${before}` : ""}`);
    if (!approvals.length && !before) return [empty("clock", "No questions yet", "Every question and its answer is kept here.")];
    const more = next && el("button", { class: "btn approvals-more", text: "Older", on: { click: async () => more.replaceWith(...(await this.history(next))) } });
    return [...approvals.map(past), ...(more ? [more] : [])];
  }

  async remembered() {
    const [{ permissions }, { grants }] = await Promise.all([this.ctx.api("/api/permissions"), this.ctx.api("/api/grants")]);
    if (!permissions.length && !grants.length) return [empty("lock", "No answer is remembered", "When you choose to remember an answer, it is listed here and the same question is not asked again.")];
    return [el("p", { class: "quiet approvals-hint", text: "You are not asked again about these. Revoke one to be asked again." }),
      el("ul", { class: "permissions" }, grants.map((one) => this.grant(one)), permissions.map((one) => this.permission(one)))];
  }

  grant({ id, sentence }) {
    return el("li", { class: "card permission", dataset: { grant: id } },
      el("span", { class: "badge badge-success", text: "for a time" }),
      el("span", { text: sentence }),
      el("button", { class: "btn btn-sm btn-danger", "aria-label": `Revoke ${sentence}`, on: { click: () => this.revoke(`/api/grants?id=${encodeURIComponent(id)}`) } }, icon("trash"), "Revoke"));
  }

  permission({ key, allow }) {
    return el("li", { class: "card permission" },
      el("span", { class: `badge ${allow ? "badge-success" : "badge-error"}`, text: allow ? "allow" : "deny" }),
      el("code", { text: key }),
      el("button", { class: "btn btn-sm btn-danger", "aria-label": `Revoke ${key}`, on: { click: () => this.revoke(`/api/permissions?key=${encodeURIComponent(key)}`) } }, icon("trash"), "Revoke"));
  }

  async revoke(address) {
    try {
      await this.ctx.api(address, { method: "DELETE" });
    } catch (error) {
      this.ctx.fail(error, "It could not be revoked.");
    }
    await this.load();
  }

  tick() {
    for (const one of this.page.querySelectorAll("[data-expires]")) one.update();
  }

  close() {
    this.closed = true;
    clearInterval(this.timer);
    for (const off of this.offs) off();
  }
}
