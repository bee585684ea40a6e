// Phone: the live screen of one device, and a person's hands on it. Composes the parts of this folder.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { empty, failure, loading } from "../panes.js";
import { Elements } from "./elements.js";
import { Hands } from "./hands.js";
import { Hold } from "./hold.js";
import { Marks } from "./marks.js";
import { Screen } from "./screen.js";
import { Story } from "./story.js";
import { Video } from "./video.js";
import { unwatch, watch } from "./watching.js";

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

export default function mount(root, ctx) {
  const phone = new Phone(root, ctx);
  phone.open();
  return { close: () => phone.close() };
}

class Phone {
  constructor(root, ctx) {
    this.root = root;
    this.ctx = ctx;
    this.device = null;
    this.offs = [];
  }

  async open() {
    this.root.replaceChildren(loading("Looking for phones…"));
    try {
      const { devices } = await this.ctx.api("/api/devices");
      const usable = devices.filter((one) => one.usable !== false && (one.state ?? "device") === "device");
      if (this.closed) return;
      if (!usable.length) return this.root.replaceChildren(noPhones(() => this.open()));
      this.build(usable);
      const wanted = this.ctx.options?.device;
      this.choose(usable.some((one) => one.serial === wanted) ? wanted : usable[0].serial);
    } catch (error) {
      if (!this.closed) this.root.replaceChildren(failure(error, () => this.open()));
    }
  }

  build(devices) {
    const send = (fields) => this.ctx.send({ type: "PHONE_INPUT", device: this.device, ...fields });
    this.screen = new Screen();
    this.video = new Video({
      draw: (header, frame) => this.drawn(header, frame),
      again: () => this.watches === "watch_video" && send({ control: "watch_video" }),
      gaveUp: () => this.byPictures(),
    });
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
    this.watching = () => this.watch(!document.hidden);
    document.addEventListener("visibilitychange", this.watching);
    this.timer = setInterval(() => this.refresh(), STATE_MS);
  }

  bar(devices) {
    this.picker = el("select", { class: "input", "aria-label": "Phone", on: { change: () => this.choose(this.picker.value) } },
      devices.map((one) => el("option", { value: one.serial, text: one.name ?? one.serial, title: one.serial })));
    this.stop = el("button", { class: "btn btn-danger", on: { click: () => this.stopAll() } }, icon("stop"), "Stop");
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

  async choose(device) {
    if (this.device) this.watch(false);
    this.device = this.serial = device;
    this.picker.value = device;
    this.screen.clear();
    this.marks.clear();
    this.story.clear();
    this.offFrames();
    this.offFrame = this.ctx.onFrame(device, (frame) => this.watches === "watch" && this.picture(frame));
    this.offVideo = this.ctx.onVideo(device, (frame) => this.watches === "watch_video" && this.moving(frame));
    this.kind = Video.isPossible ? "watch_video" : "watch";
    this.watch(!document.hidden);
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
    this.screen.offline(true);
    this.marks.forget();
  }

  /** Pictures come only while somebody can see them. */
  watch(on) {
    const kind = on ? this.kind : "";
    if (kind === (this.watches ?? "")) return;
    const send = (frame) => this.ctx.send(frame);
    if (this.watches) unwatch(send, this.device, this.watches);
    this.watches = kind;
    this.video.stop();
    if (kind) watch(send, this.device, kind);
  }

  /** The phone has no video, it may not be shown as one, or this browser can't read it. */
  byPictures() {
    this.kind = "watch";
    this.screen.restart();
    this.watch(Boolean(this.watches));
  }

  /** The server may be another one: what it knew of this page is gone, and it counts its pictures anew. */
  again() {
    this.isOffline = false;
    this.screen.offline(false);
    this.screen.restart();
    this.video.stop();
    if (this.watches) this.send({ control: this.watches });
    this.refresh();
  }

  moving({ header, data }) {
    if (header.problem?.code === "UNSUPPORTED") return this.byPictures();
    if (!header.problem) return this.video.feed(header, data);
    this.video.stop();
    return this.screen.trouble(header.problem);
  }

  drawn(header, frame) {
    this.screen.draw(header, frame, frame.displayWidth, frame.displayHeight, "video");
    this.marks.fit(header.w, header.h);
    if (this.showsRefs) this.lookSoon();
  }

  offFrames() {
    this.offFrame?.();
    this.offVideo?.();
  }

  async picture({ header, blob }) {
    if (header.problem) return this.screen.trouble(header.problem);
    await this.screen.show(header, blob);
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
    this.line.textContent = state.app ? `${state.app} · ${state.activity.split(".").pop()}` : "Nothing in front";
    this.line.title = this.serial;
    if (state.name && this.picker.selectedOptions[0]) this.picker.selectedOptions[0].textContent = state.name;
    this.questions();
  }

  heard(frame) {
    if (frame.device !== this.serial) return;
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
      const done = stopped ? `Stopped ${stopped} action${stopped > 1 ? "s" : ""}.` : "Nothing was being done here.";
      this.ctx.toast(`${done} The phone is held until you hand it back.`, "info");
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
    clearTimeout(this.looking);
    if (this.watching) document.removeEventListener("visibilitychange", this.watching);
    this.offFrames();
    this.video?.stop();
    for (const off of this.offs) off();
    if (this.device) this.watch(false);
    this.screen?.close();
    if (this.hold?.yours) this.ctx.toast("The phone is still yours: agents wait until you hand it back.", "warning");
  }
}

function noPhones(retry) {
  return empty("phone", "No phone is connected", "Plug one in with USB debugging, or start the desk with a simulated one:",
    el("code", { class: "pane-code", text: "handrail serve --sim 1" }),
    el("button", { class: "btn btn-sm", text: "Look again", on: { click: retry } }));
}
