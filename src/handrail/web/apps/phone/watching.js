// Which phones this page watches. Windows of one page share a connection, so the last one ends it.

const watched = new Map();

/** Pictures of this phone from now on; `send` takes a frame. */
export function watch(send, device) {
  watched.set(device, (watched.get(device) ?? 0) + 1);
  send({ type: "PHONE_INPUT", device, control: "watch" });
}

/** One window needs them no more. */
export function unwatch(send, device) {
  const left = (watched.get(device) ?? 1) - 1;
  if (left > 0) return watched.set(device, left);
  watched.delete(device);
  return send({ type: "PHONE_INPUT", device, control: "unwatch" });
}
