// What a person types in for an agent, with the switch that says whether the agent may read it.

import { el } from "./element.js";

// Codes and passwords: 4 to 10 digits, or one word of mixed characters. The server looks again while the switch is untouched.
const SECRET = /(^|\D)\d([ -]?\d){3,9}(?!\d)|^(?=\S{4,}$)(?=\S*[a-z])(?=\S*\d)/i;

/** `isSecret`: the switch starts off. `read()` gives what goes along with a yes. */
export function answerField(label, isSecret, attributes = {}) {
  const input = el("input", { autocomplete: "one-time-code", spellcheck: "false", ...attributes });
  const box = el("input", { type: "checkbox" });
  let isTouched = false;
  const turn = (isReadable) => {
    box.checked = isReadable;
    input.type = isReadable ? "text" : "password";
  };
  turn(!isSecret);
  box.addEventListener("change", () => { isTouched = true; turn(box.checked); });
  input.addEventListener("input", () => { if (!isTouched && !isSecret) turn(!SECRET.test(input.value)); });
  return {
    element: el("div", { class: "answer" }, el("label", { class: "field" }, el("span", { text: label }), input),
      el("label", { class: "check" }, box, el("span", { text: "The agent may read this" }))),
    read: () => (input.value ? { data: input.value, ...(isTouched || !box.checked ? { readable: box.checked } : {}) } : {}),
  };
}
