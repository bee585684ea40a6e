// Phones: those that are there, and three ways to bring one in: a cable, a QR code, a simulated one.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { fold, whatToDo } from "../../desk/error_words.js";
import { countdown } from "../words.js";

const WHY_NOT = {
  UNSUPPORTED: "Simulated phones are not installed here. “pip install 'handrail[sim]'” brings them; then start the desk again.",
  INVALID_ACTION: "No more simulated phones are started from here. “handrail serve --sim N” starts as many as you like.",
};
const LOOK_EVERY = 1_000; // ms between two looks at what came of a QR code

export async function phones(ctx, onEnd, { pair = false, cable: wired = false } = {}) {
  const [{ devices }, cable] = await Promise.all([ctx.api("/api/devices"), ctx.api("/api/phones/cable")]);
  const list = el("ul", { class: "settings-rules", "aria-label": "Phones" }, devices.map((one) => phone(ctx, one)));
  const none = devices.length ? null : el("p", { class: "quiet", text: "No phone is here yet." });
  const qr = pairing(ctx, onEnd);
  if (pair) qr.begin();
  return [none, list, el("h3", { text: "Bring a phone in" }), qr.element, byCable(cable, wired), simulated(ctx)].filter(Boolean);
}

function phone(ctx, one) {
  const words = one.usable ? [one.android ? `Android ${one.android}` : null, one.open ? "open here" : "not open yet", one.serial] : [one.problem, one.what_to_do, one.serial];
  return el("li", { class: "card settings-rule", dataset: { serial: one.serial } }, el("span", { class: `badge ${one.usable ? "badge-success" : "badge-warning"}`, text: one.usable ? "ready" : "not ready" }),
    el("div", {}, el("strong", { text: one.model || one.serial }), el("p", { class: "quiet", text: words.filter(Boolean).join(" · ") })),
    one.usable ? el("button", { type: "button", class: "btn btn-sm", "aria-label": `Look at ${one.model || one.serial}`, on: { click: () => ctx.open("phone", { device: one.serial }) } }, "Look at it") : null);
}

/** Android's own QR pairing: the phone reads, this machine listens, and the phone is here. */
function pairing(ctx, onEnd) {
  const element = el("section", { class: "card settings-card", "aria-label": "Pair by QR code" });
  let timer = 0;
  onEnd(() => clearInterval(timer));
  const button = (text) => el("button", { type: "button", class: "btn btn-sm btn-primary", text, on: { click: begin } });
  const offer = (title, text, label, more = null) => {
    clearInterval(timer);
    element.replaceChildren(el("div", { class: "settings-row" }, icon("phone"), el("div", {}, el("strong", { text: title }), el("p", { class: "quiet", text }), more), button(label)));
  };
  async function begin() {
    clearInterval(timer);
    let made;
    try {
      made = await ctx.api("/api/phones/pairing", { method: "POST", body: {} });
    } catch (error) {
      return offer("No code can be shown", whatToDo(error.code), "Try again", fold(error));
    }
    const until = Date.now() + made.seconds * 1000;
    const say = el("p", { role: "status", text: made.say });
    const left = el("span", { class: "settings-left" });
    element.replaceChildren(el("div", { class: "settings-qr" }, el("img", { src: made.picture, alt: "QR code that pairs a phone" }),
      el("div", {}, el("strong", { text: "On the phone" }),
        el("ol", { class: "settings-steps" }, ["Settings → About phone: tap “Build number” seven times. That is needed once, and brings the developer options.", "Settings → System → Developer options → Wireless debugging: switch it on.", "Tap “Pair device with QR code”.", "Hold the phone's camera to this picture."].map((text) => el("li", { text }))), say, left)));
    timer = setInterval(async () => {
      left.textContent = `${countdown(until)} left`;
      const now = await ctx.api("/api/phones/pairing").catch(() => null);
      if (!now || now.state === "waiting") return;
      say.textContent = now.say;
      if (now.state === "failed") offer("No phone was paired", "Switch wireless debugging on, in the same network, and let it read a new code.", "Show a new code", fold({ message: now.say, hint: now.hint }));
      if (now.state === "ready") {
        clearInterval(timer);
        ctx.toast(now.say, "success");
        ctx.open("phone", { device: now.device });
      }
    }, LOOK_EVERY);
    return undefined;
  }
  offer("Without a cable", "The phone reads a QR code off this page. Both have to be in the same network.", "Pair by QR code");
  return { element, begin };
}

function byCable({ steps, phones: seen }, open) {
  const found = seen.find((one) => !one.debugging);
  return el("details", { class: "card settings-card settings-cable", open: open || Boolean(found) }, el("summary", {}, el("strong", { text: found ? `${found.name} is on a cable, with USB debugging off` : "With a cable" })),
    el("ol", { class: "settings-steps" }, (found?.steps ?? steps).map((text) => el("li", { text }))), el("p", { class: "quiet", text: "It appears in the list above by itself once it is ready." }));
}

function simulated(ctx) {
  return el("section", { class: "card settings-card", "aria-label": "Simulated phone" }, el("div", { class: "settings-row" }, icon("play"),
    el("div", {}, el("strong", { text: "A simulated phone" }), el("p", { class: "quiet", text: "To try everything without a phone. It lives in this server and leaves with it." })),
    el("button", { type: "button", class: "btn btn-sm", text: "Start one", on: { click: ({ currentTarget }) => startSimulated(ctx, currentTarget) } })));
}

/** Starts one and shows it. `ctx` has api, open and toast. */
export async function startSimulated(ctx, button) {
  const before = button.textContent;
  button.disabled = true;
  button.textContent = "Starting…";
  try {
    const { device } = await ctx.api("/api/phones/simulated", { method: "POST", body: {} });
    ctx.open("phone", { device });
  } catch (error) {
    ctx.toast(WHY_NOT[error.code] ?? whatToDo(error.code), "error");
  } finally {
    button.disabled = false;
    button.textContent = before;
  }
}
