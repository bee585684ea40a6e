// A page from the web in a window, and the word to the agent whether it loaded. A page of this machine or of a
// private network is loaded when a person says so: once for each address, window and visit of the desk.

import { api } from "./api.js";
import { el } from "./element.js";
import { whatFailed } from "./error_words.js";
import { icon } from "./icons.js";
import { narrowed, PageFrame } from "./page_frame.js";

const THINK_TIME = 700; // ms before a yes counts: nobody clicks what appeared under their finger

export class Page {
  #allowed = new Set();
  #wanted = null;

  constructor(root, shell, frame) {
    Object.assign(this, { root, shell, frame });
  }

  async show(win) {
    const { data } = win.content;
    const given = typeof data === "string" ? data : data.url;
    const problem = refused(given);
    this.#wanted = null;
    if (problem) return this.#failed(win, given, problem);
    const address = this.#wanted = new URL(given).href; // as the browser reads it: that is what is asked about and loaded
    const ask = this.#allowed.has(address) ? null : await whyAsk(address);
    if (this.#wanted !== address || !this.root.isConnected) return undefined; // another page came meanwhile
    return ask ? this.#ask(win, address, ask) : this.#load(win, address);
  }

  #ask(win, address, why) {
    const choice = (text, act) => el("button", { type: "button", class: "btn", text, disabled: true, on: { click: (event) => {
      if (event.isTrusted && this.#wanted === address) act();
    } } });
    const yes = choice("Show it", () => { this.#allowed.add(address); this.#load(win, address); });
    const no = choice("Leave it closed", () => this.#failed(win, address, "A person said no."));
    setTimeout(() => { yes.disabled = no.disabled = false; }, THINK_TIME);
    this.root.replaceChildren(el("div", { class: "empty", role: "group", "aria-label": "A page that needs your yes" }, icon("shield"),
      el("strong", { text: "This page is on this machine or in a private network" }), el("p", { text: why }),
      el("p", { class: "page-address", text: address }),
      el("div", { class: "btn-row" }, yes, no)));
    tellLoaded(this.shell, win, `${why} A person has to say yes first.`, { waitsForPerson: true });
  }

  async #load(win, address) {
    const { data } = win.content;
    const sandbox = narrowed(typeof data === "string" ? null : data.sandbox);
    this.page = new PageFrame(win.title || address, sandbox);
    const bar = el("div", { class: "page-bar" }, icon("globe"),
      el("span", { class: "page-address", text: address, title: address }),
      el("a", { class: "btn-icon", href: address, target: "_blank", rel: "noopener noreferrer", "aria-label": "Open in a new tab" }, icon("external")));
    this.root.replaceChildren(bar, this.page.element);
    const frame = this.page.element;
    // The browser fires `load` for its own error page, too: only the server can tell whether there is a page.
    const [late, problem] = await Promise.all([this.page.load(address), whyEmpty(address)]);
    if (!frame.isConnected || this.page.element !== frame) return undefined;
    return problem ?? late ? this.#failed(win, address, problem ?? late) : tellLoaded(this.shell, win, null);
  }

  #failed(win, address, problem) {
    this.root.replaceChildren(el("div", { class: "empty" }, icon("globe"), el("strong", { text: "This page can't be shown" }),
      el("p", { text: problem }), el("p", { class: "page-address", text: address })));
    tellLoaded(this.shell, win, problem);
  }

  get isForeign() { return this.page?.element.isConnected ?? false; }

  selfCapture() { return this.page?.element.isConnected ? this.page.selfCapture() : null; }
}

/** Null for a page of the open internet, else what a person should know; the server has looked at the address. */
async function whyAsk(address) {
  try {
    const { asks, why } = await api(`/api/frames?${new URLSearchParams({ url: address })}`);
    return asks ? why : null;
  } catch (error) {
    return `Where this page is could not be found out. ${whatFailed(error.code)}`;
  }
}

/** Why the frame would be empty; null where it would not be, or nobody could find out. */
async function whyEmpty(address) {
  return api(`/api/frames/problem?${new URLSearchParams({ url: address })}`).then(({ problem }) => problem, () => null);
}

/** What became of the page of a window. The server tells the agent of the first outcome and of every other one. */
export function tellLoaded(shell, { requestId, windowId }, error, more = {}) {
  if (!requestId) return;
  const outcome = error ? { success: false, error, ...more } : { success: true };
  shell.connection.send({ type: "RENDERING_FEEDBACK", requestId, windowId, kind: "iframe", ...outcome });
}

function refused(address) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return "It is not an http or https address.";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return "Only http and https pages are shown.";
  if (url.origin === location.origin) return "The desk does not show itself in a window.";
  return null;
}
