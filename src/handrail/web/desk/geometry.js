// Where windows may be and where they snap. Pure numbers in the desk's logical pixels.

const TITLE = 36;
const GRAB = 100; // this much of a title bar stays in reach
const SMALLEST = { w: 200, h: 150 };
const EDGE = 8; // a pointer this near to an edge snaps

/** A window of this size, moved so that its title bar can still be grabbed. */
export function reachable({ x, y, w, h }, view) {
  const grab = Math.min(GRAB, w);
  return {
    x: Math.round(Math.min(Math.max(x, grab - w), view.w - grab)),
    y: Math.round(Math.min(Math.max(y, 0), Math.max(0, view.h - TITLE))),
    w: Math.round(w),
    h: Math.round(h),
  };
}

/** The bounds after dragging `edges` (a subset of "nesw") by dx, dy; the opposite edge stays. */
export function resized(bounds, edges, dx, dy) {
  let { x, y, w, h } = bounds;
  if (edges.includes("e")) w = Math.max(SMALLEST.w, w + dx);
  if (edges.includes("s")) h = Math.max(SMALLEST.h, h + dy);
  if (edges.includes("w")) {
    const right = x + w;
    w = Math.max(SMALLEST.w, w - dx);
    x = right - w;
  }
  if (edges.includes("n")) {
    const bottom = y + h;
    const top = Math.max(0, Math.min(y + dy, bottom - SMALLEST.h));
    h = bottom - top;
    y = top;
  }
  return { x: Math.round(x), y: Math.round(y), w: Math.round(w), h: Math.round(h) };
}

/** "left", "right", "max" or null, for a pointer in the stage. */
export function snapZone(px, py, view) {
  if (py <= EDGE) return "max";
  if (px <= EDGE) return "left";
  if (px >= view.w - EDGE) return "right";
  return null;
}

/** The rectangle of a zone. */
export function zoneBounds(zone, view) {
  const half = Math.round(view.w / 2);
  if (zone === "left") return { x: 0, y: 0, w: half, h: view.h };
  if (zone === "right") return { x: half, y: 0, w: view.w - half, h: view.h };
  return { x: 0, y: 0, w: view.w, h: view.h };
}

/** A place for a new window: cascaded from the middle, inside the view. */
export function placed(w, h, view, count) {
  const width = Math.min(w, view.w - 24);
  const height = Math.min(h, view.h - 24);
  const step = (count % 6) * 28;
  const x = Math.max(12, Math.round((view.w - width) / 2) - 70 + step);
  const y = Math.max(12, Math.round((view.h - height) / 2) - 56 + step);
  return { x: Math.min(x, view.w - width), y: Math.min(y, view.h - height), w: width, h: height };
}
