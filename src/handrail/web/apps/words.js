// Times and names as people read them. Pure.

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** "14:02:11", with the day where it is not today. */
export function moment(at) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
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

/** With a full stop, so that another sentence may follow. */
export const sentence = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** "press_key" → "press key". */
export const spaced = (name) => String(name ?? "").replaceAll("_", " ");

/** "agent mail-agent": who did something. */
export function who(actor) {
  if (!actor) return "somebody";
  return actor.id && actor.id !== actor.kind ? `${actor.kind} ${actor.id}` : actor.kind;
}

/** The colour of an action's end. */
export function toneOf(state) {
  if (state === "verified" || state === "passed" || state === "approved") return "success";
  if (state === "failed" || state === "denied") return "error";
  if (state === "pending_verification" || state === "warned" || state === "running") return "info";
  return "warning";
}

/** How an action ended, in a word. */
export function ended(state) {
  return { pending_verification: "done", verified: "verified", failed: "failed", unfinished: "unfinished" }[state] ?? state;
}
