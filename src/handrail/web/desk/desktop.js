// The desktop itself: icons of apps and shortcuts. One of them is in the tab order; arrows walk the rest.

import { api } from "./api.js";
import { el } from "./element.js";
import { anyIcon } from "./icons.js";
import { openShortcut } from "./shortcuts.js";
import { showMenu } from "./menu.js";

const SHORTCUT_ICONS = { file: "file", url: "globe", action: "message" };

export class Desktop {
  #rev = null;

  constructor(shell) {
    this.shell = shell;
    this.list = el("ul", { class: "icons", "aria-label": "Apps and shortcuts" });
    this.list.addEventListener("keydown", (event) => this.#walk(event));
    document.getElementById("icons").append(this.list);
    shell.store.watch((state, changed) => this.#changed(state, changed));
  }

  #changed({ appsRev }, { fields }) {
    if (appsRev !== this.#rev) {
      this.#rev = appsRev;
      this.shell.appsRead = this.#read();
    } else if (fields.has("shortcuts") || fields.has("badges")) this.#draw();
  }

  async #read() {
    try {
      const { apps, problems = [] } = await api("/api/apps");
      this.shell.apps.clear();
      for (const app of apps) this.shell.apps.set(app.id, app);
      for (const { app, message } of problems) this.shell.fail({ code: "INVALID_ACTION", message }, `The app “${app}” is left out.`);
    } catch (error) {
      this.shell.fail(error, "The apps could not be listed.");
    }
    this.shell.gotApps();
    this.#draw();
  }

  /** What can be started, for the launcher too. */
  get entries() {
    const { apps, state } = this.shell;
    const started = [...apps.values()].map((app) => ({
      id: `app:${app.id}`, label: app.name, hint: app.description, badge: state.badges[app.id] ?? 0,
      picture: () => anyIcon(app.icon, "apps", /^\//.test(app.icon ?? "") ? "image" : app.iconType), run: () => this.shell.openApp(app.id),
    }));
    const shortcuts = state.shortcuts.map((one) => ({
      id: `shortcut:${one.id}`, label: one.label, hint: one.target, badge: 0, shortcut: one,
      picture: () => anyIcon(one.icon, SHORTCUT_ICONS[one.type], one.iconType), run: () => openShortcut(this.shell, one),
    }));
    return [...started, ...shortcuts];
  }

  #draw() {
    const focused = document.activeElement?.dataset?.entry;
    const entries = this.entries;
    this.list.replaceChildren(...entries.map((one, at) => el("li", {}, this.#button(one, at))));
    if (focused) [...this.list.querySelectorAll("button")].find((one) => one.dataset.entry === focused)?.focus();
  }

  #button(entry, at) {
    const { label, badge, hint } = entry;
    const name = badge ? `${label}, ${badge}` : label;
    const button = el("button", { type: "button", class: "desk-icon", title: hint, "aria-label": name, tabindex: at === 0 ? "0" : "-1",
      dataset: { entry: entry.id }, on: { click: entry.run } },
    el("span", { class: "desk-icon-picture" }, entry.picture(), badge ? el("span", { class: "count", text: badge > 99 ? "99+" : badge }) : null),
    el("span", { class: "desk-icon-label", text: label }));
    if (entry.shortcut) {
      button.dataset.kind = entry.shortcut.type;
      button.addEventListener("contextmenu", (event) => this.#menu(event, entry, button));
    }
    return button;
  }

  #menu(event, entry, button) {
    event.preventDefault();
    showMenu(button, entry.label, [
      { label: "Open", icon: "external", run: entry.run },
      { label: "Remove", icon: "trash", keys: "Delete", run: () => this.#remove(entry.shortcut) },
    ], { x: event.clientX, y: event.clientY });
  }

  #remove({ id }) { this.shell.interact({ type: "desktop.removeShortcut", shortcutId: id }); }

  #walk(event) {
    const all = [...this.list.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement);
    if (at < 0) return;
    const entry = this.entries[at];
    if (event.key === "Delete" && entry?.shortcut) return this.#remove(entry.shortcut);
    const to = neighbour(all, at, event.key);
    if (to === null) return;
    event.preventDefault();
    all[at].tabIndex = -1;
    all[to].tabIndex = 0;
    all[to].focus();
  }
}

/** The icon that lies nearest in the arrow's direction. */
function neighbour(all, at, key) {
  if (key === "Home") return 0;
  if (key === "End") return all.length - 1;
  const way = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[key];
  if (!way) return null;
  const middle = (one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  };
  const from = middle(all[at]);
  const ranked = all.map((one, index) => {
    const to = middle(one);
    const along = (to.x - from.x) * way[0] + (to.y - from.y) * way[1];
    const across = Math.abs((to.x - from.x) * way[1]) + Math.abs((to.y - from.y) * way[0]);
    return { index, along, far: along + 3 * across };
  }).filter(({ along }) => along > 4).sort((a, b) => a.far - b.far);
  return ranked[0]?.index ?? null;
}
