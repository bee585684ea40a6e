// What a window shows: picks the renderer and gives it new data when the content's revision changes.

import { el } from "./element.js";
import { SafeHtml } from "./render_html.js";
import { PlainText } from "./render_text.js";
import { Table } from "./render_table.js";
import { Components } from "./render_component.js";
import { AppContent } from "./render_app.js";
import { Page } from "./render_page.js";

/** A renderer: `new (root, shell, frame)`, `show(win)` at each revision, `close()`. */
function rendererOf({ renderer, data }) {
  if (renderer === "markdown" || renderer === "html") return SafeHtml;
  if (renderer === "table") return Table;
  if (renderer === "component") return Components;
  if (renderer === "iframe") return addressOf(data).startsWith("app:") ? AppContent : Page;
  return PlainText;
}

const addressOf = (data) => (typeof data === "string" ? data : data?.url ?? "");

export class Content {
  #shown = null;
  #rev = null;
  #kind = null;

  constructor(shell, frame) {
    Object.assign(this, { shell, frame });
  }

  update(win) {
    if (this.#rev === win.contentRev && this.#shown) return this.#shown.changed?.(win);
    const kind = rendererOf(win.content);
    if (kind !== this.#kind) this.#begin(kind);
    this.#rev = win.contentRev;
    return this.#shown.show(win);
  }

  #begin(kind) {
    this.#shown?.close?.();
    const root = el("div", { class: "content" });
    this.frame.body.replaceChildren(root);
    this.#kind = kind;
    this.#shown = new kind(root, this.shell, this.frame);
  }

  /** Whether all that it shows is a page of somebody else. */
  get isForeign() { return this.#shown?.isForeign ?? false; }

  /** The picture a page inside made of itself, or null. */
  async selfCapture() { return (await this.#shown?.selfCapture?.()) ?? null; }

  close() {
    this.#shown?.close?.();
    this.#shown = null;
  }
}
