// Studio: the live phone, the flow that is made on it, and what is on its screen or became of a run.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { empty, failure, loading } from "../panes.js";
import { Hands } from "../phone/hands.js";
import { Hold } from "../phone/hold.js";
import { Live } from "../phone/live.js";
import { startSimulated } from "../settings/phones.js";
import { Editor } from "./editor.js";
import { Hints } from "./hints.js";
import { Inspector } from "./inspector.js";
import { Keep } from "./keep.js";
import { Recorder } from "./recorder.js";
import { Result } from "./result.js";

const LIST_MS = 4000;
const STATE_MS = 2000;
const VIEWS = { phone: "Phone", steps: "Steps", elements: "Elements", run: "Run" };
const KEYS = [["Back", "back", "M15 5l-8 7 8 7z"], ["Home", "home", "M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12z"], ["Recent apps", "recents", "M6.5 6.5h11v11h-11z"]];
const isUsable = (one) => one.usable !== false && (one.state ?? "device") === "device";

export default function mount(root, ctx) {
  const studio = new Studio(root, ctx);
  studio.begin();
  return studio;
}

class Studio {
  constructor(root, ctx) {
    Object.assign(this, { root, ctx, devices: [], view: "steps", device: null });
    if (!document.querySelector('link[href="/static/apps/phone/app.css"]')) document.head.append(el("link", { rel: "stylesheet", href: "/static/apps/phone/app.css" }));
  }

  async begin() {
    this.root.replaceChildren(loading("Looking for phones…"));
    try {
      const { devices } = await this.ctx.api("/api/devices");
      if (this.closed) return;
      this.build();
      this.fill(devices.filter(isUsable));
      const wanted = this.ctx.options?.device;
      const first = this.devices.find((one) => one.serial === wanted) ?? this.devices[0];
      if (first) this.choose(first.serial);
      this.timer = setInterval(() => this.refresh(), STATE_MS);
      this.lists = setInterval(() => this.list(), LIST_MS);
      if (this.ctx.options?.file) await this.open(this.ctx.options);
      await this.files();
    } catch (error) {
      if (!this.closed) this.root.replaceChildren(failure(error, () => this.begin()));
    }
  }

  build() {
    this.live = new Live(this.ctx, () => this.isPointing && this.inspector.lookSoon());
    this.hold = new Hold(this.ctx, () => this.device, (state) => this.show(state));
    const send = (fields) => this.ctx.send({ type: "PHONE_INPUT", device: this.device, ...fields });
    this.send = send;
    this.hands = new Hands(this.live.screen, (action) => send({ action }), () => this.hold.may());
    this.hints = new Hints(this.ctx, () => this.inspector.words);
    this.editor = new Editor(this.ctx, { act: (part) => this.run(part), changed: () => this.buttons(), hints: this.hints });
    this.inspector = new Inspector(this.ctx, this.live.screen.glass, { use: (kind, named) => this.use(kind, named), copy: (text) => this.copy(text) });
    this.recorder = new Recorder(this.ctx, this.editor, () => this.buttons());
    this.result = new Result(this.ctx, { tell: (states) => this.editor.tell(states), heal: (text) => this.heal(text), over: (run) => this.over(run), goTo: (step) => { this.look("steps"); this.editor.goTo(this.editor.steps[step]?.line ?? 1); } });
    this.keep = new Keep(this.ctx, this.editor, (again) => { this.files(); if (again) this.run({}); });
    this.root.replaceChildren(this.bar(), this.hold.banner, el("div", { class: "studio" }, this.phonePane(), this.stepsPane(), this.sidePane()));
    this.offs = [this.ctx.on("ENVELOPE", (frame) => this.heard(frame)), this.ctx.on("open", () => this.refresh())];
    this.look("steps");
    this.side("elements");
    this.buttons();
  }

  bar() {
    this.picker = el("select", { class: "input", "aria-label": "Phone", on: { change: () => this.choose(this.picker.value) } });
    this.file = el("select", { class: "input studio-file", "aria-label": "Open a flow", on: { change: () => this.pick() } });
    this.views = el("div", { class: "tabs studio-views", role: "tablist", "aria-label": "View" }, Object.entries(VIEWS).map(([name, text]) =>
      el("button", { type: "button", role: "tab", dataset: { view: name }, text, on: { click: () => this.look(name) } })));
    return el("div", { class: "app-bar" }, this.picker, this.hold.chip, this.hold.button, el("span", { class: "grow" }), this.file, this.views);
  }

