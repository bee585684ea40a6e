// A window's menu: everything the pointer can do with it, and what only a person may.

import { showMenu } from "./menu.js";
import { snapWindow } from "./drag.js";
import { arrowMode } from "./window_keys.js";
import { askText } from "./ask.js";

export function showWindowMenu(frame, point = null) {
  const { win } = frame;
  const anchor = frame.root.contains(document.activeElement) ? document.activeElement : frame.symbol;
  showMenu(anchor, `Menu of ${win.title || win.windowId}`, items(frame), point ?? corner(frame));
}

function corner(frame) {
  const box = (frame.win.frameless ? frame.root : frame.symbol).getBoundingClientRect();
  return { x: box.left, y: frame.win.frameless ? box.top : box.bottom };
}

function items(frame) {
  const { win, shell } = frame;
  const standard = win.variant === "standard";
  const geometry = frame.canMove ? [
    { label: "Move", icon: "move", keys: "Alt ⇧ M", run: () => arrowMode(frame, "move") },
    { label: "Resize", icon: "resize", keys: "Alt ⇧ R", run: () => arrowMode(frame, "resize") },
  ] : [];
  const snaps = frame.canMove && standard ? [
    { label: "Left half", icon: "snap-left", keys: "Alt ⇧ ←", run: () => snapWindow(frame, "left") },
    { label: "Right half", icon: "snap-right", keys: "Alt ⇧ →", run: () => snapWindow(frame, "right") },
    win.maximized
      ? { label: "Restore", icon: "restore", keys: "Alt ⇧ ↓", run: () => frame.act("window.restore") }
      : { label: "Maximise", icon: "maximize", keys: "Alt ⇧ ↑", run: () => frame.act("window.maximize") },
  ] : [];
  const tile = frame.canMove && standard && shell.shown.length > 1 ? [{ label: "All windows side by side", icon: "apps", keys: "Alt ⇧ T", run: () => shell.tile() }] : [];
  const minimize = standard ? [{ label: "Minimise", icon: "minimize", run: () => frame.act("window.minimize") }] : [];
  const unlock = win.lockedBy === null ? [] : [{
    label: `Take the lock from ${win.lockedBy}`, icon: "unlock",
    run: () => frame.act("window.unlock", { agentId: win.lockedBy }),
  }];
  const ask = win.isPersons ? [] : [{ label: `Write to ${win.agentId}…`, icon: "message", run: () => writeAbout(shell, win) }];
  const close = { label: "Close", icon: "close", keys: "Alt ⇧ W", run: () => frame.act("window.close") };
  return [...geometry, ...snaps, ...tile, ...minimize, "-", ...unlock, ...ask, close];
}

async function writeAbout(shell, win) {
  const text = await askText(`About “${win.title || win.windowId}”`, `${win.agentId} gets this message with the window's name.`, "Send");
  if (text) shell.sayAbout(win, text);
}
