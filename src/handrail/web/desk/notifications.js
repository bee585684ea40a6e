// Notifications: a card when one is new, and the centre where all of them stay until they are dismissed.

import { el } from "./element.js";
import { anyIcon, icon } from "./icons.js";

const CARD = 7_000; // ms
const MOST_CARDS = 3;

export class Notifications {
  #known = null;

  constructor(shell) {
    this.shell = shell;
    this.cards = document.getElementById("cards");
    this.list = el("div", { class: "centre-list" });
    this.clear = el("button", { type: "button", class: "btn btn-sm btn-ghost", text: "Clear all", on: { click: () => this.#clear() } });
    this.panel = el("aside", { id: "centre", class: "centre", hidden: true, tabindex: "-1", "aria-label": "Notifications" },
      el("header", {}, el("h2", { text: "Notifications" }), this.clear), this.list);
    document.body.append(this.panel);
    this.count = el("span", { class: "count", hidden: true });
    this.button = el("button", { type: "button", class: "btn-icon", dataset: { local: "" }, "aria-expanded": "false", "aria-controls": "centre",
      on: { click: () => this.toggle() } }, icon("bell"), this.count);
    this.panel.addEventListener("keydown", (event) => event.key === "Escape" && this.toggle(false));
    document.addEventListener("pointerdown", (event) => this.#outside(event));
    shell.store.watch((state, changed) => changed.fields.has("notifications") && this.#draw(state, changed));
    this.#draw(shell.state, { all: true });
  }

  toggle(open = this.panel.hidden) {
    this.panel.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open) this.cards.replaceChildren();
    (open ? this.panel : this.button).focus();
  }

  #outside({ target }) {
    if (this.panel.hidden || this.panel.contains(target) || this.button.contains(target)) return;
    this.panel.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  #draw({ notifications }, changed) {
    const count = notifications.length;
    this.count.hidden = count === 0;
    this.count.textContent = count > 99 ? "99+" : count;
    this.button.setAttribute("aria-label", count ? `Notifications, ${count}` : "Notifications");
    this.clear.hidden = count === 0;
    const held = this.panel.contains(document.activeElement);
    this.list.replaceChildren(...(count ? notifications.toReversed().map((one) => this.#item(one)) : [nothing()]));
    if (held && !this.panel.contains(document.activeElement)) this.panel.focus();
    this.#announce(notifications, changed.all);
  }

  #announce(notifications, quietly) {
    const texts = new Map(notifications.map((one) => [one.id, `${one.title}\n${one.body}`]));
    for (const card of [...this.cards.children]) texts.has(card.dataset.id) || card.remove();
    const fresh = this.#known && !quietly && this.panel.hidden
      ? notifications.filter((one) => this.#known.get(one.id) !== texts.get(one.id)) : [];
    for (const one of fresh) this.#card(one);
    this.#known = texts;
  }

  #card(one) {
    [...this.cards.children].find((card) => card.dataset.id === one.id)?.remove();
    const card = this.#item(one);
    card.dataset.id = one.id;
    this.cards.append(card);
    while (this.cards.children.length > MOST_CARDS) this.cards.firstElementChild.remove();
    setTimeout(() => card.remove(), CARD);
  }

  #item({ id, title, body, icon: name, agentId }) {
    const dismiss = el("button", { type: "button", class: "btn-icon", "aria-label": `Dismiss ${title}`,
      on: { click: () => this.shell.interact({ type: "notification.dismiss", id }) } }, icon("close"));
    return el("article", { class: "note" }, el("span", { class: "note-icon" }, anyIcon(name, "bell")),
      el("div", {}, el("strong", { text: title }), el("p", { text: body }), agentId ? el("small", { text: agentId }) : null), dismiss);
  }

  #clear() {
    const all = this.shell.state.notifications.map(({ id }) => ({ type: "notification.dismiss", id }));
    for (let at = 0; at < all.length; at += 100) this.shell.interact(...all.slice(at, at + 100));
  }
}

const nothing = () => el("div", { class: "empty" }, icon("bell"), el("strong", { text: "No notifications" }), el("p", { text: "Messages from agents appear here." }));
