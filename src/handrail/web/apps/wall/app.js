// All phones: a wall of live tiles, each with its agent and the last thing that was done; one can be enlarged.

import { el } from "../../desk/element.js";
import { empty, failure, loading } from "../panes.js";
import { Tile } from "./tile.js";

const STATE_MS = 5000; // phones come and go
const SOON_MS = 300; // after an action ended, so that a burst is one question

export default function mount(root, ctx) {
  const wall = new Wall(root, ctx);
  wall.load();
  return { close: () => wall.close() };
}

class Wall {
  constructor(root, ctx) {
    Object.assign(this, { root, ctx, tiles: new Map() });
    this.grid = el("div", { class: "wall", role: "list", "aria-label": "Phones", on: { keydown: (event) => event.key === "Escape" && this.enlarge(null) } });
    root.replaceChildren(this.grid);
    this.grid.replaceChildren(loading("Looking for phones…"));
    this.seen = new IntersectionObserver((found) => found.forEach((one) => this.tiles.get(one.target.dataset.device)?.visible(one.isIntersecting)), { root: this.grid });
    this.offs = [
      ctx.on("ENVELOPE", (frame) => this.heard(frame)),
      ctx.on("open", () => { this.tiles.forEach((tile) => tile.again()); this.load(); }),
      ctx.on("closed", () => this.tiles.forEach((tile) => tile.offline())),
      ctx.onState((state, { fields }) => fields.has("approvals") && this.questions()),
    ];
    this.hiding = () => this.tiles.forEach((tile) => tile.watch());
    document.addEventListener("visibilitychange", this.hiding);
    this.timer = setInterval(() => document.hidden || this.load(), STATE_MS);
  }

  async load() {
    try {
      const { phones } = await this.ctx.api("/api/wall");
      if (!this.closed) this.show(phones);
    } catch (error) {
      if (!this.closed && !this.tiles.size) this.grid.replaceChildren(failure(error, () => this.load()));
    }
  }

  show(phones) {
    for (const [device, tile] of this.tiles) if (!phones.some((one) => one.device === device)) this.drop(device, tile);
    for (const one of phones) {
      let tile = this.tiles.get(one.device);
      if (!tile) {
        tile = new Tile(this.ctx, one, { enlarge: () => this.enlarge(one.device), renamed: () => this.load() });
        this.tiles.set(one.device, tile);
        this.seen.observe(tile.element);
      }
      tile.show(one);
    }
    if (!phones.length) return this.grid.replaceChildren(none(() => this.load()));
    const wanted = phones.map((one) => this.tiles.get(one.device).element);
    if (wanted.some((one, at) => this.grid.children[at] !== one) || this.grid.childElementCount !== wanted.length) this.grid.replaceChildren(...wanted);
    return this.questions();
  }

  drop(device, tile) {
    tile.close();
    this.seen.unobserve(tile.element);
    this.tiles.delete(device);
    if (this.large === device) this.enlarge(null);
  }

  heard(frame) {
    const tile = this.tiles.get(frame.device);
    if (!tile) return;
    if (!frame.envelope) tile.doing(frame);
    else if (frame.envelope.semantic !== "observation") {
      clearTimeout(this.soon);
      this.soon = setTimeout(() => this.load(), SOON_MS);
    }
  }

  questions() {
    const open = this.ctx.state().approvals ?? [];
    for (const [device, tile] of this.tiles) tile.asks(open.filter((one) => one.device === device).length);
  }

  /** The same one again, or null, shows all of them alike. */
  enlarge(device) {
    this.large = device === this.large ? null : device;
    this.grid.classList.toggle("has-large", Boolean(this.large));
    for (const [name, tile] of this.tiles) tile.enlarged(name === this.large);
    this.grid.style.setProperty("--others", Math.max(1, this.tiles.size - 1));
    if (this.large) this.grid.scrollTop = 0;
  }

  close() {
    this.closed = true;
    clearInterval(this.timer);
    clearTimeout(this.soon);
    document.removeEventListener("visibilitychange", this.hiding);
    this.seen.disconnect();
    for (const tile of this.tiles.values()) tile.close();
    for (const off of this.offs) off();
  }
}

function none(retry) {
  return empty("phone", "No phone is connected", "Plug one in with USB debugging, or start the desk with simulated ones:",
    el("code", { class: "pane-code", text: "handrail serve --sim 4" }),
    el("button", { class: "btn btn-sm", text: "Look again", on: { click: retry } }));
}
