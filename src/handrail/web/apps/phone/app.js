// Phone: the live screen of one device, and a person's hands on it. Composes the parts of this folder.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { empty, failure, loading } from "../panes.js";
import { Elements } from "./elements.js";
import { Hands } from "./hands.js";
import { Hold } from "./hold.js";
import { Marks } from "./marks.js";
import { Live } from "./live.js";
import { Story } from "./story.js";

const KEYS = [
  ["Back", "back", "M15 5l-8 7 8 7z"],
  ["Home", "home", "M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12z"],
  ["Recent apps", "recents", "M6.5 6.5h11v11h-11z"],
];
const WEB_KEYS = [
  ["Back", "back", "M15 5l-8 7 8 7z"],
  ["Forward", "KEYCODE_FORWARD", "M9 5l8 7-8 7z"],
  ["Reload", "KEYCODE_REFRESH", "M18 12a6 6 0 1 1-2-4.5M18 4v4h-4"],
];
const STATE_MS = 2000; // who has the phone may also change at a terminal
const LIST_MS = 3000; // a phone may be plugged in
const QUIET_MS = 4000; // of the phone that is shown, before another one's agent is followed
const FOLLOW = "follow";
const isUsable = (one) => one.usable !== false && (one.state ?? "device") === "device";

export default function mount(root, ctx) {
  const phone = new Phone(root, ctx);
  phone.open();
  return { close: () => phone.close(), open: ({ device }) => device && phone.choose(device) };
}

class Phone {
  constructor(root, ctx) {
    this.root = root;
    this.ctx = ctx;
    this.device = null;
    this.offs = [];
    this.follows = !ctx.options?.device; // an agent's phone, until somebody chooses one
    this.actedAt = 0;
  }

  async open() {
    this.root.replaceChildren(loading("Looking for phones…"));
    try {
      const { devices } = await this.ctx.api("/api/devices");
      const usable = devices.filter(isUsable);
      if (this.closed) return;
      if (!usable.length) {
        this.coming = setTimeout(() => this.open(), LIST_MS);
        return this.root.replaceChildren(noPhones(() => this.open()));
      }
      this.build(usable);
      const wanted = this.ctx.options?.device;
      const busy = usable.filter((one) => isAgent(one.held?.holder)).sort((a, b) => b.held.since.localeCompare(a.held.since));
      if (wanted && !usable.some((one) => one.serial === wanted)) this.gone(wanted, usable);
      this.showPhone(wanted && usable.some((one) => one.serial === wanted) ? wanted : (busy[0] ?? usable[0]).serial);
    } catch (error) {
      if (!this.closed) this.root.replaceChildren(failure(error, () => this.open()));
    }
  }

  build(devices) {
    const send = (fields) => this.ctx.send({ type: "PHONE_INPUT", device: this.device, ...fields });
    this.live = new Live(this.ctx, (header) => this.drawn(header));
    this.screen = this.live.screen;
    this.marks = new Marks(this.screen.glass);
    this.story = new Story();
    this.elements = new Elements((ref) => this.hands.act({ type: "tap", target: { ref } }));
    this.hold = new Hold(this.ctx, () => this.device, (state) => this.show(state));
    this.hands = new Hands(this.screen, (action) => send({ action }), () => !this.isOffline && this.hold.may());
    this.send = send;
    this.root.replaceChildren(this.bar(devices), this.hold.banner, this.body(), this.foot());
    this.offs = [
      this.ctx.on("ENVELOPE", (frame) => this.heard(frame)),
      this.ctx.on("open", () => this.again()),
      this.ctx.on("closed", () => this.offline()),
      this.ctx.onState((state, { fields }) => fields.has("approvals") && this.questions()),
    ];
    this.timer = setInterval(() => this.refresh(), STATE_MS);
    this.lists = setInterval(() => this.list(), LIST_MS);
  }

  bar(devices) {
    this.picker = el("select", { class: "input", "aria-label": "Phone", on: { change: () => this.pick(this.picker.value) } });
    this.fill(devices);
    this.stopName = el("span", { class: "phone-button-name" });
    this.stop = el("button", { class: "btn btn-danger", on: { click: () => this.stopAll() } }, icon("stop"), "Stop ", this.stopName);
    return el("div", { class: "app-bar" }, this.picker, this.hold.chip, el("span", { class: "grow" }), this.hold.button, this.stop);
  }

