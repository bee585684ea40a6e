// A sandboxed iframe: how it is made, whether it loaded, and the picture it may make of itself.

import { el, randomId } from "./element.js";

export const SANDBOX = ["allow-scripts", "allow-forms"]; // an opaque origin: no parent, no popups
const LOAD_TIME = 5_000; // ms
const CAPTURE_TIME = 1_000;
const LARGEST = 15_000_000; // characters of a picture

/** The words of an agent's sandbox that are ours too. */
export function narrowed(sandbox) {
  if (sandbox === undefined || sandbox === null) return SANDBOX.join(" ");
  const words = sandbox.toLowerCase().split(/\s+/);
  return SANDBOX.filter((word) => words.includes(word)).join(" ");
}

export class PageFrame {
  constructor(title, sandbox) {
    this.element = el("iframe", { class: "page", title, sandbox, referrerpolicy: "no-referrer", allow: "", credentialless: true });
  }

  /** Resolves once, to null or to why it did not load. */
  load(address) {
    return new Promise((resolve) => {
      const done = (problem) => {
        clearTimeout(timer);
        document.removeEventListener("securitypolicyviolation", onViolation);
        resolve(problem);
      };
      const onViolation = (event) => {
        const blocked = event.effectiveDirective === "frame-src" && address.startsWith(event.blockedURI.replace(/\/$/, ""));
        if (blocked) done(`The desk's policy does not allow ${address}.`);
      };
      const timer = setTimeout(() => done(`${address} did not load within ${LOAD_TIME / 1000} s.`), LOAD_TIME);
      document.addEventListener("securitypolicyviolation", onViolation);
      this.element.addEventListener("load", () => done(null), { once: true });
      this.element.src = address;
    });
  }

  /** Only what this very frame says. */
  listen(handler) {
    const receive = (event) => {
      if (event.source !== this.element.contentWindow || event.data?.handrail !== 1) return;
      handler(event.data);
    };
    window.addEventListener("message", receive);
    return () => window.removeEventListener("message", receive);
  }

  /** The frame's origin is opaque, so no target origin can name it; nothing secret is ever posted. */
  post(message) { this.element.contentWindow?.postMessage({ handrail: 1, ...message }, "*"); }

  /** A data: PNG that the page inside drew, or null when it does not know how. */
  selfCapture() {
    const id = randomId("capture");
    return new Promise((resolve) => {
      const done = (picture) => {
        clearTimeout(timer);
        off();
        resolve(picture);
      };
      const timer = setTimeout(() => done(null), CAPTURE_TIME);
      const off = this.listen(({ type, id: answered, image }) => {
        if (type !== "captured" || answered !== id) return;
        done(isPicture(image) ? image : null);
      });
      this.post({ type: "capture", id });
    });
  }
}

const isPicture = (image) => typeof image === "string" && image.length < LARGEST && image.startsWith("data:image/png;base64,");
