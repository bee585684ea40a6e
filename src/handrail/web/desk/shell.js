// What every part of the page shares: the state, the wire, the monitor this browser shows, and small deeds.

import { randomId } from "./element.js";
import { problem } from "./error_words.js";
import { placed, tiled } from "./geometry.js";

const PHONE = matchMedia("(max-width: 640px)");
const MONITOR_KEY = "handrail.monitor";

export class Shell {
  /** App manifests by id, filled by the icons; locally shown toasts, by the toasts. */
  apps = new Map();
  appsRead = Promise.resolve();
  showToast = () => {};
  reopen = () => {};
  uncover = () => {};
  gotApps = () => {};
  #options = new Map();

  constructor(store, connection, stage) {
    this.store = store;
    this.connection = connection;
    this.stage = stage;
    this.monitorId = sessionStorage.getItem(MONITOR_KEY);
  }

  get state() { return this.store.state; }

  /** At this width one window is shown at a time, as large as the screen. */
  get isPhone() { return PHONE.matches; }

  onWidth(watcher) { PHONE.addEventListener("change", watcher); }

  get monitor() {
    const { monitors, activeMonitor } = this.state;
    const wanted = this.monitorId ?? activeMonitor;
    return monitors.find((one) => one.id === wanted) ?? monitors[0] ?? { id: wanted, order: [], panels: [], focused: null };
  }

  get view() { return { w: this.stage.clientWidth, h: this.stage.clientHeight }; }

  /** Window actions by the person; they come back to every browser as the same actions. */
  interact(...interactions) {
    const filled = interactions.map((one) => ({ monitorId: this.monitor.id, ...one }));
    if (this.connection.send({ type: "USER_INTERACTION", interactions: filled })) return true;
    this.toast("Not connected: that was not done.", "warning");
    return false;
  }

  send(frame) {
    if (this.connection.send(frame)) return true;
    this.toast("Not connected: nothing was sent.", "warning");
    return false;
  }

  /** One window action on one window. */
  act(type, win, fields = {}) {
    return this.interact({ type, windowId: win.windowId, monitorId: win.monitorId, ...fields });
  }

  subscribe(monitorId = this.monitor.id) {
    this.monitorId = monitorId;
    sessionStorage.setItem(MONITOR_KEY, monitorId);
    // A phone shows every window at its own full width: its size must not squeeze everybody else's windows.
    const viewport = this.isPhone || this.view.w === 0 ? {} : { viewport: this.view };
    return this.connection.send({ type: "SUBSCRIBE_MONITOR", monitorId, ...viewport });
  }

  /** Opens a window, or brings the one with this id to the front. */
  open(windowId, title, content, { w = 520, h = 440 } = {}) {
    const known = this.state.windows[`${this.monitor.id}/${windowId}`];
    if (known) return this.act("window.focus", known);
    const view = this.isPhone ? this.monitor.viewport ?? { w: 1280, h: 720 } : this.view;
    const others = this.shown.map((win) => win.bounds);
    return this.interact({ type: "window.create", windowId, title, bounds: placed(w, h, view, others), content });
  }

  /** Windows that can be seen on this monitor, in their order from back to front. */
  get shown() {
    return this.monitor.order.map((key) => this.state.windows[key]).filter((win) => win && !win.minimized && win.variant === "standard");
  }

  /** Side by side, none over another. */
  tile() {
    const windows = this.shown;
    const places = tiled(windows.length, this.view);
    const moves = windows.flatMap((win, at) => [win.maximized && { type: "window.restore", windowId: win.windowId },
      { type: "window.move", windowId: win.windowId, x: places[at].x, y: places[at].y },
      { type: "window.resize", windowId: win.windowId, w: places[at].w, h: places[at].h }]);
    return windows.length ? this.interact(...moves.filter(Boolean)) : false;
  }

  /** `options.options` go to a built-in app's mount. */
  openApp(id, { options = null } = {}) {
    const { name = id, width: w = 560, height: h = 520 } = this.apps.get(id) ?? {};
    const key = `${this.monitor.id}/app-${id}`;
    if (options) this.#options.set(key, options);
    if (options && this.state.windows[key]) this.reopen(key);
    return this.open(`app-${id}`, name, { renderer: "iframe", data: `app:${id}` }, { w, h });
  }

  takeOptions(key) {
    const options = this.#options.get(key);
    this.#options.delete(key);
    return options ?? {};
  }

  /** The app's manifest, once the list has been read. */
  async appOf(id) {
    await this.appsRead;
    return this.apps.get(id);
  }

  say(content) {
    return this.send({ type: "USER_MESSAGE", messageId: randomId("m"), content, monitorId: this.monitor.id });
  }

  sayAbout(win, content) {
    const { windowId, monitorId } = win;
    return this.send({ type: "WINDOW_MESSAGE", messageId: randomId("m"), windowId, content, monitorId });
  }

  toast(message, variant = "info", action = null) { this.showToast({ message, variant, action }); }

  /** Something did not work: in words for people, with our own text behind a fold. */
  fail(error, about = "") { this.showToast({ message: `${about} ${error.code}`, variant: "error", body: problem(error, about) }); }
}
