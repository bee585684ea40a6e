// The WebSocket: joins with `since`, catches up, backs off, and says when the desk is out of reach.
// It knows frames and their numbers, nothing of windows.

import { randomId } from "./element.js";
import { leave, pageToken } from "./login.js";

const FIRST_WAIT = 250; // ms, doubled at each failure
const LONGEST_WAIT = 8_000;
const LOOK_EVERY = 5_000; // a gap far above this between two looks: the machine slept and the socket may be dead
const SLEPT = 30_000;
const NOT_LOGGED_IN = 4401; // close code: the server does not know this page's token

export class Connection {
  #socket = null;
  #failures = 0;
  #timer = 0;
  #listeners = new Map();
  #trustSince = true;
  #looked = Date.now();

  constructor(address) {
    this.address = address;
    this.clientId = randomId("browser");
    this.seq = null;
    this.online = false;
  }

  start() {
    window.addEventListener("online", () => this.retry());
    window.addEventListener("offline", () => this.#drop());
    document.addEventListener("visibilitychange", () => document.hidden || this.#look());
    setInterval(() => this.#look(), LOOK_EVERY);
    this.#open();
  }

  /** `handler(frame)` for a frame type, or for "open", "closed", "refused", "binary". */
  on(type, handler) {
    if (!this.#listeners.has(type)) this.#listeners.set(type, new Set());
    this.#listeners.get(type).add(handler);
    return () => this.#listeners.get(type).delete(handler);
  }

  /** False when the desk is out of reach; nothing is kept for later. */
  send(frame) {
    if (!this.online) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  /** Try again at once. */
  retry() {
    if (this.online) return;
    clearTimeout(this.#timer);
    this.#open();
  }

  /** Try no more by itself. */
  rest() { clearTimeout(this.#timer); }

  #open() {
    this.#forget();
    const url = new URL(this.address, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const since = this.#trustSince ? this.seq : null;
    if (since !== null) url.searchParams.set("since", since);
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.#opened(socket);
    socket.onmessage = (event) => this.#received(event.data);
    socket.onclose = ({ code }) => (code === NOT_LOGGED_IN ? this.#refused() : this.#closed());
    this.#socket = socket;
  }

  #opened(socket) {
    this.online = true;
    this.#failures = 0;
    socket.send(JSON.stringify({ type: "HELLO", clientId: this.clientId, token: pageToken() }));
    this.#tell("open", {});
  }

  #received(data) {
    if (typeof data !== "string") return this.#tell("binary", data);
    const frame = JSON.parse(data);
    if (frame.type === "SNAPSHOT") this.seq = frame.seq;
    else if (frame.type !== "ERROR" && !this.#follows(frame)) return undefined;
    this.#trustSince = true;
    return this.#tell(frame.type, frame);
  }

  /** Numbers have no gaps: one too high means that something was lost. A frame for this browser alone bears the
   * number of the last one for all. */
  #follows(frame) {
    if (typeof frame.seq !== "number" || this.seq === null) return true;
    if (frame.seq > this.seq + 1) {
      this.#trustSince = false;
      this.#drop();
      return false;
    }
    const isNewOrOwn = frame.seq >= this.seq;
    if (isNewOrOwn) this.seq = frame.seq;
    return isNewOrOwn;
  }

  #look() {
    const slept = Date.now() - this.#looked > SLEPT;
    this.#looked = Date.now();
    if (slept && this.online) this.#drop();
    else if (slept) this.retry();
  }

  #drop() {
    if (!this.#socket) return;
    this.#forget();
    this.#closed();
  }

  #forget() {
    const socket = this.#socket;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    this.#socket = null;
    socket.close();
  }

  /** Waits for a token from another tab, not for the server: it will not change its mind. */
  #refused() {
    this.online = false;
    this.#tell("refused", {});
    leave(() => this.retry());
  }

  #closed() {
    this.online = false;
    const wait = Math.min(FIRST_WAIT * 2 ** this.#failures, LONGEST_WAIT) * (0.75 + Math.random() / 2);
    this.#failures += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), wait);
    this.#tell("closed", { failures: this.#failures });
  }

  #tell(type, what) {
    for (const handler of [...(this.#listeners.get(type) ?? [])]) handler(what);
  }
}
