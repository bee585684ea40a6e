// Plain text, as written.

import { el } from "./element.js";

export class PlainText {
  constructor(root) {
    this.pre = el("pre", { class: "plain", tabindex: "0", role: "document", "aria-label": "Text" });
    root.classList.add("content-text");
    root.append(this.pre);
  }

  show({ content }) {
    const box = this.pre;
    const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
    box.textContent = content.data;
    if (atEnd && this.shown) box.scrollTop = box.scrollHeight;
    this.shown = true;
  }
}
