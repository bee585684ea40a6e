// What an empty desk says: how a phone comes here, how to try without one, and what an agent is given. Each with a
// button that does it.

import { api } from "./api.js";
import { el } from "./element.js";
import { icon } from "./icons.js";
import { agentChoice, waiting } from "../apps/settings/about.js";
import { startSimulated } from "../apps/settings/phones.js";

const LOOK_EVERY = 15_000; // ms between two looks for phones, while this is to be seen
const LEAST_WIDTH = 340; // a card, and the space around it

export function firstStart(shell) {
  const ctx = { api, on: (type, fn) => shell.connection.on(type, fn), open: (app, options) => shell.openApp(app, { options }), toast: (text, tone) => shell.toast(text, tone) };
  const phone = el("li", { class: "start-card" });
  const agent = el("li", { class: "start-card" });
  const box = el("section", { class: "start-page", "aria-label": "First steps", hidden: true }, el("div", { class: "start-inner" },
    el("header", {}, el("img", { src: "/static/icon.svg", alt: "" }), el("h1", { text: "Hands for your agents, rails for you" }),
      el("p", { text: "Agents work on phones from here. You see what they do, and what costs money or can't be taken back waits for your yes." })),
    el("ol", { class: "start-cards" }, phone, tryIt(ctx), agent)));
  shell.stage.append(box);
  let looked = 0;

  async function look() {
    looked = Date.now();
    const [{ devices }, told] = await Promise.all([api("/api/devices"), api("/api/settings")]).catch(() => [{ devices: [] }, null]);
    phone.replaceChildren(...connected(ctx, devices.find((one) => one.usable)));
    if (told && !agent.childElementCount) agent.replaceChildren(...forAgents(ctx, told));
  }

  const isEmpty = () => shell.state.monitors.length > 0 && shell.monitor.order.length + shell.monitor.panels.length === 0;
  const update = () => {
    const was = box.hidden;
    box.hidden = !isEmpty() || !leavesIcons(box, shell.stage);
    if (was && !box.hidden) look();
  };
  shell.store.watch(update);
  new MutationObserver(update).observe(document.getElementById("icons"), { childList: true, subtree: true });
  window.addEventListener("resize", update);
  setInterval(() => box.hidden || document.hidden || Date.now() - looked < LOOK_EVERY || look(), 1_000);
  update();
}

/** Puts it beside the icons, below them on a narrow screen; false where they leave no room. */
function leavesIcons(box, stage) {
  const icons = [...document.querySelectorAll("#icons .desk-icon")].map((one) => one.getBoundingClientRect());
  const { left, top, width, height } = stage.getBoundingClientRect();
  const isNarrow = window.matchMedia("(max-width: 640px)").matches;
  const right = Math.max(0, ...icons.map((one) => one.right - left)), low = Math.max(0, ...icons.map((one) => one.bottom - top));
  Object.assign(box.style, isNarrow ? { left: "0", top: `${low}px` } : { left: `${right}px`, top: "0" });
  return isNarrow ? height - low > LEAST_WIDTH / 2 : width - right > LEAST_WIDTH;
}

const words = (number, sign, title, text) => [el("span", { class: "start-number", "aria-hidden": "true" }, icon(sign)), el("h2", { text: `${number}. ${title}` }), el("p", { text })];
const button = (text, look, click) => el("button", { type: "button", class: `btn ${look}`, text, on: { click } });

function connected(ctx, phone) {
  if (phone) {
    return [...words(1, "check", `${phone.model || phone.serial} is here`, "Watch it live, touch it yourself, or let an agent work on it."),
      el("div", { class: "start-buttons" }, button("Look at it", "btn-primary", () => ctx.open("phone", { device: phone.serial })), button("Add a phone", "", () => ctx.open("settings", { tab: "phones" })))];
  }
  return [...words(1, "phone", "Connect a phone", "Any Android phone: by a QR code that it reads off this page, or by a cable."),
    el("div", { class: "start-buttons" }, button("Pair by QR code", "btn-primary", () => ctx.open("settings", { tab: "phones", pair: true })), button("With a cable", "", () => ctx.open("settings", { tab: "phones", cable: true })))];
}

function tryIt(ctx) {
  const start = button("Start one", "", () => startSimulated(ctx, start));
  return el("li", { class: "start-card" }, words(2, "play", "Try a simulated phone", "It has a shop, mail, a bank and more, and nothing in it is real."), el("div", { class: "start-buttons" }, start));
}

function forAgents(ctx, told) {
  return [...words(3, "console", "Give it to an agent", "Paste this where your agent lives. Your rules hold from its first step."), agentChoice(told, ctx), waiting(ctx),
    el("div", { class: "start-buttons" }, button("Your rules", "btn-ghost", () => ctx.open("settings", { tab: "rules" })), button("Notifications: turn on", "btn-ghost", () => ctx.open("settings", { tab: "notifications" })))];
}
