// A QR code that logs one other device in: shown when somebody asks for it, gone when it is worth nothing any more.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { fold, problem } from "../../desk/error_words.js";
import { countdown } from "../words.js";

export function deviceLink(ctx, onEnd) {
  const place = el("section", { class: "card settings-card", "aria-label": "Another device" });
  let timer = 0;
  onEnd(() => clearInterval(timer));

  function offer(said = null) {
    clearInterval(timer);
    place.replaceChildren(el("div", { class: "settings-row" }, icon("phone"), el("div", {}, el("strong", { text: "Log another device in" }),
      el("p", { class: "quiet", text: said ?? "Let your phone read a QR code. It opens the page for questions there, logged in." })),
    el("button", { type: "button", class: "btn btn-sm btn-primary", text: "Show the QR code", on: { click: show } })));
  }

  async function show({ currentTarget }) {
    currentTarget.disabled = true;
    let made;
    try {
      made = await ctx.api("/api/device-links", { method: "POST", body: {} });
    } catch (error) {
      place.replaceChildren(error.code === "UNSUPPORTED" ? unreachable(error) : problem(error));
      return;
    }
    const until = Date.now() + made.seconds * 1000;
    const left = el("span", { class: "settings-left" });
    const tick = () => {
      left.textContent = `${countdown(until)} left`;
      if (Date.now() >= until) offer("That code is too old. Show a new one.");
    };
    place.replaceChildren(el("div", { class: "settings-qr" }, el("img", { src: made.picture, alt: "QR code that logs one device in" }),
      el("div", {}, el("strong", { text: "Read this with the phone's camera" }),
        el("p", { class: "quiet", text: "It works once, for one device. Then press “Turn on” on the phone." }), left,
        el("button", { type: "button", class: "btn btn-sm", text: "Done", on: { click: () => offer() } }))));
    tick();
    timer = setInterval(tick, 1_000);
  }

  offer();
  return place;
}

/** How another device could reach this desk, with what to type. */
function unreachable(error) {
  return el("div", { class: "settings-row" }, icon("alert"), el("div", {}, el("strong", { text: "Other devices can't reach this desk" }),
    el("p", { class: "quiet", text: "Pages are only served to other devices over https, because a token that travels in plain text is anybody's. Two ways:" }),
    el("p", { class: "settings-way", text: "Your own certificate" }), el("pre", { class: "notices-line", text: "handrail serve --host 0.0.0.0 --token @token.txt \\\n    --cert desk.pem --key desk-key.pem" }),
    el("p", { class: "settings-way", text: "A tunnel" }), el("pre", { class: "notices-line", text: "tailscale serve 8420\nhandrail serve --public https://NAME.ts.net" }),
    fold(error)));
}
