// A user's own app: a sandboxed frame on an opaque origin that talks to the desk in a few words of postMessage.
// {handrail: 1, type}: ready · send {text} · title {title} · open {app} · captured {id, image}
// The desk answers: init {app, theme} · theme {theme} · capture {id} · refused. Its manifest's `allow` says which count.

import { PageFrame, SANDBOX } from "./page_frame.js";
import { tellLoaded } from "./render_page.js";
import { watchTheme } from "./theme.js";

const LONGEST = 10_000; // characters of a message
const RATE = 10; // words a second; more is dropped

export class AppFrame {
  #ends = [];
  #heard = [];

  constructor(shell, frame, app) {
    Object.assign(this, { shell, frame, app });
    this.page = new PageFrame(app.name, SANDBOX.join(" "));
    this.element = this.page.element;
  }

  async start(win) {
    this.#ends.push(this.page.listen((message) => this.#hear(message)));
    this.#ends.push(watchTheme((theme) => this.page.post({ type: "theme", theme })));
    tellLoaded(this.shell, win, await this.page.load(this.app.url));
  }

  #hear(message) {
    const now = Date.now();
    this.#heard = [...this.#heard.filter((at) => now - at < 1_000), now];
    if (this.#heard.length > RATE) return;
    const { type } = message;
    if (type === "ready") this.page.post({ type: "init", app: this.app.id, theme: document.documentElement.dataset.theme });
    else if (this.app.allow?.includes(type)) this.#do(type, message);
    else if (type !== "captured") this.page.post({ type: "refused", refused: String(type), hint: "app.json's allow does not list it" });
  }

  #do(type, message) {
    const { shell, frame } = this;
    if (type === "send" && text(message.text)) shell.sayAbout(frame.win, message.text);
    else if (type === "title" && text(message.title)) frame.act("window.setTitle", { title: message.title });
    else if (type === "open" && shell.apps.has(message.app)) shell.openApp(message.app);
  }

  selfCapture() { return this.app.allow?.includes("capture") ? this.page.selfCapture() : null; }

  close() { this.#ends.forEach((end) => end()); }
}

const text = (value) => typeof value === "string" && value.trim() !== "" && value.length <= LONGEST;
