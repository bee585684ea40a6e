// The desk's HTTP door as promises. A refusal is thrown as {code, message, hint, status}.

import { asThisPage } from "./login.js";

/** JSON in, JSON out. */
export async function api(path, { method = "GET", body } = {}) {
  const response = await fetch(path, {
    method,
    ...asThisPage(body === undefined ? {} : { "content-type": "application/json" }),
    body: body === undefined ? undefined : JSON.stringify(body),
  }).catch(() => { throw refusal(0, { code: "OFFLINE", message: "The desk's server can't be reached." }); });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw refusal(response.status, answer);
  return answer;
}

/** The raw response, for what is not JSON. */
export async function get(path) {
  const response = await fetch(path, asThisPage())
    .catch(() => { throw refusal(0, { code: "OFFLINE", message: "The desk's server can't be reached." }); });
  if (!response.ok) throw refusal(response.status, await response.json().catch(() => ({})));
  return response;
}

function refusal(status, answer) {
  const told = answer.error ?? answer;
  const error = new Error(told.message ?? `The server answered ${status}.`);
  return Object.assign(error, { code: told.code ?? `HTTP_${status}`, hint: told.hint ?? "", status });
}