  body() {
    this.keys = el("div", { class: "phone-keys", role: "group" });
    this.showKeys("android");
    this.overlay = el("button", { class: "btn btn-sm", "aria-pressed": "false", title: "Show what agents can name on this screen", on: { click: () => this.toggleRefs() } }, icon("search"), "Elements");
    return el("div", { class: "phone-body" },
      el("div", { class: "phone-stage" }, this.screen.stage, el("div", { class: "phone-under" }, this.keys, this.overlay)),
      el("div", { class: "phone-side" }, this.story.section, this.elements.section));
  }

  /** A browser has no home, and is no phone. */
  showKeys(platform) {
    if (platform === this.platform) return;
    this.platform = this.hands.platform = platform;
    const isWeb = platform === "web";
    this.root.classList.toggle("is-web", isWeb);
    this.keys.setAttribute("aria-label", isWeb ? "Keys of the browser" : "Keys of the phone");
    this.keys.replaceChildren(...(isWeb ? WEB_KEYS : KEYS).map((key) => this.key(...key)));
  }

  key(label, name, path) {
    const picture = icon("menu");
    picture.firstChild.setAttribute("d", path);
    return el("button", { class: "btn-icon", "aria-label": label, title: label,
      on: { click: () => this.hands.act({ type: "press_key", key: name }) } }, picture);
  }

  foot() {
    this.line = el("span", { class: "phone-app", role: "status" });
    return el("div", { class: "phone-foot" }, this.line, this.screen.pace);
  }

  fill(devices) {
    const known = devices.map((one) => `${one.serial} ${one.name}`).join("\n");
    if (known === this.filled) return;
    this.filled = known;
    this.devices = devices;
    this.picker.replaceChildren(...devices.map((one) => el("option", { value: one.serial, text: one.name ?? one.serial, title: one.serial })),
      el("option", { value: FOLLOW, text: "Follow the agent" }));
    if (this.device) this.picker.value = this.device;
  }

  async list() {
    if (this.isOffline || document.hidden) return;
    const { devices } = await this.ctx.api("/api/devices").catch(() => ({ devices: [] }));
    if (!this.closed && devices.some(isUsable)) this.fill(devices.filter(isUsable));
  }

  /** The window's phone has left: another is never put in its place without a word. */
  gone(device, usable) {
    this.ctx.toast(`${device} is not connected. This window shows ${usable[0].name ?? usable[0].serial} instead.`, "warning");
  }

  pick(value) {
    if (value !== FOLLOW) return this.choose(value);
    this.follows = true;
    this.ctx.keep({});
    this.picker.value = this.device;
    this.tell();
    return undefined;
  }

  /** A person's choice: the window keeps it. */
  choose(device) {
    this.follows = false;
    this.ctx.keep({ device });
    if (device !== this.device) this.showPhone(device);
    else this.tell();
  }

  /** An agent begins to act on another phone than the one that is shown. */
  follow({ device, actor, envelope }) {
    if (!this.follows || envelope || !isAgent(actor) || device === this.serial || this.hold.yours) return;
    if (Date.now() - this.actedAt < QUIET_MS || !this.devices.some((one) => one.serial === device)) return;
    this.showPhone(device);
  }

  async showPhone(device) {
    this.device = this.serial = device;
    this.picker.value = device;
    this.marks.clear();
    this.story.clear();
    this.live.show(device);
    this.questions();
    await Promise.all([this.refresh(), this.remember()]);
    if (this.showsRefs) await this.look();
  }

  /** What was done on it before this page was opened. */
  async remember() {
    const device = this.device;
    try {
      const { actions } = await this.ctx.api(`/api/journal?${new URLSearchParams({ device, touches: "1", limit: String(this.story.kept) })}`);
      if (device === this.device && !this.closed) this.story.before(actions);
    } catch { /* the list fills as things happen */ }
  }

  /** While a question about this phone is open, what is under way waits for its answer. */
  questions() {
    this.story.asks(this.ctx.state().approvals.filter((one) => one.device === this.serial).length);
  }

  offline() {
    this.isOffline = true;
    this.hold.offline();
    this.marks.forget();
  }

  again() {
    this.isOffline = false;
    this.refresh();
  }

  drawn(header) {
    this.marks.fit(header.w, header.h);
    if (this.showsRefs) this.lookSoon();
  }