  phonePane() {
    this.point = el("button", { type: "button", class: "btn btn-sm", "aria-pressed": "false", title: "Point at an element: see what it is, and expect something of it", on: { click: () => this.pointAt(!this.isPointing) } }, icon("search"), "Point");
    this.record = el("button", { type: "button", class: "btn btn-sm studio-record", "aria-pressed": "false", on: { click: () => this.turn() } }, el("span", { class: "studio-dot" }), el("span", { text: "Record" }));
    const keys = el("div", { class: "phone-keys", role: "group", "aria-label": "Keys of the phone" }, KEYS.map(([label, name, path]) => {
      const sign = icon("menu");
      sign.firstChild.setAttribute("d", path);
      return el("button", { type: "button", class: "btn-icon", "aria-label": label, title: label, on: { click: () => this.hands.act({ type: "press_key", key: name }) } }, sign);
    }));
    this.none = el("div", { class: "studio-none", hidden: true }, empty("phone", "No phone is here yet", "Try a simulated one, or connect your own in Settings.",
      el("div", { class: "buttons" }, el("button", { type: "button", class: "btn btn-primary", text: "Start a simulated phone", on: { click: ({ currentTarget }) => this.simulate(currentTarget) } }),
        el("button", { type: "button", class: "btn", text: "Connect a phone", on: { click: () => this.ctx.open("settings", { tab: "phones" }) } }))));
    this.stage = el("div", { class: "studio-stage" }, this.live.screen.stage, el("div", { class: "studio-tools" }, this.record, this.point, keys), el("div", { class: "phone-foot" }, this.front = el("span", { class: "phone-app" }), this.live.screen.pace));
    return el("div", { class: "studio-phone app-phone", dataset: { pane: "phone" } }, this.none, this.stage);
  }

  stepsPane() {
    this.go = el("button", { type: "button", class: "btn btn-primary", title: "Run all steps (Ctrl+Enter)", on: { click: () => this.run({}) } }, icon("play"), "Run");
    this.start = el("button", { type: "button", class: "btn btn-sm btn-ghost", text: "New", on: { click: () => this.fresh() } });
    this.steps = el("span", { class: "quiet studio-steps-count" });
    this.hint = el("p", { class: "studio-hint quiet" });
    return el("div", { class: "studio-text", dataset: { pane: "steps" } },
      el("div", { class: "studio-textbar" }, this.go, this.steps, el("span", { class: "grow" }), this.start), this.hint, this.editor.element, this.keep.element);
  }

