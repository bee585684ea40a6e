// Which phones this page watches, by pictures or by video. Windows of one page share a connection, so the last one
// ends it.

const watched = new Map();

/** Pictures or video of this phone from now on; `send` takes a frame. */
export function watch(send, device, kind = "watch") {
  const key = `${kind} ${device}`;
  watched.set(key, (watched.get(key) ?? 0) + 1);
  send({ type: "PHONE_INPUT", device, control: kind });
}

/** One window needs them no more. */
export function unwatch(send, device, kind = "watch") {
  const key = `${kind} ${device}`;
  const left = (watched.get(key) ?? 1) - 1;
  if (left > 0) return watched.set(key, left);
  watched.delete(key);
  return send({ type: "PHONE_INPUT", device, control: `un${kind}` });
}
