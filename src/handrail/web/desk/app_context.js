// What a built-in desk app gets from the page: `mount(root, ctx)`.

import { api } from "./api.js";
import { el } from "./element.js";
import { icon } from "./icons.js";

/** The context of one window's app, and `end()` which undoes every listener the app made through it. */
export function appContext(shell, frame, options) {
  const ends = new Set();
  const kept = (off) => {
    ends.add(off);
    return () => {
      ends.delete(off);
      off();
    };
  };
  const ctx = {
    api, el, icon, options,
    windowKey: frame.win.key,
    monitorId: frame.win.monitorId,
    win: () => shell.state.windows[frame.win.key] ?? frame.win,
    send: (message) => shell.send(message),
    on: (type, fn) => kept(shell.connection.on(type, fn)),
    onState: (fn) => kept(shell.store.watch(fn)),
    state: () => shell.state,
    onFrame: (device, fn) => kept(onPicture(shell.connection, "FRAME", device, fn)),
    onVideo: (device, fn) => kept(onPicture(shell.connection, "VIDEO", device, fn)),
    /** Keeps this with the window, in every browser and over a restart: `open` gets it again. */
    keep: (fields) => tell(shell, ctx.win(), "window.setContent", (win) => {
      const data = `app:${appName(win)}${Object.keys(fields).length ? `?${new URLSearchParams(fields)}` : ""}`;
      return data !== win.content.data && { content: { renderer: "iframe", data } };
    }),
    title: (title) => tell(shell, ctx.win(), "window.setTitle", (win) => title !== win.title && { title }),
    open: (app, more) => shell.openApp(app, { options: more }),
    stopped: () => shell.stopped?.(),
    toast: (text, variant) => shell.toast(text, variant),
    fail: (error, about) => shell.fail(error, about),
    t: (text) => text,
  };
  return { ctx, end: () => ends.forEach((off) => off()) };
}

const appName = ({ content: { data } }) => data.slice("app:".length).split("?")[0];

/** A person's change of their own window; an agent's locked one stays as it is. */
function tell(shell, win, type, change) {
  const fields = typeof win.content?.data === "string" && !win.lockedBy && shell.state.windows[win.key] && change(win);
  if (fields && shell.connection.online) shell.act(type, win, fields);
}

/** Pictures of one phone, alone or of a video: 4 bytes of length, a JSON header, the picture. */
function onPicture(connection, type, device, fn) {
  return connection.on("binary", (buffer) => {
    const size = new DataView(buffer).getUint32(0);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
    if (header.type !== type || header.device !== device) return;
    const data = new Uint8Array(buffer, 4 + size);
    fn({ header, data, blob: header.mime && new Blob([data], { type: header.mime }) });
  });
}
