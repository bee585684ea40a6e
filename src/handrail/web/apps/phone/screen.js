// The picture: newest frame on a canvas that keeps the phone's proportions, how often one comes and how late it is.

import { el } from "../../desk/element.js";
import { failure, loading } from "../panes.js";
import { moment } from "../words.js";

const PACE_MS = 2000; // over which frames are counted
const LATE_OF = 31; // frames of which the middle delay is told

export class Screen {
  constructor() {
    this.canvas = el("canvas", { class: "phone-canvas", tabindex: "0", role: "application",
      "aria-label": "Screen of the phone: a click taps, dragging swipes, keys type, Escape goes back" });
    this.glass = el("div", { class: "phone-glass" }, this.canvas);
    this.cover = el("div", { class: "phone-cover" }, loading("Waiting for the first picture…"));
    this.stage = el("div", { class: "phone-fit" }, this.glass, this.cover);
    this.pace = el("span", { class: "phone-pace" });
    this.size = { w: 1080, h: 2400 };
    this.arrivals = [];
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.stage);
    this.clear();
    this.timer = setInterval(() => this.tellPace(), 500);
  }

  /** Numbers of pictures begin again. */
  restart() {
    this.shown = 0;
    this.late = [];
    this.ahead = -Infinity; // of the server's clock before this page's, in milliseconds
  }

  clear() {
    this.restart();
    this.glass.hidden = true;
    this.cover.hidden = false;
    this.cover.replaceChildren(loading("Waiting for the first picture…"));
    this.arrivals = [];
    this.frames = 0;
  }

  /** Drawn in the order of arrival; a later one that is decoded first wins. */
  async show(header, blob) {
    const picture = await createImageBitmap(blob);
    if (header.n >= this.shown) this.draw(header, picture, picture.width, picture.height, "pictures");
    picture.close();
  }

  /** A picture or a frame of a video, now. */
  draw(header, picture, width, height, how) {
    this.shown = header.n;
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
    this.canvas.getContext("2d").drawImage(picture, 0, 0);
    this.late.push(Date.now() - Date.parse(header.ts));
    if (this.late.length > LATE_OF) this.late.shift();
    this.canvas.dataset.how = how;
    this.size = { w: header.w, h: header.h };
    this.glass.hidden = false;
    this.cover.hidden = true;
    this.frames += 1;
    this.canvas.dataset.frames = this.frames;
    this.arrivals.push(performance.now());
    this.shownAt = Date.now();
    this.fit();
    this.tellPace();
  }

  trouble(problem) {
    this.glass.hidden = true;
    this.cover.hidden = false;
    this.cover.replaceChildren(failure(problem));
  }

  fit() {
    const { clientWidth, clientHeight } = this.stage;
    const scale = Math.min(clientWidth / this.size.w, clientHeight / this.size.h);
    if (!(scale > 0)) return;
    this.glass.style.width = `${Math.floor(this.size.w * scale)}px`;
    this.glass.style.height = `${Math.floor(this.size.h * scale)}px`;
  }

  /** Where on the phone an event is, in its pixels. */
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const place = (at, start, length, pixels) =>
      Math.min(pixels - 1, Math.max(0, Math.round(((at - start) / length) * pixels)));
    return { x: place(event.clientX, box.left, box.width, this.size.w), y: place(event.clientY, box.top, box.height, this.size.h) };
  }

  offline(isOffline) {
    this.isOffline = isOffline;
    this.tellPace();
  }

  tellPace() {
    if (this.isOffline) {
      this.pace.textContent = this.shownAt ? `offline · picture of ${moment(this.shownAt)}` : "offline";
      return;
    }
    const now = performance.now();
    this.arrivals = this.arrivals.filter((at) => now - at < PACE_MS);
    const rate = this.arrivals.length / (PACE_MS / 1000);
    this.pace.textContent = this.glass.hidden ? "no picture" : rate > 1 ? `live · ${rate.toFixed(0)} frames/s${this.delay()}` : "live · no change";
    const by = this.canvas.dataset.how ?? "pictures";
    if (!this.glass.hidden && by === "pictures") this.pace.textContent += " · single pictures";
    this.pace.title = `Shown by ${by}${this.whyPictures ? `: ${this.whyPictures}` : ""}. The delay is from the desk's server to this page.`;
  }

  /** The server's clock, told by an answer that has just come: it was not later than this by then. */
  clock(told) {
    this.ahead = Math.max(this.ahead, Date.parse(told) - Date.now());
  }

  delay() {
    if (!this.late.length || this.ahead === -Infinity) return "";
    const middle = [...this.late].sort((a, b) => a - b)[this.late.length >> 1];
    this.canvas.dataset.late = Math.max(0, Math.round(middle + this.ahead));
    return ` · ${this.canvas.dataset.late} ms late`;
  }

  close() {
    clearInterval(this.timer);
    this.observer.disconnect();
  }
}
