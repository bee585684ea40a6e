// A recording: what is done on the phone becomes steps of the editor, joined as `handrail record` joins them.

const SOON_MS = 120;

export class Recorder {
  constructor(ctx, editor, changed) {
    Object.assign(this, { ctx, editor, changed, known: [], isOn: false });
    this.off = ctx.on("ENVELOPE", ({ device, envelope }) => this.isOn && envelope && (device === this.device || device === this.serial) && this.readSoon());
  }

  path(query = "") { return `/api/phone/${encodeURIComponent(this.device)}/recording${query}`; }

  async start(device, serial) {
    Object.assign(this, { device, serial, known: [] });
    ({ after: this.after } = await this.ctx.api(this.path()));
    this.isOn = true;
    this.changed();
  }

  readSoon() {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.read(), SOON_MS);
  }

  /** Reads are in line: a slow one is never written over a later one. */
  read() {
    this.reading = (this.reading ?? Promise.resolve()).then(() => this.#read()).catch((error) => this.ctx.fail(error, "The recording could not be read."));
    return this.reading;
  }

  async #read() {
    const { app, steps } = await this.ctx.api(this.path(`?after=${this.after}`));
    const texts = steps.map((one) => one.text);
    let alike = 0;
    while (alike < texts.length && texts[alike] === this.known[alike]) alike += 1;
    const [replaced, added] = [this.known.slice(alike), texts.slice(alike)];
    this.known = texts;
    if (added.length) await this.editor.append(added, { app, replaced });
    this.changed();
  }

  async stop() {
    if (!this.isOn) return;
    clearTimeout(this.soon);
    await this.read();
    this.isOn = false;
    this.changed();
  }

  close() {
    clearTimeout(this.soon);
    this.off();
  }
}
