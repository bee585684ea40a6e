// The banner of a stop: which phones are held, who stopped them, and the way to hand them back.

import { api } from "./api.js";
import { el } from "./element.js";
import { whatFailed } from "./error_words.js";
import { icon } from "./icons.js";

const LOOK_EVERY = 2_000; // ms: a stop may also come from a terminal or another process
const SOON = 150;

/** Shows it in `place` while a phone is stopped; returns a function that looks at once. */
export function watchStops(place, toast) {
  let timer = 0;
  let shown = "";
  place.classList.add("stopped");
  place.setAttribute("role", "alert");
  place.hidden = true;

  async function look() {
    clearTimeout(timer);
    timer = setTimeout(look, LOOK_EVERY);
    if (document.hidden) return;
    const stops = await api("/api/stops").catch(() => null);
    if (stops) draw(stops);
  }

  function draw({ phones, all }) {
    const words = all ? "All phones" : phones.map(({ name }) => name).join(", ");
    const by = [...new Set(phones.map(({ by: name }) => name).filter(Boolean))].join(", ");
    const key = phones.length || all ? `${words}\n${by}` : "";
    if (key === shown) return;
    shown = key;
    place.hidden = !key;
    place.dispatchEvent(new CustomEvent("stops", { bubbles: true }));
    if (!key) return void place.replaceChildren();
    const back = el("button", { type: "button", class: "btn btn-sm", text: "Hand back", on: { click: () => handBack(back) } });
    place.replaceChildren(icon("stop"), el("span", {}, el("strong", { text: "Stopped. " }),
      `${words}: no agent acts there until you hand back${by ? `. Stopped by ${by}.` : "."}`), back);
  }

  async function handBack(button) {
    button.disabled = true;
    await api("/api/hand-back", { method: "POST", body: {} })
      .catch((error) => { button.disabled = false; toast?.(whatFailed(error.code), "error"); });
    await look();
  }

  look();
  document.addEventListener("visibilitychange", look);
  return () => { clearTimeout(timer); timer = setTimeout(look, SOON); };
}