  sidePane() {
    this.tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Beside the steps" }, ["elements", "run"].map((name) =>
      el("button", { type: "button", role: "tab", dataset: { side: name }, text: VIEWS[name], on: { click: () => this.side(name) } })));
    return el("div", { class: "studio-side", dataset: { pane: "side" } }, this.tabs, this.inspector.element, this.result.element);
  }

  /** At a narrow width: which of the panes. */
  look(view) {
    this.view = view;
    this.root.dataset.view = view === "elements" || view === "run" ? "side" : view;
    for (const one of this.views.children) one.setAttribute("aria-selected", String(one.dataset.view === view));
    if (view === "elements" || view === "run") this.side(view);
  }

  side(name) {
    for (const one of this.tabs.children) one.setAttribute("aria-selected", String(one.dataset.side === name));
    this.inspector.element.hidden = name !== "elements";
    this.result.element.hidden = name !== "run";
    if (name === "elements" && this.device) this.inspector.look();
  }

  fill(devices) {
    this.devices = devices;
    const known = devices.map((one) => `${one.serial} ${one.name}`).join("\n");
    if (known === this.filled) return;
    this.filled = known;
    this.picker.replaceChildren(...devices.map((one) => el("option", { value: one.serial, text: one.name ?? one.serial, title: one.serial })));
    this.picker.hidden = !devices.length;
    if (this.device) this.picker.value = this.device;
    this.none.hidden = devices.length > 0;
    this.stage.hidden = !devices.length;
    this.hold.button.hidden = this.hold.chip.hidden = !devices.length;
  }

  async list() {
    if (document.hidden) return;
    const { devices } = await this.ctx.api("/api/devices").catch(() => ({ devices: null }));
    if (this.closed || !devices) return;
    this.fill(devices.filter(isUsable));
    if (!this.device && this.devices.length) this.choose(this.devices[0].serial);
  }

  async simulate(button) {
    await startSimulated({ ...this.ctx, open: () => {} }, button);
    await this.list();
  }

  choose(device) {
    if (this.recorder.isOn) this.turn();
    this.device = this.inspector.device = device;
    this.serial = device;
    this.picker.value = device;
    this.ctx.keep({ device });
    this.live.show(device);
    this.inspector.look();
    this.refresh();
    this.buttons();
  }

  async refresh() {
    const device = this.device;
    if (!device || document.hidden) return;
    const state = await this.ctx.api(`/api/phone/${encodeURIComponent(device)}/state`).catch((error) => this.hold.unknown(error));
    if (state && device === this.device && !this.closed) this.show(state);
  }

  show(state) {
    this.serial = this.recorder.serial = state.device;
    this.live.screen.clock(state.now);
    this.hold.name = state.name;
    this.hold.show(state);
    this.hands.platform = state.platform;
    this.stage.parentElement.classList.toggle("is-yours", this.hold.yours);
    this.front.textContent = state.app ?? "";
    this.ctx.title(`Studio · ${state.name || state.device}`);
  }

  heard({ device, envelope }) {
    if (device !== this.serial || !envelope) return;
    if (envelope.semantic !== "observation") this.inspector.lookSoon();
    if (!envelope.success && this.recorder.isOn && envelope.action_type?.startsWith("expect")) this.ctx.toast("That does not hold on this screen now, so it was not recorded.", "warning");
  }

  /** Starts or ends the recording. */
  async turn() {
    this.record.disabled = true;
    try {
      if (this.recorder.isOn) {
        await this.recorder.stop();
        this.pointAt(false);
        if (this.hold.yours) await this.hold.post("hand-back");
      } else {
        if (!this.hold.yours) await this.hold.post("take");
        await this.recorder.start(this.device, this.serial);
      }
    } catch (error) {
      this.ctx.fail(error, "The recording could not begin.");
    } finally {
      this.record.disabled = false;
      this.buttons();
    }
  }

  pointAt(on) {
    this.isPointing = on;
    this.inspector.pointing = on;
    this.point.setAttribute("aria-pressed", String(on));
    if (on) this.side("elements");
  }

  /** A step with the element that was pointed at. */
  async use(kind, named) {
    if (this.recorder.isOn) this.send({ action: named.actions[kind] });
    else if (kind === "tap" && this.hold.yours) this.hands.act(named.actions.tap);
    else await this.editor.append([named.steps[kind]]);
    this.pointAt(false);
  }

  buttons() {
    const { isOn } = this.recorder;
    const count = this.editor.steps.length;
    this.record.setAttribute("aria-pressed", String(isOn));
    this.record.lastChild.textContent = isOn ? "Stop recording" : "Record";
    this.root.classList.toggle("is-recording", isOn);
    this.go.disabled = !count || !this.device;
    this.steps.textContent = count ? `${count} step${count > 1 ? "s" : ""}` : "";
    this.start.hidden = !this.editor.text.trim();
    this.hint.textContent = isOn ? "Use the phone: click, type, drag. Press Point to expect something." : count ? "" : this.device ? "Press Record and use the phone, or write steps here." : "Connect a phone first.";
    this.hint.hidden = !this.hint.textContent;
  }

  async run(part) {
    if (this.recorder.isOn) await this.turn();
    if (this.hold.yours) await this.hold.post("hand-back");
    if (!await this.editor.check()) return;
    this.pointAt(false);
    this.look(this.root.clientWidth < 760 ? "run" : this.view);
    this.side("run");
    try {
      await this.result.start({ text: this.editor.full, file: this.keep.file ?? "", device: this.device, pauses: [...this.editor.pauses], ...part });
    } catch (error) {
      this.ctx.fail(error, "The flow could not be started.");
    }
  }

  over(run) {
    this.files();
    if (run.outcome === "failed") this.inspector.look();
  }

  heal(text) {
    this.editor.full = text;
    this.editor.check();
    this.ctx.toast("Healed. Run it again, then save it.", "success");
  }

  async files() {
    const { flows } = await this.ctx.api("/api/flows").catch(() => ({ flows: [] }));
    this.file.replaceChildren(el("option", { value: "", text: "Open a flow…" }), ...flows.map((one) => el("option", { value: one.file, text: one.name, title: one.file })));
    this.file.hidden = !flows.length;
    this.file.value = this.keep.file ?? "";
  }

  async pick() {
    if (this.file.value) await this.keep.open(this.file.value).catch((error) => this.ctx.fail(error));
    this.result.nothing();
  }

  async open({ file, device }) {
    if (device && device !== this.device && this.devices.some((one) => one.serial === device)) this.choose(device);
    if (file && file !== this.keep.file) await this.keep.open(file).catch((error) => this.ctx.fail(error));
  }

  fresh() {
    this.keep.fresh();
    this.editor.pauses.clear();
    this.editor.full = "";
    this.editor.check();
    this.file.value = "";
    this.result.nothing();
  }

  copy(text) {
    navigator.clipboard.writeText(text).then(() => this.ctx.toast("Copied.", "success"), () => this.ctx.toast("This browser does not let pages copy.", "warning"));
  }

  close() {
    this.closed = true;
    clearInterval(this.timer);
    clearInterval(this.lists);
    for (const off of this.offs ?? []) off();
    for (const part of [this.recorder, this.inspector, this.result, this.live]) part?.close();
    if (this.hold?.yours) this.hold.post("hand-back");
  }
}
