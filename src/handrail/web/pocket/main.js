// The page for a pocket: the question that a notification brought, else the oldest that waits; one at a time.
// It asks the server every two seconds while somebody looks, so that a phone which slept is never behind.

import { whatToDo } from "../desk/error_words.js";
import "../desk/theme.js";
import { api } from "../desk/api.js";
import { el } from "../desk/element.js";
import { icon } from "../desk/icons.js";
import { enter, leave, whenGiven } from "../desk/login.js";
import { watchStops } from "../desk/stopped.js";
import { notifications } from "./notifications.js";
import { ended, question } from "./question.js";

const LOOK_EVERY = 2_000; // ms
const ID = /^#id=(ap_[0-9a-f]{6,40})$/;
const page = document.querySelector(".pocket-page");
const state = document.querySelector(".pocket-state");
let wanted = ID.exec(location.hash)?.[1] ?? null; // the question that somebody came for
let shown = null; // {id, element}
let outcome = null; // what became of the last one, until the next is shown
let notices = null;
let timer = 0;
let stopped = () => {};

const problem = await enter();
if (problem === null) begin();
else strangers(problem);

function strangers(why) {
  page.replaceChildren(el("section", { class: "pocket-card pocket-door" }, icon("lock"),
    el("h1", { text: "This device is not logged in" }), why ? el("p", { role: "alert", text: why }) : null,
    el("p", { text: "On the desk open Settings, then Notifications, and let this device read the QR code there. It works once and for two minutes." })));
  whenGiven(() => location.reload());
}

function begin() {
  stopped = watchStops(document.getElementById("stopped"));
  notices = notifications({ api, compact: true });
  window.addEventListener("hashchange", () => look(ID.exec(location.hash)?.[1] ?? null));
  navigator.serviceWorker?.addEventListener("message", ({ data }) => data?.handrail === "look" && look(data.id));
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
  timer = setInterval(() => document.hidden || refresh(), LOOK_EVERY);
  refresh();
}

function look(id) {
  wanted = id;
  outcome = null;
  refresh();
}

async function refresh() {
  let waiting;
  try {
    ({ approvals: waiting } = await api("/api/approvals"));
  } catch (error) {
    return away(error);
  }
  state.textContent = waiting.length > 1 ? `${waiting.length} wait` : "";
  document.body.classList.remove("is-away");
  if (shown?.isQuestion && !waiting.some(({ id }) => id === shown.id)) wanted = shown.id; // somebody else was faster
  const one = waiting.find(({ id }) => id === wanted) ?? waiting[0];
  if (wanted && one?.id !== wanted && outcome?.id !== wanted) outcome = await past(wanted);
  return one && (one.id === wanted || !outcome) ? ask(one) : rest(waiting.length);
}

/** What became of a question that waits no more. */
async function past(id) {
  const { approvals } = await api("/api/approvals?history=1&limit=200").catch(() => ({ approvals: [] }));
  return { id, ...ended(approvals.find((one) => one.id === id)) };
}

function away({ status, code }) {
  if (status === 401 || status === 421) {
    clearInterval(timer);
    strangers("Its login has ended, or it was revoked.");
    return leave(() => location.reload());
  }
  document.body.classList.add("is-away");
  state.textContent = whatToDo(code);
  return undefined;
}

function ask(one) {
  if (shown?.id === one.id) return shown.element.update();
  const element = question(one, { answer: (given) => answer(one, given), stop: () => stop(one) });
  shown = { id: one.id, element, isQuestion: true };
  page.replaceChildren(element);
  forget(one.id);
  return undefined;
}

async function answer(one, given) {
  await api("/api/approvals", { method: "POST", body: { id: one.id, ...given } });
  done({ id: one.id, ...ended({ ...one, state: given.approve ? "approved" : "denied" }) });
}

async function stop(one) {
  await api("/api/interrupt", { method: "POST", body: {} });
  stopped();
  done({ id: one.id, tone: "warning", icon: "stop", title: "Stopped", text: "Everything that agents were doing has been stopped. No agent acts on any phone until you hand them back, above." });
}

function done(how) {
  outcome = how;
  wanted = how.id;
  shown = null;
  refresh();
}

/** Nothing to decide, or somebody has just decided. */
function rest(count) {
  const key = `rest ${outcome?.id ?? ""} ${outcome?.title ?? ""} ${count}`;
  if (shown?.id === key) return;
  const told = outcome ?? { tone: "calm", icon: "check", title: "Nothing waits for you", text: "When an agent wants to do something that your rules ask about, it appears here." };
  const element = el("section", { class: `pocket-card pocket-rest is-${told.tone}` }, el("span", { class: "pocket-sign" }, icon(told.icon)),
    el("h1", { text: told.title, tabindex: "-1" }), el("p", { text: told.text }),
    count ? el("button", { type: "button", class: "btn btn-lg btn-primary", on: { click: () => look(null) } }, count > 1 ? `Next of ${count}` : "Next question") : null);
  shown = { id: key, element };
  page.replaceChildren(element, notices.element);
  notices.refresh();
}

/** A notification about what is on the screen has done its work. */
async function forget(tag) {
  const worker = await navigator.serviceWorker?.getRegistration?.();
  for (const one of await worker?.getNotifications?.({ tag }) ?? []) one.close();
}
