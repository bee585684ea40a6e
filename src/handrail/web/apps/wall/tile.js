// One phone on the wall: its live picture, its name, who works on it, what was done last.

import { el } from "../../desk/element.js";
import { shortly } from "../../desk/error_words.js";
import { icon } from "../../desk/icons.js";
import { unwatch, watch } from "../phone/watching.js";
import { ago, ended, spaced, toneOf, who } from "../words.js";

const LONGEST = 40; // characters of a name

export class Tile {
  constructor(ctx, phone, { enlarge, renamed }) {
    Object.assign(this, { ctx, device: phone.device, renamed, shown: 0 });
    this.canvas = el("canvas", { class: "tile-canvas", hidden: true });
    this.cover = el("span", { class: "tile-cover", text: "Waiting for a picture…" });
    this.screen = el("button", { class: "tile-screen", on: { click: enlarge } }, this.canvas, this.cover);
    this.name = el("strong", { class: "tile-name" });
    this.edit = el("button", { class: "btn-icon tile-edit", on: { click: () => this.rename() } }, icon("edit"));
    this.head = el("header", { class: "tile-head" }, this.name, this.edit);
    this.more = el("p", { class: "tile-more quiet" });
    this.dot = el("span", { class: "dot" });
    this.agent = el("b");
    this.last = el("span");
    this.end = el("span", { class: "tile-end quiet" });
    this.line = el("p", { class: "tile-last", role: "status" }, this.dot, el("span", { class: "tile-words" }, this.agent, this.last), this.end);
    this.question = el("button", { class: "btn btn-sm btn-primary tile-question", hidden: true, on: { click: () => ctx.open("approvals", {}) } }, icon("shield"), el("span"));
    this.buttons = el("div", { class: "buttons tile-buttons", hidden: true },
      el("button", { class: "btn btn-sm btn-primary", on: { click: () => ctx.open("phone", { device: phone.serial }) } }, icon("phone"), "Open and take over"),
      el("button", { class: "btn btn-sm", text: "Back to all phones", on: { click: enlarge } }));
    this.element = el("div", { class: "tile", role: "listitem", dataset: { device: phone.device } },
      this.screen, el("div", { class: "tile-text" }, this.head, this.more, this.line, this.question, this.buttons));
    this.offFrame = ctx.onFrame(phone.device, (frame) => this.picture(frame));
  }

  show(phone) {
    this.phone = phone;
    if (!this.form) this.name.textContent = phone.name;
    this.name.title = phone.serial;
    this.edit.setAttribute("aria-label", `Rename ${phone.name}`);
    this.edit.title = "Rename";
    this.screen.setAttribute("aria-label", `${this.isLarge ? "Make smaller" : "Enlarge"}: ${phone.name}`);
    this.more.textContent = [phone.given ? phone.model : null, phone.android && `Android ${phone.android}`, this.isLarge || !phone.android ? phone.serial : null].filter(Boolean).join(" · ");
    if (!this.isBusy) this.idle();
  }

  /** Who did what last, and how it ended. */
  idle() {
    const { last, held } = this.phone;
    this.element.classList.remove("is-busy");
    this.dot.className = `dot ${last ? `dot-${toneOf(last.state, last.failure_code)}` : ""}`;
    this.agent.textContent = last ? who(last.actor) : "";
    const end = last?.failure_code ? shortly(last.failure_code) : ended(last?.state);
    this.last.textContent = last ? ` ${spaced(last.type)}${last.about ? ` “${last.about}”` : ""}` : "Nothing was done here yet";
    this.end.textContent = last ? `${end} · ${ago(last.at_ms)}` : "";
    this.line.title = [last?.reason, held ? `${held.stopped ? "Stopped" : "Held"} by ${held.holder?.label || held.holder?.id}` : ""].filter(Boolean).join("\n");
  }

  /** An action is under way. */
  doing(frame) {
    clearTimeout(this.isBusy);
    this.isBusy = setTimeout(() => { this.isBusy = null; this.idle(); }, 2500);
    this.element.classList.add("is-busy");
    this.dot.className = "dot dot-info";
    this.agent.textContent = who(frame.actor);
    this.last.textContent = ` ${spaced(frame.actionType)}…`;
    this.end.textContent = "now";
  }

  asks(count) {
    this.question.hidden = !count;
    this.element.classList.toggle("is-asking", Boolean(count));
    this.question.lastElementChild.textContent = count === 1 ? "Asks for your approval" : `${count} questions for you`;
  }

  async picture({ header, blob }) {
    if (header.problem) return this.trouble();
    const shot = await createImageBitmap(blob);
    if (header.n < this.shown) return shot.close();
    this.shown = header.n;
    [this.canvas.width, this.canvas.height] = [shot.width, shot.height];
    this.canvas.getContext("2d").drawImage(shot, 0, 0);
    this.canvas.dataset.frames = Number(this.canvas.dataset.frames ?? 0) + 1;
    shot.close();
    this.canvas.hidden = false;
    this.cover.hidden = true;
    return this.element.classList.toggle("is-wide", this.canvas.width > this.canvas.height);
  }

  trouble(text = "No picture") {
    this.canvas.hidden = true;
    this.cover.hidden = false;
    this.cover.textContent = text;
  }

  offline() {
    this.trouble("Offline");
  }

  /** The server may be another one, and counts its pictures anew. */
  again() {
    this.shown = 0;
    if (this.watches) this.ctx.send({ type: "PHONE_INPUT", device: this.device, control: "watch" });
  }

  visible(is) {
    this.isVisible = is;
    this.watch();
  }

  /** Pictures come only while somebody can see them. */
  watch(on = Boolean(this.isVisible) && !document.hidden) {
    if (on === Boolean(this.watches)) return;
    this.watches = on;
    (on ? watch : unwatch)((frame) => this.ctx.send(frame), this.device);
  }

  enlarged(is) {
    this.isLarge = is;
    this.element.classList.toggle("is-large", is);
    this.buttons.hidden = !is;
    if (this.phone) this.show(this.phone);
  }

  rename() {
    if (this.form) return;
    const box = el("input", { class: "input tile-input", maxlength: LONGEST, "aria-label": "Name of this phone", value: this.phone.given, placeholder: this.phone.name });
    const done = () => { this.form = null; this.head.replaceChildren(this.name, this.edit); this.edit.focus(); };
    this.form = el("form", { class: "tile-form", on: {
      submit: (event) => { event.preventDefault(); this.give(box.value.trim(), done); },
      keydown: (event) => { if (event.key === "Escape") { event.stopPropagation(); done(); } },
    } }, box, el("button", { class: "btn btn-sm btn-primary", text: "Save" }));
    this.head.replaceChildren(this.form);
    box.select();
    box.focus();
  }

  async give(name, done) {
    try {
      await this.ctx.api(`/api/phone/${encodeURIComponent(this.device)}/name`, { method: "POST", body: { name } });
      done();
      this.renamed();
    } catch (error) {
      this.ctx.fail(error, "This name can't be used: another device has it, or it can't be seen.");
    }
  }

  close() {
    clearTimeout(this.isBusy);
    this.offFrame();
    this.watch(false);
  }
}
