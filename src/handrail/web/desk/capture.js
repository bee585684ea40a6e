// A picture of a window, in three tiers: what the page inside drew of itself; the window's DOM, its computed styles
// written out, through an SVG foreignObject from a data: address (other addresses taint the canvas); the frame alone.

import { clone } from "./capture_clone.js";

const LARGEST = 2_400; // px of either side

/** {imageData: base64 PNG without a prefix, madeFrom, missing}: the picture, how it was made and what is not on it. */
async function captureWindow(frame) {
  const box = frame.root.getBoundingClientRect();
  if (frame.root.hidden || box.width < 1) throw new Error("The window is minimised or on a monitor that is not shown.");
  frame.root.classList.remove("is-covered");
  const page = await frame.content.selfCapture();
  if (!page && frame.content.isForeign) throw new Error("the page inside is of another site, and browsers do not let it be drawn");
  const scale = Math.min(1, LARGEST / box.width, LARGEST / box.height);
  const size = { w: Math.round(box.width), h: Math.round(box.height), scale };
  try {
    const missing = [];
    const imageData = await drawn(frame, size, page, missing);
    return { imageData, madeFrom: page ? "the page's own picture" : "a copy of the window", missing };
  } catch {
    return { imageData: frameAlone(frame, size), madeFrom: "the window's frame", missing: ["all of its content"] };
  }
}

async function drawn(frame, size, page, missing) {
  const copy = await clone(frame.root, page, missing);
  // The copy stands where the window's corner is, whole.
  for (const [name, value] of [["transform", "none"], ["position", "static"], ["margin", "0"], ["box-shadow", "none"]]) {
    copy.style.setProperty(name, value);
  }
  const xml = new XMLSerializer().serializeToString(copy);
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="${size.w}" height="${size.h}">`
    + `<foreignObject x="0" y="0" width="100%" height="100%">${xml}</foreignObject></svg>`;
  const image = await loaded(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`);
  return painted(size, (brush) => brush.drawImage(image, 0, 0));
}

function loaded(address) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error("The picture could not be drawn."));
    image.src = address;
  });
}

function painted({ w, h, scale }, paint) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(w * scale));
  canvas.height = Math.max(1, Math.round(h * scale));
  const brush = canvas.getContext("2d");
  brush.scale(scale, scale);
  paint(brush);
  return canvas.toDataURL("image/png").split(",")[1];
}

function frameAlone(frame, size) {
  const look = getComputedStyle(frame.root);
  const title = getComputedStyle(frame.title);
  return painted(size, (brush) => {
    brush.fillStyle = look.backgroundColor;
    brush.fillRect(0, 0, size.w, size.h);
    brush.fillStyle = title.color;
    brush.font = `${title.fontWeight} ${title.fontSize} ${title.fontFamily}`;
    brush.fillText(frame.win.title, 44, 23, size.w - 60);
    brush.strokeStyle = look.borderColor;
    brush.strokeRect(0.5, 0.5, size.w - 1, size.h - 1);
  });
}

/** Answers the server's `window.capture`. */
export async function answerCapture(shell, windows, { windowId, monitorId, requestId }) {
  const key = `${monitorId ?? shell.monitor.id}/${windowId}`;
  const answer = { type: "RENDERING_FEEDBACK", requestId, windowId, kind: "capture" };
  try {
    const frame = windows.frame(key);
    if (!frame) throw new Error("This browser does not show the window.");
    shell.connection.send({ ...answer, success: true, ...await captureWindow(frame) });
  } catch (error) {
    shell.connection.send({ ...answer, success: false, error: error.message });
  }
}
