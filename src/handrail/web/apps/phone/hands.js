// Fingers and keys: what a person does on the picture becomes actions of the vocabulary.

const MOVED_PX = 10; // on the page; less is a shaky click
const HELD_MS = 500; // longer is a long press
const TYPED_MS = 220; // letters that come faster are typed together
const WHEEL_MS = 350;
const KEYS = {
  Enter: "enter", Backspace: "delete", Delete: "forward_delete", ArrowUp: "up", ArrowDown: "down",
  ArrowLeft: "left", ArrowRight: "right", Escape: "back", Home: "move_home", End: "move_end",
  PageUp: "page_up", PageDown: "page_down",
};

export class Hands {
  /** `may()` says whether the phone is the person's, and asks them if it is not. */
  constructor(screen, act, may) {
    this.screen = screen;
    this.send = act;
    this.may = may;
    this.typed = "";
    const canvas = screen.canvas;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", () => { this.finger = null; });
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("paste", (event) => this.paste(event));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  act(action) {
    this.flush();
    if (this.may()) this.send(action);
  }

  down(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.screen.canvas.focus({ preventScroll: true });
    if (!this.may()) return;
    this.screen.canvas.setPointerCapture(event.pointerId);
    this.finger = { at: performance.now(), from: this.screen.point(event), page: [event.clientX, event.clientY], moved: false };
  }

  move(event) {
    const finger = this.finger;
    if (!finger) return;
    const [x, y] = finger.page;
    finger.moved ||= Math.hypot(event.clientX - x, event.clientY - y) > MOVED_PX;
  }

  up(event) {
    const finger = this.finger;
    this.finger = null;
    if (!finger) return;
    const held = Math.round(performance.now() - finger.at);
    if (finger.moved) {
      this.act({ type: "swipe", from: finger.from, to: this.screen.point(event), duration_ms: Math.min(3000, Math.max(100, held)) });
    } else if (held >= HELD_MS) {
      this.act({ type: "long_press", target: finger.from, duration_ms: Math.min(3000, Math.max(600, held)) });
    } else {
      this.act({ type: "tap", target: finger.from });
    }
  }

  wheel(event) {
    event.preventDefault();
    const now = performance.now();
    if (now - (this.wheeled ?? 0) < WHEEL_MS || Math.abs(event.deltaY) < 4 || !this.may()) return;
    this.wheeled = now;
    const { w, h } = this.screen.size;
    const way = Math.round(h * 0.25) * (event.deltaY > 0 ? -1 : 1);
    const from = { x: Math.round(w / 2), y: Math.round(h / 2 - way / 2) };
    this.act({ type: "swipe", from, to: { x: from.x, y: from.y + way }, duration_ms: 250 });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Tab" || (event.key.length > 1 && !KEYS[event.key])) return; // Tab leaves: no trap
    event.preventDefault();
    event.stopPropagation();
    if (!this.may()) return;
    if (event.key.length > 1) return this.act({ type: "press_key", key: this.named(event.key) });
    this.typed += event.key;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.flush(), TYPED_MS);
  }

  /** On a phone Escape goes back; in a browser it is a key of its own. */
  named(key) {
    return key === "Escape" && this.platform === "web" ? "escape" : KEYS[key];
  }

  paste(event) {
    const text = event.clipboardData?.getData("text/plain");
    event.preventDefault();
    if (text) this.act({ type: "type_text", text });
  }

  flush() {
    clearTimeout(this.typing);
    const text = this.typed;
    this.typed = "";
    if (text) this.send({ type: "type_text", text });
  }
}
