// What went wrong, in words for people: one row for each code. Our own text names fields and actions; it is for
// whoever writes an agent, so it stands behind a fold. No other module shows a message of ours.

import { el } from "./element.js";

/** Code → in a word or two · as a sentence · what to do next. */
const WORDS = {
  UNKNOWN: ["went wrong", "Something unexpected went wrong.", "Try again. If it happens again, the server's log says more."],
  NO_SUCH_FILE: ["no such file", "A file that was named is not there.", "Name one that exists."],
  PORT_IN_USE: ["port in use", "Another program listens on that port.", "Choose another port, or stop the other program."],
  NO_MODEL: ["no model", "Nothing says which model answers.", "Start the desk with --model."],
  INVALID_ACTION: ["not understood", "The desk did not understand this.", "It may have changed meanwhile. Look at it again and retry."],
  UNSUPPORTED: ["not possible here", "This is not possible here.", "Another phone or window may be able to do it."],
  ACTION_REJECTED: ["not allowed", "This was not allowed, so nothing was done.", "Your rules, or an answer, rejected it."],
  POLICY_UNUSABLE: ["rules unreadable", "Your rules can't be read, so nothing is allowed.", "Mend or restore config/policy.toml in Handrail's home."],
  DEVICE_BUSY: ["phone is taken", "Somebody else has the phone.", "Take it over, or wait until it is handed back."],
  ELEMENT_NOT_FOUND: ["not found", "What was to be touched is not on the screen.", "The screen may have changed. Look at it again."],
  STALE_REFERENCE: ["gone", "What was to be touched is gone.", "The screen has changed. Look at it again."],
  AMBIGUOUS_TARGET: ["several match", "Several things on the screen match.", "Say more exactly which one is meant."],
  ELEMENT_NOT_INTERACTABLE: ["can't be touched", "It is there, but can't be touched now.", "It is covered, switched off or out of sight."],
  SEMANTIC_MISMATCH: ["wrong kind", "This kind of element can't do that.", "Choose another one, for example a field to type into."],
  TIMEOUT: ["took too long", "It took too long.", "Look at the screen; something may still be loading."],
  IDLE_TIMEOUT: ["never at rest", "The screen did not come to rest.", "Something on it keeps moving. Go on if what you need is there."],
  NAVIGATION_NO_CHANGE: ["nothing changed", "Nothing changed on the screen.", "It may be the end of a list, or the first screen."],
  VERIFICATION_FAILED: ["not as expected", "It was done, and the result is not the expected one.", "Look at the screen before it is done again."],
  ASSERTION_FAILED: ["check failed", "A check failed: the screen shows something else.", "Compare what was expected with what is there."],
  EXPECT_STATE_MISMATCH: ["check failed", "A check failed: the screen or app is another one.", "Compare what was expected with what is there."],
  CONTROL_CONVERGENCE_FAILED: ["value not taken", "The control did not take the value.", "It may only move in steps."],
  SCRIPT_FAILED: ["script failed", "A script of the flow failed.", "Read the script, then run the flow again."],
  APP_CRASHED: ["app crashed", "The app has crashed.", "Start it again; the journal has its last lines."],
  ADB_CONNECTION_ERROR: ["phone not found", "The phone can't be reached.", "Plug it in, or start a simulated one, and look again."],
  ADB_COMMAND_ERROR: ["phone refused", "The phone refused a command.", "Details say which one."],
  DEVICE_OFFLINE: ["phone offline", "The phone does not answer.", "Unlock it, accept the debugging prompt, or plug it in again."],
  APP_NOT_INSTALLED: ["app not installed", "This app is not on the phone.", "Install it, or check its name."],
  TREE_PARSE_ERROR: ["screen unreadable", "The screen could not be read.", "Try again; it may have been moving."],
  SECURE_SCREEN: ["screen is protected", "This screen does not allow pictures.", "Banks and passwords do that. Look at the phone itself."],
  PICTURE_UNREADABLE: ["picture unreadable", "The picture of the screen can't be read.", "Try again in a moment."],
  GRPC_CONNECTION_ERROR: ["emulator not reached", "The emulator's control line can't be reached.", "Start the emulator with -grpc, or work without it."],
  GRPC_RPC_ERROR: ["emulator refused", "The emulator refused a call.", "Details say which one."],
  BROWSER_CONNECTION_ERROR: ["browser not reached", "The browser can't be reached.", "Install Chromium, or open the browser again."],
  BROWSER_COMMAND_ERROR: ["browser refused", "The browser refused this.", "The page may be another one now. Look again."],
  IOS_CONNECTION_ERROR: ["iPhone not reached", "The iPhone can't be reached.", "WebDriverAgent has to run on it. Unlock it and look at handrail doctor."],
  IOS_COMMAND_ERROR: ["iPhone refused", "The iPhone refused this.", "Look again: the screen may be another one now."],
  STORE_UNUSABLE: ["can't be saved", "Handrail's home can't be read or written.", "Nothing is done without a record. Make the folder writable."],
  STORE_FULL: ["disk full", "The disk is full.", "Free some space; it goes on by itself."],
  MODEL_UNAVAILABLE: ["no answer", "The model did not answer.", "Check its name, its key and the connection."],
  MODEL_REFUSED: ["model refused", "The model refused to do this.", "Ask for it in other words, or do it yourself."],
  CANCELLED: ["stopped", "It was stopped.", "Look at the screen before it is done again."],
  OFFLINE: ["offline", "The desk's server can't be reached.", "It reconnects by itself. Is the server running?"],
  NOT_LOGGED_IN: ["signed out", "You are not signed in.", "Open the link that “handrail desk link” prints."],
  LOGIN_OVER: ["signed out", "You are signed out: the server was started again.", "Open the link that “handrail desk link” prints."],
  LINK_NOT_VALID: ["link used up", "This link was used already, or is too old.", "Get a new one by “handrail desk link”."],
  ADDRESS_USED: ["link used up", "This address was used already, or is too old.", "Open it from the desk again."],
  WRONG_TOKEN: ["wrong token", "The token is not known here.", "Get a new link by “handrail desk link”."],
  TOO_MANY_GUESSES: ["please wait", "Too many wrong tokens came from here.", "Wait a minute, then try again."],
  NOT_THE_PAGES_HOST: ["wrong address", "The desk lives under another address.", "Use the link exactly as it was printed."],
  HOST_NOT_SERVED: ["wrong address", "This address is not served here.", "Use the link exactly as it was printed."],
  ORIGIN_NOT_ALLOWED: ["not from here", "Another site tried to use the desk.", "Open the desk itself."],
  TOO_LARGE: ["too large", "That is too large.", "Send less at once."],
  NOT_JSON: ["not understood", "The desk did not understand this.", "Reload the page and try again."],
  HTTP_404: ["not there", "That is not there any more.", "Look again."],
};
const OTHER = ["went wrong", "That did not work.", "Try again."];

const row = (code) => (Object.hasOwn(WORDS, code ?? "") ? WORDS[code] : OTHER);

/** In a word or two, for a badge: “not found”. */
export const shortly = (code) => row(code)[0];

/** As a sentence. */
export const whatFailed = (code) => row(code)[1];

/** As a sentence, with what to do next; for where there is no room for a fold. */
export const whatToDo = (code) => row(code).slice(1).join(" ");

/** The sentence, what to do next, and our own text behind a fold. `about` says what was tried. */
export function problem(error, about = "") {
  const [, sentence, next] = row(error.code);
  return el("div", { class: "problem" }, el("strong", { text: about ? `${about} ${sentence}` : sentence }), el("p", { text: next }), fold(error));
}

/** Our own text, for whoever wants it. */
export function fold({ code, message, hint }) {
  const told = [code, message, hint].filter(Boolean).join("\n");
  return told ? el("details", { class: "problem-details" }, el("summary", { text: "Details" }), el("code", { text: told })) : null;
}

/** What an error is known by wherever it is told: frames, answers, envelopes and steps of flows spell it alike here. */
export const errorOf = (told) => ({ code: told.failure_code ?? told.code, message: told.message ?? told.error, hint: told.hint });
