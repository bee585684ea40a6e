// The start menu: every app and shortcut, found by typing.

import { el } from "./element.js";

export class Launcher {
  constructor(shell, button, desktop) {
    Object.assign(this, { shell, button, desktop });
    this.search = el("input", { type: "search", class: "input", placeholder: "Find an app or shortcut", "aria-label": "Find an app or shortcut",
      on: { input: () => this.#draw() } });
    this.list = el("div", { class: "launcher-list" });
    this.panel = el("div", { class: "launcher", role: "dialog", "aria-label": "Start", hidden: true }, this.search, this.list);
    this.panel.addEventListener("keydown", (event) => this.#key(event));
    button.addEventListener("click", () => this.toggle());
    document.addEventListener("pointerdown", ({ target }) => {
      if (!this.panel.hidden && !this.panel.contains(target) && !button.contains(target)) this.toggle(false, false);
    });
    document.body.append(this.panel);
  }

  toggle(open = this.panel.hidden, refocus = true) {
    this.panel.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open) {
      this.search.value = "";
      this.#draw();
      this.search.focus();
    } else if (refocus) this.button.focus();
  }

  #draw() {
    const words = this.search.value.trim().toLowerCase();
    const found = this.desktop.entries.filter(({ label, hint }) => `${label} ${hint ?? ""}`.toLowerCase().includes(words));
    this.list.replaceChildren(...(found.length ? found.map((one) => this.#row(one)) : [el("p", { class: "launcher-none", text: "No app or shortcut matches." })]));
  }

  #row({ label, hint, badge, picture, run }) {
    const start = () => {
      this.toggle(false);
      run();
    };
    return el("button", { type: "button", class: "launcher-row", on: { click: start } }, picture(),
      el("span", {}, el("strong", { text: label }), hint ? el("small", { text: hint }) : null),
      badge ? el("span", { class: "count", text: badge }) : null);
  }

  #key(event) {
    if (event.key === "Escape") return this.toggle(false);
    const rows = [...this.list.querySelectorAll("button")];
    const at = rows.indexOf(document.activeElement);
    if (event.key === "Enter" && at < 0) {
      event.preventDefault(); // else it would press Start, which has the focus by then
      return rows[0]?.click();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return undefined;
    event.preventDefault();
    const to = at + (event.key === "ArrowDown" ? 1 : -1);
    return (to < 0 ? this.search : rows[Math.min(to, rows.length - 1)])?.focus();
  }
}