  async refresh() {
    if (this.isOffline) return;
    try {
      const device = this.device;
      const state = await this.ctx.api(`/api/phone/${encodeURIComponent(device)}/state`);
      if (device !== this.device || this.closed) return;
      this.screen.clock(state.now);
      this.show(state);
    } catch (error) {
      if (!this.closed && !this.isOffline) this.hold.unknown(error);
    }
  }

  show(state) {
    this.showKeys(state.platform ?? "android");
    this.serial = state.device; // as the engine names it; the list may know it by another name
    this.hold.show(state);
    this.root.classList.toggle("is-yours", this.hold.yours);
    this.name = state.name || state.device;
    this.tell();
    this.line.textContent = state.app ? `${state.app} · ${state.activity.split(".").pop()}` : "Nothing in front";
    this.line.title = this.serial;
    this.questions();
  }

  /** The phone's name and its agent's, wherever the window speaks of them. */
  tell() {
    const { holder } = this.hold;
    const agent = holder && isAgent(holder) ? ` · ${holder.label || holder.id}` : "";
    this.ctx.title(`Phone · ${this.name ?? this.device}${agent}`);
    this.hold.name = this.name ?? "";
    this.hold.shown = this.stopName.textContent = this.devices.length > 1 ? this.hold.name : ""; // which of them
    this.stop.hidden = Boolean(this.hold.stopped);
    this.stop.title = `Ends what is done on ${this.name} and holds it until it is handed back`;
    this.picker.title = this.follows ? "Follows the agent from phone to phone" : "Stays with this phone";
    this.hold.label();
  }

  heard(frame) {
    this.follow(frame);
    if (frame.device !== this.serial) return;
    if (isAgent(frame.actor)) this.actedAt = Date.now();
    if (frame.envelope) {
      this.ended(frame.envelope, frame.actor);
      if (frame.envelope.semantic !== "observation") this.refresh();
    } else {
      this.story.live(frame);
      this.marks.aimed(frame);
      if (frame.said && frame.said !== this.said) this.refresh();
      this.said = frame.said;
    }
  }

  ended(envelope, actor) {
    if (envelope.semantic === "observation") return this.story.over(envelope.action_id);
    this.story.ended(envelope, actor);
    return this.marks.acted(envelope);
  }

  async stopAll() {
    this.stop.disabled = true;
    try {
      const { stopped } = await this.ctx.api(`/api/phone/${encodeURIComponent(this.device)}/stop`, { method: "POST", body: {} });
      const ended = stopped ? ` ${stopped} action${stopped > 1 ? "s" : ""} ended.` : "";
      this.ctx.toast(`${this.name} is stopped.${ended} No agent acts on it until you hand it back.`, "info");
      this.ctx.stopped();
      this.refresh();
    } catch (error) {
      this.ctx.fail(error);
    } finally {
      this.stop.disabled = false;
    }
  }

  toggleRefs() {
    this.showsRefs = !this.showsRefs;
    this.overlay.setAttribute("aria-pressed", String(this.showsRefs));
    this.root.classList.toggle("shows-refs", this.showsRefs);
    if (this.showsRefs) this.look();
    else this.marks.refs([]);
  }

  /** Once the screen has been still for a moment. */
  lookSoon() {
    clearTimeout(this.looking);
    this.looking = setTimeout(() => this.look(), 350);
  }

  async look() {
    try {
      const tree = await this.ctx.api(`/api/phone/${encodeURIComponent(this.device)}/tree?fresh=1`);
      if (!this.showsRefs || this.closed) return;
      const { w, h } = this.screen.size; // the strip of a browser's tabs is below its picture
      this.marks.fit(tree.width, tree.width === w ? h : tree.height);
      this.marks.refs(tree.refs);
      this.elements.show(tree);
    } catch (error) {
      this.elements.trouble(error);
    }
  }

  close() {
    this.closed = true;
    clearInterval(this.timer);
    clearInterval(this.lists);
    clearTimeout(this.coming);
    clearTimeout(this.looking);
    for (const off of this.offs) off();
    this.live?.close();
    if (this.hold?.yours) this.ctx.toast("The phone is still yours: agents wait until you hand it back.", "warning");
  }
}

const isAgent = (actor) => Boolean(actor) && actor.kind !== "person";

function noPhones(retry) {
  return empty("phone", "No phone is connected", "Plug one in with USB debugging, or start the desk with a simulated one:",
    el("code", { class: "pane-code", text: "handrail serve --sim 1" }),
    el("button", { class: "btn btn-sm", text: "Look again", on: { click: retry } }));
}
