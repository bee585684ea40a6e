// A phone's picture as it comes: by video where the phone and this browser can, else by single pictures, and why.

import { Screen } from "./screen.js";
import { Video } from "./video.js";
import { unwatch, watch } from "./watching.js";

const NO_DECODER = "this browser decodes no video for pages";
const BROKEN = "this browser could not decode the phone's video";

export class Live {
  /** `drawn(header)` after each picture, on `screen`. */
  constructor(ctx, drawn) {
    Object.assign(this, { ctx, onDrawn: drawn, device: null, watches: "" });
    this.screen = new Screen();
    this.video = new Video({
      draw: (header, frame) => this.#draw(header, frame),
      again: () => this.watches === "watch_video" && this.#send("watch_video"),
      gaveUp: () => this.#byPictures(BROKEN),
    });
    this.offs = [ctx.on("open", () => this.#again()), ctx.on("closed", () => this.screen.offline(true))];
    this.visible = () => this.watch(!document.hidden);
    document.addEventListener("visibilitychange", this.visible);
  }

  show(device) {
    if (this.device) this.watch(false);
    this.device = device;
    this.screen.clear();
    this.#offFrames();
    this.offFrame = this.ctx.onFrame(device, (frame) => this.watches === "watch" && this.#picture(frame));
    this.offVideo = this.ctx.onVideo(device, (frame) => this.watches === "watch_video" && this.#moving(frame));
    this.kind = Video.isPossible ? "watch_video" : "watch";
    this.screen.whyPictures = Video.isPossible ? "" : NO_DECODER;
    this.watch(!document.hidden);
  }

  /** Pictures come only while somebody can see them. */
  watch(on) {
    const kind = on ? this.kind : "";
    if (kind === this.watches) return;
    const send = (frame) => this.ctx.send(frame);
    if (this.watches) unwatch(send, this.device, this.watches);
    this.watches = kind;
    this.video.stop();
    if (kind) watch(send, this.device, kind);
  }

  #send(control) { this.ctx.send({ type: "PHONE_INPUT", device: this.device, control }); }

  #byPictures(why) {
    this.kind = "watch";
    this.screen.whyPictures = why;
    this.screen.restart();
    this.watch(Boolean(this.watches));
  }

  /** The server may be another one: what it knew of this page is gone, and it counts its pictures anew. */
  #again() {
    this.screen.offline(false);
    this.screen.restart();
    this.video.stop();
    if (this.watches) this.#send(this.watches);
  }

  #moving({ header, data }) {
    if (header.problem?.code === "UNSUPPORTED") return this.#byPictures(header.problem.message);
    if (!header.problem) return this.video.feed(header, data);
    this.video.stop();
    return this.screen.trouble(header.problem);
  }

  #draw(header, frame) {
    this.screen.draw(header, frame, frame.displayWidth, frame.displayHeight, "video");
    this.onDrawn(header);
  }

  async #picture({ header, blob }) {
    if (header.problem) return this.screen.trouble(header.problem);
    await this.screen.show(header, blob);
    return this.onDrawn(header);
  }

  #offFrames() {
    this.offFrame?.();
    this.offVideo?.();
  }

  close() {
    document.removeEventListener("visibilitychange", this.visible);
    this.#offFrames();
    this.video.stop();
    for (const off of this.offs) off();
    if (this.device) this.watch(false);
    this.screen.close();
  }
}
