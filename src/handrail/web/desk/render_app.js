// `app:NAME` windows. A built-in app is a module of the desk; a user's own is a stranger in a sandboxed frame.

import { appContext } from "./app_context.js";
import { AppFrame } from "./app_frame.js";
import { el } from "./element.js";
import { problem } from "./error_words.js";
import { icon } from "./icons.js";
import { tellLoaded } from "./render_page.js";

const NAME = /^[a-z][a-z0-9_-]{0,39}$/;

export class AppContent {
  #closed = false;

  constructor(root, shell, frame) {
    Object.assign(this, { root, shell, frame });
    frame.appContent = this;
  }

  async show(win) {
    const { data } = win.content;
    const [id, query = ""] = (typeof data === "string" ? data : data.url).slice("app:".length).split("?");
    const kept = Object.fromEntries(new URLSearchParams(query));
    if (this.app?.open && this.id === id) return this.app.open(kept);
    this.#leave();
    this.id = id;
    this.root.replaceChildren(el("div", { class: "empty", role: "status" }, el("p", { text: "Opening…" })));
    const app = await this.shell.appOf(id);
    if (this.#closed) return;
    if (!app || !NAME.test(id)) this.#missing(id, win);
    else if (app.builtIn) await this.#mount(id, kept);
    else this.#embed(app, win);
    return undefined;
  }

  async #mount(id, kept) {
    sheet(`/static/apps/${id}/app.css`);
    const place = el("div", { class: `app app-${id}` });
    try {
      const { default: mount } = await import(`/static/apps/${id}/app.js`);
      if (this.#closed) return;
      this.context = appContext(this.shell, this.frame, { ...kept, ...this.shell.takeOptions(this.frame.win.key) });
      this.root.replaceChildren(place);
      this.app = await mount(place, this.context.ctx);
      tellLoaded(this.shell, this.frame.win, null);
      if (this.#closed) this.#leave();
    } catch (error) {
      this.#failed(id, error);
      tellLoaded(this.shell, this.frame.win, error.message);
    }
  }

  #embed(app, win) {
    this.page = new AppFrame(this.shell, this.frame, app);
    this.root.replaceChildren(this.page.element);
    this.page.start(win);
  }

  /** Asked to open although it is: the app may look at the options itself, else it starts anew. */
  reopen() {
    if (this.app?.open) this.app.open(this.shell.takeOptions(this.frame.win.key) ?? {});
    else if (this.app) this.show(this.frame.win);
  }

  #missing(id, win) {
    tellLoaded(this.shell, win, `There is no app ${id}.`);
    this.root.replaceChildren(el("div", { class: "empty" }, icon("apps"), el("strong", { text: `There is no app “${id}”` }),
      el("p", { text: "Put a folder with app.json and index.html into the desk's apps folder, then refresh the apps." })));
  }

  #failed(id, error) {
    this.root.replaceChildren(el("div", { class: "empty", role: "alert" }, icon("alert"), problem({ code: error.code ?? "UNKNOWN", message: String(error) }, `${id} could not start.`),
      el("button", { type: "button", class: "btn", text: "Try again", on: { click: () => this.show(this.frame.win) } })));
  }

  get isForeign() { return Boolean(this.page); }

  selfCapture() { return this.page?.selfCapture() ?? null; }

  #leave() {
    this.app?.close?.();
    this.context?.end();
    this.page?.close();
    this.app = this.context = this.page = null;
  }

  close() {
    this.#closed = true;
    this.#leave();
  }
}

const sheets = new Set();
function sheet(href) {
  if (sheets.has(href)) return;
  sheets.add(href);
  document.head.append(el("link", { rel: "stylesheet", href }));
}
