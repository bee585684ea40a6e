// Whether this device is told of questions, and which others are: the same card on the pocket's page and in Settings.

import { whatFailed, whatToDo } from "../desk/error_words.js";
import { el } from "../desk/element.js";
import { icon } from "../desk/icons.js";
import { moment } from "../apps/words.js";

const NTFY = "HANDRAIL_NOTIFY_URL=https://ntfy.sh/A-NAME-NOBODY-GUESSES handrail serve";

/** `{element, refresh()}`. `compact`: without the other devices. */
export function notifications({ api, compact = false }) {
  const element = el("section", { class: "notices", "aria-label": "Notifications" });
  const card = { element, refresh: () => draw() };
  async function draw(said = null) {
    let told;
    try {
      told = await api("/api/push");
    } catch (error) {
      element.replaceChildren(el("p", { class: "notices-problem", role: "alert", text: whatFailed(error.code) }));
      return;
    }
    const own = await current();
    const mine = own && told.subscriptions.find((one) => one.id === localStorage.getItem(KEY)) ? own : null;
    element.replaceChildren(...[...thisDevice(told, mine), said ? el("p", { class: "notices-said", role: "status", text: said }) : null,
      compact ? null : others(told), ntfy(told)].filter(Boolean));
  }
  const act = (work) => async ({ currentTarget }) => {
    currentTarget.disabled = true;
    await work().then(draw, (error) => draw(error.says ?? whatToDo(error.code)));
  };

  function thisDevice(told, mine) {
    const problem = obstacle();
    if (problem) return [row("bell", "Notifications can't be turned on here", problem)];
    if (mine) {
      return [row("bell", "Notifications: on", "A notification says that a question waits, and nothing of what it is about.",
        button("Try it", "btn-sm", act(async () => { const { problem: why } = await api(`/api/push/try?id=${localStorage.getItem(KEY)}`, { method: "POST", body: {} }); return why ? `It was not sent: ${why}.` : "Sent. It appears in a moment."; })),
        button("Turn off", "btn-sm", act(() => leave(api, mine))))];
    }
    if (told.subscriptions.length >= told.most) return [row("bell", "Notifications can't be turned on here", `${told.most} devices are notified already, and no more can be added. Revoke one of them first.`)];
    return [row("bell", "Notifications: off", "Turned on, this device shows a notification when an agent asks for something, also while the page is closed.",
      button("Turn on", "btn-sm btn-primary", act(() => join(api, told.key))))];
  }

  function others({ subscriptions, most }) {
    if (!subscriptions.length) return el("p", { class: "quiet", text: "Notifications are on at no device yet." });
    return el("ul", { class: "notices-devices", "aria-label": "Devices that are notified" }, subscriptions.map((one) =>
      el("li", { class: "card notices-device", dataset: { id: one.id } }, icon("phone"),
        el("div", {}, el("strong", { text: one.name }),
          el("p", { class: "quiet", text: `Since ${moment(one.since)}${one.told ? ` · last notified ${moment(one.told)}` : ""}${one.staysLoggedIn ? " · stays logged in" : ""}` }),
          one.problem ? el("p", { class: "notices-problem", text: `The last message did not arrive: ${one.problem}` }) : null),
        button("Revoke", "btn-sm btn-danger", act(() => api(`/api/push?id=${encodeURIComponent(one.id)}`, { method: "DELETE" }).then(() => `${one.name} is told nothing more.`)), `Revoke ${one.name}`))),
    el("li", { class: "quiet", text: `${subscriptions.length} of at most ${most}` }));
  }

  return card;
}

const KEY = "handrail.subscription";
const button = (text, look, click, name = text) => el("button", { type: "button", class: `btn ${look}`, "aria-label": name, on: { click } }, text);
const row = (sign, title, text, ...buttons) => el("div", { class: "notices-row" }, el("span", { class: "notices-sign" }, icon(sign)),
  el("div", { class: "notices-words" }, el("strong", { text: title }), typeof text === "string" ? el("p", { text }) : text), el("div", { class: "notices-buttons" }, buttons));

/** Why a page here can't be told, in words; null where it can. */
function obstacle() {
  if (!window.isSecureContext) {
    return el("div", {}, el("p", { text: `Browsers let a page send notifications only over https, and ${location.origin} is not. Serve the desk with --cert and --key, or use ntfy: install its app, choose a name that nobody guesses, and start` }),
      el("pre", { class: "notices-line", text: NTFY }));
  }
  if (!("serviceWorker" in navigator) || !("PushManager" in window)) {
    return /iPhone|iPad/.test(navigator.userAgent)
      ? "On an iPhone or iPad first add this page to the home screen (Share, then Add to Home Screen), and open it from there."
      : "This browser knows no push messages.";
  }
  if (Notification.permission === "denied") return "You have forbidden this site's notifications. Allow them in the browser's settings of this site, then come back.";
  return null;
}

function ntfy({ alsoTold }) {
  return alsoTold ? row("message", `${alsoTold} is notified too`, "By HANDRAIL_NOTIFY_URL: a random id and a link, nothing of any screen.") : null;
}

async function current() {
  if (!window.isSecureContext || !("serviceWorker" in navigator)) return null;
  const worker = await navigator.serviceWorker.getRegistration("/").catch(() => null);
  return await worker?.pushManager?.getSubscription().catch(() => null) ?? null;
}

/** Why it did not work, in this page's own words. */
const said = (says) => Object.assign(new Error(says), { says });

async function join(api, key) {
  if (await Notification.requestPermission() !== "granted") throw said("Notifications were not allowed. The button asks again, or the settings that the browser has for this site.");
  await navigator.serviceWorker.register("/worker.js");
  const worker = await navigator.serviceWorker.ready;
  const before = await worker.pushManager.getSubscription();
  await before?.unsubscribe(); // it may belong to another key
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })
    .catch(() => { throw said("The browser's push service did not answer. Is this device online?"); });
  const { endpoint, keys } = made.toJSON();
  try {
    const { id } = await api("/api/push", { method: "POST", body: { endpoint, keys, name: deviceName() } });
    localStorage.setItem(KEY, id);
  } catch (error) {
    await made.unsubscribe();
    throw error;
  }
  return "Notifications are on.";
}

async function leave(api, own) {
  await api(`/api/push?id=${localStorage.getItem(KEY)}`, { method: "DELETE" }).catch(() => null);
  localStorage.removeItem(KEY);
  await own.unsubscribe();
  return "Notifications are off.";
}

/** "Chrome on Android". */
function deviceName() {
  const { userAgent, userAgentData } = navigator;
  const browser = /Firefox|Edg|OPR|Chrome|Safari/.exec(userAgent)?.[0] ?? "A browser";
  const system = userAgentData?.platform || (/Android|iPhone|iPad|Mac OS|Windows|Linux/.exec(userAgent)?.[0] ?? "");
  return [{ Edg: "Edge", OPR: "Opera" }[browser] ?? browser, system && `on ${system}`].filter(Boolean).join(" ");
}
