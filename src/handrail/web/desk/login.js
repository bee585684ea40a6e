// Who this page is to the server. A link's code becomes a token, once. The page keeps it for a reload of this tab,
// hands it to another tab of the desk that asks, and sends it by script: a browser never adds it to anything.
// It is worth something to the server process that gave it, and to no other.

import { whatFailed } from "./error_words.js";

const KEY = "handrail.page";
const ANSWER_TIME = 500; // ms in which another tab answers
const channel = new BroadcastChannel(KEY);
// Over TLS the certificate says whose page this is, so the device may keep its token: a notification opens a page
// when no other is open. Elsewhere another server can have this address tomorrow, and the tab alone keeps it.
const kept = location.protocol === "https:" ? localStorage : sessionStorage;
let token = kept.getItem(KEY);
let hear = () => {};

export const pageToken = () => token;

/** For fetch: our own header, and nothing that the browser has. */
export const asThisPage = (headers = {}) => ({ credentials: "omit", headers: token ? { ...headers, "handrail-page": token } : headers });

/** Null when this page is logged in, else why not. */
export async function enter() {
  const code = /^#code=([\w-]{20,100})$/.exec(location.hash)?.[1];
  const isQuestion = location.pathname === "/approve";
  if (code || !isQuestion) history.replaceState(null, "", isQuestion ? "/approve" : "/");
  const problem = code ? await exchange(code) : null;
  if (token || await handedOver()) return null;
  return problem ?? "";
}

async function exchange(code) {
  const answer = await fetch("/api/login", {
    method: "POST", credentials: "omit", headers: { "content-type": "application/json" }, body: JSON.stringify({ code }),
  });
  const told = await answer.json();
  if (!answer.ok) return whatFailed(told.code);
  keep(told.token);
  channel.postMessage({ token });
  return null;
}

/** From another tab, if one has a token that counts. */
function handedOver() {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ANSWER_TIME);
    whenGiven(() => {
      clearTimeout(timer);
      resolve(true);
    });
    channel.postMessage({ ask: true });
  });
}

/** The server does not know this page (any more): `back` is called when another tab brings a token that counts. */
export function leave(back) {
  token = null;
  kept.removeItem(KEY);
  whenGiven(back);
  channel.postMessage({ ask: true });
}

/** Calls `then` once a token came that counts. */
export function whenGiven(then) {
  hear = async (given) => {
    if (token || !await counts(given) || token) return;
    keep(given);
    hear = () => {};
    then();
  };
}

function keep(given) {
  token = given;
  kept.setItem(KEY, given);
}

async function counts(given) {
  const answer = await fetch("/api/login", { credentials: "omit", headers: { "handrail-page": given } }).catch(() => null);
  return answer?.ok ?? false;
}

channel.onmessage = ({ data }) => {
  if (data?.ask && token) channel.postMessage({ token });
  else if (typeof data?.token === "string") hear(data.token);
};
