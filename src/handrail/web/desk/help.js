// The keys, on one card.

import { el } from "./element.js";

const KEYS = [
  ["F6", "Go round: desktop, window in front, taskbar"],
  ["Alt ⇧ N", "Next window"],
  ["Alt ⇧ ← →", "Snap the window to a half"],
  ["Alt ⇧ ↑ ↓", "Maximise; restore or minimise"],
  ["Alt ⇧ M", "Move the window by arrows (⇧: small steps)"],
  ["Alt ⇧ R", "Resize the window by arrows"],
  ["Alt ⇧ W", "Close the window"],
  ["Alt ⇧ Space", "The window's menu"],
  ["Alt ⇧ S", "Start menu"],
  ["Arrows", "Walk icons, tasks and menus"],
  ["Delete", "Remove the shortcut under the focus"],
  ["Escape", "Leave a menu, a drag; put an approval aside"],
  ["?", "This card"],
];

export function showHelp() {
  const close = el("button", { type: "button", class: "btn btn-primary", text: "Close", autofocus: true, on: { click: () => dialog.close() } });
  const rows = KEYS.flatMap(([keys, what]) => [el("dt", {}, el("kbd", { text: keys })), el("dd", { text: what })]);
  const dialog = el("dialog", { class: "modal", "aria-label": "Keys" },
    el("div", { class: "modal-form" }, el("h2", { text: "Keys" }), el("dl", { class: "keys" }, rows), el("div", { class: "modal-buttons" }, close)));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
