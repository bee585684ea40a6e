// Who has the phone, and the way to take it or to give it back. Touching it is never silent about that.

import { el } from "../../desk/element.js";
import { shortly } from "../../desk/error_words.js";
import { icon } from "../../desk/icons.js";
import { ago } from "../words.js";

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
      el("button", { class: "btn btn-sm", dataset: { local: "" }, text: "Only watch", on: { click: () => { this.banner.hidden = true; } } }));
    this.label();
  }

  show(state) {
    this.yours = state.yours && state.here;
    this.stopped = Boolean(state.holder?.stopped);
    this.elsewhere = state.yours && !state.here;
    const holder = this.holder = state.holder?.holder;
    const name = holder?.label || holder?.id;
    this.chip.className = `badge phone-holder ${this.yours ? "badge-success" : holder ? "badge-info" : ""}`;
    this.chip.textContent = this.yours ? yours(state.line ?? []) : this.elsewhere ? "Yours, in another browser"
      : this.stopped ? `Stopped by ${name}` : holder ? `Held by ${name}` : "Nobody has it";
    if (holder && !state.yours) this.chip.append(el("span", { class: "phone-since", text: ` · ${ago(state.holder.since)}` }));
    this.chip.title = (state.line ?? []).map((one, at) => `${at + 1}. ${one.name}, came ${ago(one.since)}`).join("\n");
    if (this.yours) this.banner.hidden = true;
    this.label();
  }

  unknown(error) {
    this.chip.className = "badge phone-holder badge-error";
    this.chip.textContent = shortly(error.code);
  }

  offline() {
    this.chip.className = "badge phone-holder";
    this.chip.textContent = "Offline";
    this.banner.hidden = true;
  }

  label() {
    const what = this.yours || this.stopped ? "Hand back" : this.elsewhere ? "Take over here:" : "Take over";
    this.button.replaceChildren(`${what} `, el("span", { class: "phone-button-name", text: this.shown ?? "" }));
    this.button.classList.toggle("btn-primary", !this.yours);
  }

  /** Whether a touch may go out now; if not, the person is told what it would mean. */
  may() {
    if (this.yours) return true;
    const who = this.holder && this.holder.kind !== "person" ? this.holder.label || this.holder.id : "Any agent";
    this.banner.querySelector(".notice-text").textContent =
      `Touching ${this.name || "this phone"} takes it over. ${who} waits until you hand it back; what you do is recorded as yours.`;
    this.banner.hidden = false;
    this.banner.querySelector("button").focus();
    return false;
  }

  turn() {
    return this.post(this.yours || this.stopped ? "hand-back" : "take");
  }

  async post(what) {
    this.button.disabled = true;
    try {
      const state = await this.ctx.api(`/api/phone/${encodeURIComponent(this.device())}/${what}`, { method: "POST", body: {} });
      this.changed(state);
    } catch (error) {
      this.ctx.fail(error);
    } finally {
      this.button.disabled = false;
    }
  }
}

function yours(line) {
  if (!line.length) return "Yours: agents wait";
  return line.length === 1 ? `Yours: ${line[0].name} waits` : `Yours: ${line.length} agents wait`;
}
