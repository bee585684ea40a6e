// The keyboard shortcuts, on one card.

import { el } from "./element.js";

const KEYS = [
  ["F6", "Move between desktop, front window and taskbar"],
  ["Alt ⇧ N", "Next window"],
  ["Alt ⇧ ← →", "Snap the window to one half"],
  ["Alt ⇧ ↑ ↓", "Maximise, or restore and minimise"],
  ["Alt ⇧ T", "All windows side by side"],
  ["Alt ⇧ M", "Move the window with the arrow keys (⇧: small steps)"],
  ["Alt ⇧ R", "Resize the window with the arrow keys"],
  ["Alt ⇧ W", "Close the window"],
  ["Alt ⇧ Space", "Window menu"],
  ["Alt ⇧ S", "Start menu"],
  ["Arrows", "Move between icons, tasks and menu entries"],
  ["Delete", "Remove the focused shortcut"],
  ["Escape", "Close a menu, cancel a drag, answer a question later"],
  ["?", "Show this list"],
];

export function showHelp() {
  const close = el("button", { type: "button", class: "btn btn-primary", text: "Close", autofocus: true, dataset: { local: "" }, on: { click: () => dialog.close() } });
  const rows = KEYS.flatMap(([keys, what]) => [el("dt", {}, el("kbd", { text: keys })), el("dd", { text: what })]);
  const dialog = el("dialog", { class: "modal", "aria-label": "Keyboard shortcuts" },
    el("div", { class: "modal-form" }, el("h2", { text: "Keyboard shortcuts" }), el("dl", { class: "keys" }, rows), el("div", { class: "modal-buttons" }, close)));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
