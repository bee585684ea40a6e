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

const GAP = 12;
const ICONS = 116; // the column of icons, which a new window leaves free where it can

/** A place for a new window: beside the icons and where it covers least of the others. */
export function placed(w, h, view, others) {
  const left = view.w > 3 * ICONS ? ICONS : GAP;
  const width = Math.min(w, view.w - left - GAP);
  const height = Math.min(h, view.h - 2 * GAP);
  const right = view.w - width - GAP, low = view.h - height - GAP;
  const xs = [left, right, ...others.flatMap((one) => [one.x + one.w + GAP, one.x - width - GAP])];
  const ys = [GAP, low, ...others.map((one) => one.y + one.h + GAP)];
  const step = (others.length % 6) * 28; // where nothing is free it lies on the others, a little lower
  const places = [...xs.flatMap((x) => ys.map((y) => ({ x, y }))), { x: left + step, y: GAP + step }]
    .filter(({ x, y }) => x >= left && x <= right && y >= GAP && y <= low);
  const cost = ({ x, y }) => others.reduce((sum, one) => sum + overlap({ x, y, w: width, h: height }, one), 0);
  const best = places.reduce((least, one) => (cost(one) < cost(least) ? one : least), places[0] ?? { x: left, y: GAP });
  const shift = others.some((one) => one.x === best.x && one.y === best.y) ? step : 0;
  return { x: Math.round(Math.min(best.x + shift, Math.max(right, left))), y: Math.round(Math.min(best.y + shift, Math.max(low, GAP))), w: width, h: height };
}

const overlap = (a, b) => Math.max(0, Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)) * Math.max(0, Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y));

/** Bounds that show so many windows side by side, beside the icons. */
export function tiled(count, view) {
  const columns = Math.ceil(Math.sqrt(count * (view.w > 1.2 * view.h ? 1 : 0.5)));
  const rows = Math.ceil(count / columns);
  const width = view.w - ICONS - GAP, height = view.h - GAP;
  return Array.from({ length: count }, (_, at) => {
    const row = Math.floor(at / columns);
    const across = row === rows - 1 ? count - row * columns : columns;
    const x = ICONS + Math.round(((at % columns) * width) / across), y = GAP + Math.round((row * height) / rows);
    return { x, y, w: Math.floor(width / across) - GAP, h: Math.floor(height / rows) - GAP };
  });
}
