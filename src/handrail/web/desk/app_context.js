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
    open: (app, more) => shell.openApp(app, { options: more }),
    toast: (text, variant) => shell.toast(text, variant),
    fail: (error, about) => shell.fail(error, about),
    t: (text) => text,
  };
  return { ctx, end: () => ends.forEach((off) => off()) };
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
