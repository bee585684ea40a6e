// An agent's question, modal; one at a time. It waits while an approval is asked: no agent's words lie over that.

import { el, freshId } from "./element.js";
import { icon } from "./icons.js";

export class Dialogs {
  #open = null;

  constructor(shell) {
    this.shell = shell;
    shell.store.watch((_, changed) => (changed.fields.has("dialogs") || changed.fields.has("approvals")) && this.update());
  }

  /** `isBusy`: an approval is on the screen. */
  isBusy = () => false;

  update() {
    const [first] = this.isBusy() ? [] : this.shell.state.dialogs;
    if (this.#open?.id === first?.id) return this.#open && this.#more();
    this.#open?.element.remove();
    this.#open = null;
    if (first) this.#show(first);
    return undefined;
  }

  #more() {
    const waiting = this.shell.state.dialogs.length - 1;
    this.#open.more.textContent = waiting ? `${waiting} more waiting` : "";
  }

  #show(dialog) {
    const { id, title, message, confirmText, cancelText, permissionOptions, agentId } = dialog;
    const [heading, text] = [freshId("dialog"), freshId("dialog")];
    const box = permissionOptions?.showRememberChoice ? el("input", { type: "checkbox" }) : null;
    const answer = (confirmed) => this.#answer(id, confirmed, box);
    const more = el("span", { class: "modal-more" });
    const element = el("dialog", { class: "modal", "aria-labelledby": heading, "aria-describedby": text },
      el("div", { class: "modal-form" },
        el("p", { class: "modal-from" }, icon("message"), el("span", { text: `${agentId || "An agent"} asks` }), more),
        el("h2", { id: heading, text: title }),
        el("p", { id: text, class: "modal-message", text: message, tabindex: "0" }),
        box ? el("label", { class: "check" }, box, el("span", { text: "Remember my choice" })) : null,
        el("div", { class: "modal-buttons" },
          el("button", { type: "button", class: "btn", text: cancelText || "No", autofocus: true, on: { click: () => answer(false) } }),
          el("button", { type: "button", class: "btn btn-primary", text: confirmText || "Yes", on: { click: () => answer(true) } }))));
    element.addEventListener("cancel", (event) => {
      event.preventDefault();
      answer(false);
    });
    document.body.append(element);
    this.#open = { id, element, more };
    this.#more();
    element.showModal();
  }

  /** It goes when the server says so: the answer that counts may have been somebody else's. */
  #answer(dialogId, confirmed, box) {
    const remember = box ? { remember: box.checked } : {};
    this.shell.send({ type: "DIALOG_FEEDBACK", dialogId, confirmed, ...remember });
  }
}
