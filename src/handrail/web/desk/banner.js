// Says when the desk is out of reach, and when it is back.

import { el } from "./element.js";
import { api } from "./api.js";

const PATIENCE = 400; // ms: a short break is not worth a word

export function watchConnection(shell) {
  const banner = document.getElementById("banner");
  let timer = 0;
  const again = () => el("button", { type: "button", class: "btn btn-sm", text: "Try now", on: { click: () => shell.connection.retry() } });
  const say = (text, ...more) => {
    banner.hidden = false;
    banner.replaceChildren(el("span", { text }), ...more);
    document.body.classList.add("is-offline");
  };
  shell.connection.on("closed", ({ failures }) => {
    clearTimeout(timer);
    timer = setTimeout(() => say("Offline. What you see may be old; reconnecting…", again()), banner.hidden ? PATIENCE : 0);
    if (failures === 3) signedOut().then((out) => out && say("This browser is signed out. Run “handrail serve” or ask for a new link, and open it.", again()));
  });
  shell.connection.on("open", () => {
    clearTimeout(timer);
    banner.hidden = true;
    document.body.classList.remove("is-offline");
  });
}

async function signedOut() {
  return api("/api/apps").then(() => false, (error) => error.status === 401 || error.status === 403);
}
