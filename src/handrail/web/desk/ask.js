// Asks the person for one line or paragraph, in a dialog of the page's own.

import { el, freshId } from "./element.js";

/** The text, or "" when the person thought better of it. */
export function askText(title, hint, button) {
  return new Promise((resolve) => {
    let sent = false;
    const id = freshId("ask");
    const field = el("textarea", { rows: "3", id, required: true });
    const dialog = el("dialog", { class: "modal", "aria-label": title },
      el("form", { method: "dialog", class: "modal-form" },
        el("h2", { text: title }),
        el("label", { class: "field", for: id }, el("span", { text: hint }), field),
        el("div", { class: "modal-buttons" },
          el("button", { type: "button", class: "btn", text: "Cancel", on: { click: () => dialog.close() } }),
          el("button", { type: "submit", class: "btn btn-primary", text: button }))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(sent ? field.value.trim() : "");
    });
    dialog.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      sent = true;
      dialog.close();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
