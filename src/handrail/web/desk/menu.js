// A menu that opens at a button or a point: arrows walk it, Escape gives the focus back.

import { el } from "./element.js";
import { icon } from "./icons.js";

let open = null;

function closeMenu() {
  open?.();
}

/** `items`: {label, icon?, keys?, checked?, disabled?, run} or "-" for a line. */
export function showMenu(anchor, label, items, point = null) {
  closeMenu();
  const menu = el("div", { class: "menu", role: "menu", "aria-label": label, tabindex: "-1" }, items.map(row));
  const before = document.activeElement;
  const outside = (event) => menu.contains(event.target) || close();
  const close = (refocus = true) => {
    if (open !== close) return;
    open = null;
    document.removeEventListener("pointerdown", outside, true);
    menu.remove();
    anchor.setAttribute?.("aria-expanded", "false");
    if (refocus && before?.isConnected) before.focus();
  };
  open = close;
  menu.addEventListener("keydown", (event) => walk(event, menu, close));
  menu.addEventListener("click", (event) => pick(event, items, close));
  document.addEventListener("pointerdown", outside, true);
  document.body.append(menu);
  anchor.setAttribute?.("aria-expanded", "true");
  place(menu, anchor, point);
  rows(menu)[0]?.focus();
  return close;
}

function row(item, index) {
  if (item === "-") return el("hr", { role: "separator" });
  const kind = item.checked === undefined ? "menuitem" : "menuitemcheckbox";
  return el(
    "button",
    { type: "button", role: kind, tabindex: "-1", disabled: item.disabled, dataset: { index },
      "aria-checked": item.checked === undefined ? null : String(item.checked) },
    icon(item.icon ?? (item.checked ? "check" : "minus")),
    el("span", { text: item.label }),
    item.keys ? el("kbd", { text: item.keys }) : null,
  );
}

const rows = (menu) => [...menu.querySelectorAll("button:not(:disabled)")];

function pick(event, items, close) {
  const chosen = event.target.closest("button");
  if (!chosen || chosen.disabled) return;
  close();
  items[Number(chosen.dataset.index)].run();
}

function walk(event, menu, close) {
  const all = rows(menu);
  const at = all.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
  event.stopPropagation();
  if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    close();
  } else if (to !== undefined) {
    event.preventDefault();
    all[to % all.length]?.focus();
  } else if (event.key.length === 1) {
    const typed = event.key.toLowerCase();
    const next = [...all.slice(at + 1), ...all].find((one) => one.textContent.toLowerCase().startsWith(typed));
    next?.focus();
  }
}

function place(menu, anchor, point) {
  const from = point ? { left: point.x, right: point.x, top: point.y, bottom: point.y } : anchor.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const below = from.bottom + 6 + height <= innerHeight;
  const top = below ? from.bottom + 6 : Math.max(8, from.top - 6 - height);
  menu.style.left = `${Math.max(8, Math.min(from.left, innerWidth - width - 8))}px`;
  menu.style.top = `${top}px`;
}
