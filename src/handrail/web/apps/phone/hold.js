// Who has the phone, and the way to take it or to give it back. Touching it is never silent about that.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";

export class Hold {
  constructor(ctx, device, changed) {
    this.ctx = ctx;
    this.device = device;
    this.changed = changed;
    this.yours = false;
    this.chip = el("span", { class: "badge phone-holder", role: "status", text: "…" });
    this.button = el("button", { class: "btn btn-primary", on: { click: () => this.turn() } });
    this.banner = el("div", { class: "notice notice-warn phone-banner", role: "alertdialog", "aria-label": "Take the phone over?", hidden: true },
      icon("alert"),
      el("span", { class: "notice-text" }),
      el("button", { class: "btn btn-sm btn-primary", text: "Take over", on: { click: () => this.post("take") } }),
      el("button", { class: "btn btn-sm", text: "Only watch", on: { click: () => { this.banner.hidden = true; } } }));
    this.label();
  }

  show(state) {
    this.yours = state.yours;
    const holder = state.holder?.holder;
    this.holder = holder;
    this.chip.className = `badge phone-holder ${state.yours ? "badge-success" : holder ? "badge-info" : ""}`;
    this.chip.textContent = state.yours ? "Yours: agents wait" : holder ? `Held by ${holder.kind} ${holder.label || holder.id}` : "Free";
    if (state.yours) this.banner.hidden = true;
    this.label();
  }

  unknown(error) {
    this.chip.className = "badge phone-holder badge-error";
    this.chip.textContent = error.code === "OFFLINE" ? "Offline" : error.message;
  }

  label() {
    this.button.textContent = this.yours ? "Hand back" : "Take over";
    this.button.classList.toggle("btn-primary", !this.yours);
  }

  /** Whether a touch may go out now; if not, the person is told what it would mean. */
  may() {
    if (this.yours) return true;
    const who = this.holder && this.holder.kind !== "person" ? `The ${this.holder.kind} ${this.holder.label || this.holder.id}` : "Any agent";
    this.banner.querySelector(".notice-text").textContent =
      `Touching this phone takes it over. ${who} has to wait until you hand it back; what you do is journalled as yours.`;
    this.banner.hidden = false;
    this.banner.querySelector("button").focus();
    return false;
  }

  turn() {
    return this.post(this.yours ? "hand-back" : "take");
  }

  async post(what) {
    this.button.disabled = true;
    try {
      const state = await this.ctx.api(`/api/phone/${encodeURIComponent(this.device())}/${what}`, { method: "POST", body: {} });
      this.changed(state);
    } catch (error) {
      this.ctx.toast(error.hint ? `${error.message} ${error.hint}` : error.message, "error");
    } finally {
      this.button.disabled = false;
    }
  }
}
