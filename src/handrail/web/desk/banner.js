// Says when the desk is out of reach, and when it is back.

import { api } from "./api.js";
import { el } from "./element.js";
import { Offline } from "./offline.js";

const PATIENCE = 400; // ms: a short break is not worth a word

export function watchConnection(shell) {
  const banner = document.getElementById("banner");
  const offline = new Offline();
  let timer = 0;
  const again = () => el("button", { type: "button", class: "btn btn-sm", dataset: { local: "" }, text: "Try now", on: { click: () => shell.connection.retry() } });
  const say = (text, ...more) => {
    banner.hidden = false;
    banner.replaceChildren(el("span", { text }), ...more);
    offline.set(true);
  };
  const signedOut = () => {
    clearTimeout(timer);
    say("This page is signed out: the server was started again. Open its new link, or get one by “handrail desk link”.");
  };
  shell.connection.on("refused", signedOut);
  shell.connection.on("closed", async ({ failures }) => {
    clearTimeout(timer);
    timer = setTimeout(() => say("Offline. What you see may be old; reconnecting…", again()), banner.hidden ? PATIENCE : 0);
    if (failures < 3 || !await isElsewhere()) return;
    shell.connection.rest();
    signedOut();
  });
  shell.connection.on("open", () => {
    clearTimeout(timer);
    banner.hidden = true;
    offline.set(false);
  });
}

/** A server that was started anew has its pages under another name, and does not serve this one. */
async function isElsewhere() {
  return api("/api/login").then(() => false, ({ status }) => status === 421 || status === 401);
}
