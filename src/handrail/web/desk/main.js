// Puts the page together: the login, the wire, the state, and the parts that draw it.

import "./theme.js";
import { Approvals } from "./approvals.js";
import { Connection } from "./connection.js";
import { Desktop } from "./desktop.js";
import { Dialogs } from "./dialogs.js";
import { Notifications } from "./notifications.js";
import { Shell } from "./shell.js";
import { Store } from "./store.js";
import { Taskbar } from "./taskbar.js";
import { Toasts } from "./toasts.js";
import { Windows } from "./windows.js";
import { answerCapture } from "./capture.js";
import { el } from "./element.js";
import { firstStart } from "./first_start.js";
import { enter, whenGiven } from "./login.js";
import { listenToKeys } from "./keys.js";
import { watchStops } from "./stopped.js";
import { watchConnection } from "./banner.js";

const VIEW_PAUSE = 200; // ms after the last change of the browser's size

const problem = await enter();
if (problem === null) begin();
else askForLink(problem);

/** What a stranger reads; a link that is opened in another tab opens this one too. */
function askForLink(why) {
  document.body.className = "door";
  document.body.replaceChildren(el("main", {}, el("h1", { text: "Handrail" }), why ? el("p", { role: "alert", text: why }) : null,
    el("p", { text: "This desk knows you by a link that works once." }),
    el("p", {}, "Open the link that ", el("code", { text: "handrail serve" }), " printed, or get a new one in a terminal:"),
    el("pre", { text: "handrail desk link" })));
  whenGiven(() => location.reload());
}

function begin() {
  const store = new Store();
  const connection = new Connection("/ws");
  const shell = new Shell(store, connection, document.getElementById("stage"));

  new Toasts(shell);
  const desktop = new Desktop(shell);
  const windows = new Windows(shell);
  const notifications = new Notifications(shell);
  const approvals = new Approvals(shell);
  const dialogs = new Dialogs(shell);
  dialogs.isBusy = () => approvals.isOpen;
  approvals.onAside = () => dialogs.update();
  const taskbar = new Taskbar(shell, { desktop, approvals, notifications });
  shell.reopen = (key) => windows.frame(key)?.appContent?.reopen();
  firstStart(shell);
  listenToKeys(shell, windows, taskbar);
  watchConnection(shell);
  shell.stopped = watchStops(document.getElementById("stopped"), (text, variant) => shell.toast(text, variant));
  connection.on("ENVELOPE", ({ envelope }) => envelope?.failure_code && shell.stopped());

  connection.on("SNAPSHOT", ({ state }) => store.replace(state));
  connection.on("ACTIONS", ({ actions, changes }) => {
    if (changes) store.apply(changes);
    for (const one of actions ?? []) if (one.type === "window.capture" && one.requestId) answerCapture(shell, windows, one);
  });
  connection.on("ERROR", (error) => shell.fail(error));

  // The browser that a person looks at decides how large its monitor is.
  let resizing = 0;
  const subscribe = () => document.hasFocus() && shell.subscribe();
  connection.on("open", () => shell.subscribe());
  window.addEventListener("focus", subscribe);
  window.addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(subscribe, VIEW_PAUSE);
  });
  connection.start();
}
