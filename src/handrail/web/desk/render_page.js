// A page from the web in a window, and the word to the agent whether it loaded.

import { el } from "./element.js";
import { icon } from "./icons.js";
import { narrowed, PageFrame } from "./page_frame.js";

export class Page {
  constructor(root, shell, frame) {
    Object.assign(this, { root, shell, frame });
  }

  async show(win) {
    const { data } = win.content;
    const address = typeof data === "string" ? data : data.url;
    const problem = refused(address);
    if (problem) return this.#failed(win, address, problem);
    const sandbox = narrowed(typeof data === "string" ? null : data.sandbox);
    this.page = new PageFrame(win.title || address, sandbox);
    const bar = el("div", { class: "page-bar" }, icon("globe"),
      el("span", { class: "page-address", text: address, title: address }),
      el("a", { class: "btn-icon", href: address, target: "_blank", rel: "noopener noreferrer", "aria-label": "Open in a tab of its own" }, icon("external")));
    this.root.replaceChildren(bar, this.page.element);
    const failed = await this.page.load(address);
    if (!failed) return this.#tell(win, null);
    return this.page.element.isConnected ? this.#failed(win, address, failed) : undefined;
  }

  #failed(win, address, problem) {
    this.root.replaceChildren(el("div", { class: "empty" }, icon("globe"), el("strong", { text: "This page can't be shown" }),
      el("p", { text: problem }), el("p", { class: "page-address", text: address })));
    this.#tell(win, problem);
  }

  #tell(win, error) { tellLoaded(this.shell, win, error); }

  selfCapture() { return this.page?.element.isConnected ? this.page.selfCapture() : null; }
}

const told = new Set();

/** Once per request: the agent waits for it; later loads of the same window concern nobody. */
export function tellLoaded(shell, { requestId, windowId }, error) {
  if (!requestId || told.has(requestId)) return;
  told.add(requestId);
  const outcome = error ? { success: false, error } : { success: true };
  shell.connection.send({ type: "RENDERING_FEEDBACK", requestId, windowId, kind: "iframe", ...outcome });
}

function refused(address) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return "It is no http or https address.";
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return "Only http and https pages are shown.";
  if (url.origin === location.origin) return "The desk does not show itself in a window.";
  return null;
}
