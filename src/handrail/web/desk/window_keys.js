// Windows by keyboard: Alt+Shift with arrows snaps; move and resize modes take the arrows until Enter or Escape.

import { snapWindow, tellBounds } from "./drag.js";
import { reachable, resized } from "./geometry.js";

const STEP = 16;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function onWindowKey(event, frame) {
  if (!event.altKey || !event.shiftKey || event.ctrlKey || event.metaKey) return;
  const run = {
    ArrowLeft: () => snapWindow(frame, "left"),
    ArrowRight: () => snapWindow(frame, "right"),
    ArrowUp: () => frame.win.maximized || frame.act("window.maximize"),
    ArrowDown: () => frame.act(frame.win.maximized ? "window.restore" : "window.minimize"),
    KeyW: () => frame.act("window.close"),
    KeyM: () => arrowMode(frame, "move"),
    KeyR: () => arrowMode(frame, "resize"),
  }[event.code];
  if (!run || !frame.canMove) return;
  event.preventDefault();
  event.stopPropagation();
  run();
}

/** Arrows move or resize until Enter keeps it or Escape takes it back. Shift makes small steps. */
export function arrowMode(frame, mode) {
  if (!frame.canMove) return;
  const before = { ...frame.bounds };
  const { root, shell } = frame;
  shell.toast(`Arrows ${mode} the window, Enter keeps it, Escape takes it back.`);
  root.focus();
  root.classList.add("is-steered");
  const done = (bounds) => {
    root.removeEventListener("keydown", onKey, true);
    root.removeEventListener("focusout", leave);
    root.classList.remove("is-steered");
    frame.preview(bounds);
    tellBounds(frame, bounds, mode === "resize");
    frame.settle();
  };
  const leave = (event) => root.contains(event.relatedTarget) || done(frame.bounds);
  const onKey = (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow && event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") done(before);
    else if (event.key === "Enter") done(frame.bounds);
    else frame.preview(stepped(frame, mode, arrow, event.shiftKey ? 1 : STEP));
  };
  root.addEventListener("keydown", onKey, true);
  root.addEventListener("focusout", leave);
}

function stepped(frame, mode, [dx, dy], step) {
  const bounds = frame.bounds;
  if (mode === "resize") return resized(bounds, "es", dx * step, dy * step);
  return reachable({ ...bounds, x: bounds.x + dx * step, y: bounds.y + dy * step }, frame.shell.view);
}
