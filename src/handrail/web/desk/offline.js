// Without the server nothing works that needs it: every control is switched off but those that say `data-local`.

const CONTROLS = "button, input, select, textarea";
const LOCAL = "[data-local], [data-local] *";

export class Offline {
  #off = new Set();
  #observer = new MutationObserver((records) => this.#changed(records));

  set(isOffline) {
    document.body.classList.toggle("is-offline", isOffline);
    if (!isOffline) return this.#end();
    this.#switchOff(document.body);
    return this.#observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
  }

  /** What is drawn or switched on meanwhile is switched off too. */
  #changed(records) {
    for (const { type, target, addedNodes } of records) {
      if (type === "attributes") this.#one(target);
      else for (const added of addedNodes) if (added instanceof Element) this.#switchOff(added);
    }
  }

  #switchOff(root) {
    if (root.matches(CONTROLS)) this.#one(root);
    for (const control of root.querySelectorAll(CONTROLS)) this.#one(control);
  }

  #one(control) {
    if (control.disabled || !control.matches(CONTROLS) || control.matches(LOCAL)) return;
    control.disabled = true;
    this.#off.add(control);
  }

  #end() {
    this.#observer.disconnect();
    for (const control of this.#off) control.disabled = false;
    this.#off.clear();
  }
}
