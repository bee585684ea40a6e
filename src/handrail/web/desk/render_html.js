// Markdown and HTML. The server makes them safe; this page fetches the safe text by revision and puts it into a
// shadow root, where neither its styles nor its ids reach the desk. A second fence drops what must never be there.

import { whatFailed } from "./error_words.js";
import { el } from "./element.js";
import { get } from "./api.js";
import { icon, isOwnPicture } from "./icons.js";
import { fill } from "./pictures.js";

const FORBIDDEN = "script,style,link,meta,base,iframe,frame,object,embed,form,input,button,textarea,select,template,svg,math,dialog,portal";
let sheet = null;

/** One parsed stylesheet for every shadow root. */
async function prose() {
  sheet ??= fetch("/static/prose.css").then(async (answer) => {
    const made = new CSSStyleSheet();
    made.replaceSync(await answer.text());
    return made;
  });
  return sheet;
}

export class SafeHtml {
  #busy = false;
  #wanted = null;
  #closed = false;

  constructor(root, shell, frame) {
    this.box = el("div", { class: "prose", tabindex: "0", role: "document", "aria-label": "Document" });
    this.shadow = this.box.attachShadow({ mode: "open" });
    this.frame = frame;
    root.append(this.box);
    prose().then((one) => { this.shadow.adoptedStyleSheets = [one]; });
  }

  /** One request at a time; revisions that came meanwhile are skipped but for the newest. */
  show(win) {
    this.#wanted = win;
    if (!this.#busy) this.#fetch();
  }

  async #fetch() {
    this.#busy = true;
    while (this.#wanted && !this.#closed) {
      const win = this.#wanted;
      this.#wanted = null;
      const query = new URLSearchParams({ key: win.key, rev: win.contentRev });
      try {
        const answer = await get(`/api/windows/html?${query}`);
        this.#put(await answer.text());
      } catch (error) {
        if (!this.#wanted) this.#failed(win, error);
      }
    }
    this.#busy = false;
  }

  #put(text) {
    const { box } = this;
    const atEnd = this.filled && box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
    const parsed = new DOMParser().parseFromString(text, "text/html");
    fence(parsed.body);
    const isEmpty = !parsed.body.textContent.trim() && !parsed.body.querySelector("img, hr");
    const article = el("article", {}, ...document.adoptNode(parsed.body).childNodes);
    this.shadow.replaceChildren(isEmpty ? nothing() : article);
    this.filled = true;
    box.dataset.rev = this.frame.win.contentRev;
    if (atEnd && box.scrollHeight > box.clientHeight) box.scrollTop = box.scrollHeight;
  }

  #failed(win, error) {
    const again = el("button", { type: "button", class: "again", text: "Try again", on: { click: () => this.show(win) } });
    this.shadow.replaceChildren(
      el("div", { class: "state" }, icon("alert"), el("strong", { text: "This text could not be loaded" }),
        el("p", { text: whatFailed(error.code) }), again));
  }

  close() { this.#closed = true; }
}

const nothing = () => el("div", { class: "state" }, icon("file"), el("strong", { text: "Nothing here yet" }));

function fence(body) {
  for (const bad of body.querySelectorAll(FORBIDDEN)) bad.remove();
  for (const one of body.querySelectorAll("*")) {
    for (const { name } of [...one.attributes]) if (/^on|^style$|^srcset$|^id$|^name$|^ping$/i.test(name)) one.removeAttribute(name);
    const source = one.getAttribute("src");
    for (const name of ["src", "poster", "background"]) one.removeAttribute(name);
    if (one.tagName === "IMG" && source !== null && isOwnPicture(source)) fill(one, source);
    const href = one.getAttribute("href");
    if (href === null) continue;
    if (!/^(https?:|mailto:)/i.test(href.trim())) one.removeAttribute("href");
    one.setAttribute("target", "_blank");
    one.setAttribute("rel", "noopener noreferrer nofollow");
  }
}
