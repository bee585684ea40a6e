// Which windows nobody can see, because opaque ones above cover them wholly. On a desk with hundreds of windows only
// those in sight are painted. Pure numbers.

const CELL = 16; // px; a window is covered when every cell it touches lies wholly under others
const CORNER = 4; // px that rounded corners let through

/** `windows`: {key, x, y, w, h, opaque}, the topmost first. The keys of those out of sight. */
export function covered(windows, view) {
  const columns = Math.ceil(view.w / CELL);
  const rows = Math.ceil(view.h / CELL);
  const taken = new Uint8Array(columns * rows);
  const hidden = new Set();
  for (const one of windows) {
    const touched = cells(one, columns, rows, 0, Math.floor, Math.ceil);
    if (isTaken(taken, touched, columns)) hidden.add(one.key);
    else if (one.opaque) take(taken, cells(one, columns, rows, CORNER, Math.ceil, Math.floor), columns);
  }
  return hidden;
}

function cells({ x, y, w, h }, columns, rows, inset, low, high) {
  const within = (value, most) => Math.min(Math.max(value, 0), most);
  return {
    left: within(low((x + inset) / CELL), columns), right: within(high((x + w - inset) / CELL), columns),
    top: within(low((y + inset) / CELL), rows), bottom: within(high((y + h - inset) / CELL), rows),
  };
}

function isTaken(taken, { left, right, top, bottom }, columns) {
  for (let row = top; row < bottom; row += 1) {
    for (let at = row * columns + left; at < row * columns + right; at += 1) if (!taken[at]) return false;
  }
  return true;
}

function take(taken, { left, right, top, bottom }, columns) {
  for (let row = top; row < bottom; row += 1) if (left < right) taken.fill(1, row * columns + left, row * columns + right);
}
