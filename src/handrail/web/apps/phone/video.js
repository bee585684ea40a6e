// The phone's video, decoded by the browser itself (WebCodecs). Where that is missing or fails, `gaveUp` is told
// and the phone is shown by pictures.

const MOST_FAILURES = 3; // of the decoder since its last picture; a fresh key picture often mends one
const MOST_UNDECODED = 40; // pictures: a machine this slow is better off at the next key picture

export class Video {
  constructor({ draw, again, gaveUp }) {
    Object.assign(this, { draw, again, gaveUp, failures: 0, headers: new Map() });
  }

  static get isPossible() { return typeof VideoDecoder === "function"; }

  /** One picture of the stream: a key picture can begin anywhere, the others only follow. */
  feed(header, data) {
    if (header.key) this.begin(header);
    if (!this.decoder) return;
    if (!header.key && this.decoder.decodeQueueSize > MOST_UNDECODED) {
      this.stop();
      this.again();
      return;
    }
    this.headers.set(header.n, header);
    try {
      this.decoder.decode(new EncodedVideoChunk({ type: header.key ? "key" : "delta", timestamp: header.n, data }));
    } catch (error) {
      this.failed(error);
    }
  }

  /** A decoder for this codec; one that has it already goes on. */
  begin({ codec, w, h }) {
    const kind = `${codec} ${w}x${h}`;
    if (this.decoder && kind === this.kind) return;
    this.stop();
    this.kind = kind;
    const decoder = this.decoder = new VideoDecoder({
      output: (frame) => this.decoded(decoder, frame),
      error: (error) => decoder === this.decoder && this.failed(error),
    });
    try {
      decoder.configure({ codec, optimizeForLatency: true });
    } catch (error) {
      this.failed(error);
    }
  }

  decoded(decoder, frame) {
    const header = this.headers.get(frame.timestamp);
    for (const n of this.headers.keys()) if (n <= frame.timestamp) this.headers.delete(n);
    if (header && decoder === this.decoder) {
      this.failures = 0;
      this.draw(header, frame);
    }
    frame.close();
  }

  failed(error) {
    this.stop();
    this.failures += 1;
    if (this.failures >= MOST_FAILURES) this.gaveUp(error);
    else this.again();
  }

  stop() {
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
    this.decoder = null;
    this.headers.clear();
  }
}
