// Times and names as people read them. Pure.

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** "14:02:11", with the day where it is not today. */
export function moment(at) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

const SPANS = [[86_400, "day"], [3_600, "hour"], [60, "minute"]];

/** "just now", "2 minutes ago". */
export function ago(then, now = Date.now()) {
  const seconds = Math.max(0, Math.floor((now - new Date(then)) / 1000));
  if (seconds < 10) return "just now";
  const [size, unit] = SPANS.find(([least]) => seconds >= least) ?? [1, "second"];
  const count = Math.floor(seconds / size);
  return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
}

/** "820 ms", "4.2 s", "3 min". */
export function lasted(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** "4:59" until a moment; "0:00" when it has passed. */
export function countdown(until, now = Date.now()) {
  const left = Math.max(0, Math.round((new Date(until) - now) / 1000));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
}

/** "1 step", "3 steps". */
export const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

/** "press_key" → "press key". */
export const spaced = (name) => String(name ?? "").replaceAll("_", " ");

/** "mail-agent", "flow contact": who did something. */
export function who(actor) {
  if (!actor) return "somebody";
  if (!actor.id || actor.id === actor.kind) return actor.kind === "agent" ? "an agent" : actor.kind;
  return actor.kind === "flow" ? `flow ${actor.id}` : actor.id;
}

const NOT_DONE = new Set(["ACTION_REJECTED", "CANCELLED", "DEVICE_BUSY"]); // nothing went wrong: somebody said no, or wait

/** The colour of an action's end. */
export function toneOf(state, code = null) {
  if (NOT_DONE.has(code)) return "warning";
  if (state === "verified" || state === "passed" || state === "approved") return "success";
  if (state === "failed" || state === "denied") return "error";
  if (state === "pending_verification" || state === "warned" || state === "running") return "info";
  return "warning";
}

/** How an action ended, in a word. */
export function ended(state) {
  return { pending_verification: "done", verified: "verified", failed: "failed", unfinished: "unfinished" }[state] ?? state;
}
