// Settings: who is told of questions, the rules in words, remembered answers, phones, theme, home and versions.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { failure, loading } from "../panes.js";
import { deviceLink } from "./device_link.js";
import { notifications } from "../../pocket/notifications.js";
import { phones } from "./phones.js";
import { classes, remembered, rules } from "./rules.js";
import { about, agents, appearance } from "./about.js";

const PAGES = {
  notifications: ["bell", "Notifications"], rules: ["shield", "Rules"], remembered: ["lock", "Remembered"],
  phones: ["phone", "Phones"], agents: ["console", "Agents"], appearance: ["sun", "Appearance"], about: ["info", "About"],
};

export default function mount(root, ctx) {
  const app = new Settings(root, ctx);
  app.open(ctx.options ?? {});
  return app;
}

class Settings {
  constructor(root, ctx) {
    Object.assign(this, { root, ctx, ends: [] });
    this.page = el("div", { class: "settings-page", role: "tabpanel", tabindex: "-1" });
    this.tabs = Object.entries(PAGES).map(([name, [sign, label]]) => el("button", { type: "button", role: "tab", dataset: { tab: name }, on: { click: () => this.show(name) } }, icon(sign), el("span", { text: label })));
    const list = el("div", { class: "settings-list", role: "tablist", "aria-label": "Settings", "aria-orientation": "vertical", on: { keydown: (event) => this.arrows(event) } }, this.tabs);
    root.replaceChildren(el("div", { class: "settings" }, list, this.page));
    sheet("/static/pocket/pocket.css");
  }

  open({ tab = "notifications", ...options }) {
    this.show(tab, options);
  }

  async show(tab, options = {}) {
    this.tab = tab;
    for (const one of this.tabs) {
      const isIt = one.dataset.tab === tab;
      one.setAttribute("aria-selected", String(isIt));
      one.tabIndex = isIt ? 0 : -1;
      if (isIt) one.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    this.leave();
    this.page.replaceChildren(loading());
    try {
      const shown = await this[tab](options);
      if (tab === this.tab && !this.closed) this.page.replaceChildren(...shown);
    } catch (error) {
      if (tab === this.tab && !this.closed) this.page.replaceChildren(failure(error, () => this.show(tab)));
    }
  }

  arrows(event) {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = this.tabs[(this.tabs.findIndex((one) => one.dataset.tab === this.tab) + step + this.tabs.length) % this.tabs.length];
    this.show(next.dataset.tab);
    next.focus();
  }

  async notifications() {
    const card = notifications({ api: this.ctx.api });
    await card.refresh();
    return [heading("Notifications", "Decide from wherever you are: a device that is notified shows when an agent asks you for something."), card.element, deviceLink(this.ctx, (end) => this.ends.push(end))];
  }

  async rules() {
    const told = await this.ctx.api("/api/settings");
    return [heading("Rules", "The first rule of your file that matches decides. Where none does, the defaults below do."), ...rules(told.policy, this.ctx, () => this.show("rules")), ...classes(told.classes)];
  }

  remembered() { return remembered(this.ctx, heading, () => this.show("remembered")); }

  async phones(options) {
    return [heading("Phones", "Phones that agents may be given. A real one comes by cable or by a QR code, a simulated one lives in this server."), ...await phones(this.ctx, (end) => this.ends.push(end), options)];
  }

  async agents() { return [heading("Agents", "What you paste where your agent lives."), ...agents(await this.ctx.api("/api/settings"), this.ctx)]; }

  async appearance() { return [heading("Appearance", "For this browser."), appearance()]; }

  async about() { return [heading("About", "Where everything is, and which versions run."), ...about(await this.ctx.api("/api/settings"))]; }

  leave() {
    for (const end of this.ends.splice(0)) end();
  }

  close() {
    this.closed = true;
    this.leave();
  }
}

const heading = (title, text) => el("header", { class: "settings-head" }, el("h2", { text: title }), el("p", { class: "quiet", text }));

function sheet(href) {
  if (!document.querySelector(`link[href="${href}"]`)) document.head.append(el("link", { rel: "stylesheet", href }));
}
