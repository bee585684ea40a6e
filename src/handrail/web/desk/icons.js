// Line icons on a 24 px grid, by name. A name nobody knows may be an emoji; it is shown as text.

import { el, svg } from "./element.js";
import { picture } from "./pictures.js";

const PATHS = {
  apps: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
  alert: "M12 3 2.5 20h19zM12 10v4M12 17v.5",
  bell: "M6 16V11a6 6 0 1 1 12 0v5l2 2H4zM10 21h4",
  check: "M5 12.5 10 17.5 19 7",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3 2",
  close: "M6 6l12 12M18 6 6 18",
  console: "M4 5h16v14H4zM8 10l2.5 2.5L8 15M13 15h3.5",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  external: "M14 4h6v6M20 4l-9 9M17 14v5H5V7h5",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  flow: "M5 4h6v5H5zM13 15h6v5h-6zM8 9v8h5",
  folder: "M3 6h6l2 2h10v11H3z",
  globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  help: "M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 17.5v.5M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18",
  home: "M4 11l8-7 8 7M6 10v10h12V10",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5v.1",
  info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 11v5M12 7.5v.5",
  journal: "M6 3h12v18H6zM9 8h6M9 12h6M9 16h3",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  mail: "M3 6h18v12H3zM3 7l9 6 9-6",
  maximize: "M5 5h14v14H5z",
  menu: "M5 7h14M5 12h14M5 17h14",
  message: "M4 5h16v11H10l-5 4v-4H4z",
  minimize: "M6 12.5h12",
  minus: "M5 12h14",
  moon: "M19 14.5A8 8 0 0 1 9.5 5 8 8 0 1 0 19 14.5",
  move: "M12 3v18M3 12h18M9.5 5.5 12 3l2.5 2.5M9.5 18.5 12 21l2.5-2.5M5.5 9.5 3 12l2.5 2.5M18.5 9.5 21 12l-2.5 2.5",
  pause: "M8 5v14M16 5v14",
  phone: "M7 2.5h10v19H7zM11 18.5h2",
  play: "M7 4.5l12 7.5-12 7.5z",
  plus: "M12 5v14M5 12h14",
  refresh: "M19 12a7 7 0 1 1-2-5M19 3v4h-4",
  resize: "M20 4v6M20 4h-6M20 4l-7 7M4 20v-6M4 20h6M4 20l7-7",
  restore: "M8 8V4.5h11.5V16H16M4.5 8H16v11.5H4.5z",
  save: "M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M15.5 15.5 20 20",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4",
  shield: "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM9 12l2 2 4-4",
  "snap-left": "M4 5h16v14H4zM12 5v14M6.5 8h3M6.5 11h3",
  "snap-right": "M4 5h16v14H4zM12 5v14M14.5 8h3M14.5 11h3",
  star: "M12 3.5l2.6 5.5 6 .8-4.4 4.1 1.1 6L12 17l-5.3 2.9 1.1-6L3.4 9.8l6-.8z",
  stop: "M6 6h12v12H6z",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  unlock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 6.8-1.2",
  user: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4.5 20c1-4 4-5.5 7.5-5.5s6.5 1.5 7.5 5.5",
};
const ALIASES = {
  approvals: "shield", arrow: "external", cancel: "close", delete: "trash", document: "file", error: "alert",
  flows: "flow", link: "globe", ok: "check", send: "message", success: "check", warning: "alert", x: "close",
};
const LONGEST_EMOJI = 16; // UTF-16 units: a family with skin tones

const isIcon = (name) => Object.hasOwn(PATHS, name) || Object.hasOwn(ALIASES, name);

/** A line icon; `other` when the name is not one of ours. */
export function icon(name, other = "info") {
  const path = PATHS[Object.hasOwn(ALIASES, name) ? ALIASES[name] : name] ?? PATHS[other];
  return svg(
    "svg",
    { class: "icon", viewBox: "0 0 24 24", fill: "none", stroke: "currentColor", "stroke-width": "1.8",
      "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true" },
    svg("path", { d: path }),
  );
}

/** What an agent called an icon: one of ours, an emoji, a picture of the desk's own, or `other`. */
export function anyIcon(name, other, type) {
  if (type === "image" && isOwnPicture(name)) return picture(name, { alt: "", class: "icon" });
  if (name && !isIcon(name) && name.length <= LONGEST_EMOJI && /\p{Extended_Pictographic}/u.test(name)) {
    return el("span", { class: "emoji", text: name, "aria-hidden": "true" });
  }
  return icon(name ?? other, other);
}

/** Data pictures and files of this desk; anything else would tell a stranger who is looking. */
export function isOwnPicture(address) {
  if (/^data:image\/(png|jpeg|gif|webp|svg\+xml)[;,]/i.test(address)) return true;
  const url = URL.parse ? URL.parse(address, location.href) : parsed(address);
  return url?.origin === location.origin && /^\/(api\/storage|static|apps)\//.test(url.pathname);
}

function parsed(address) {
  try {
    return new URL(address, location.href);
  } catch {
    return null;
  }
}
