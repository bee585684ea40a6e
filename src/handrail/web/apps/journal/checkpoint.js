// The journal's signed checkpoint: shown, copied, kept as a file elsewhere.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";

/** A panel below the bar. `copy` and `close` are the app's own. */
export function checkpointPanel(one, copy, close) {
  return el("section", { class: "checkpoint", "aria-label": "Signed checkpoint" },
    el("header", { class: "checkpoint-head" }, icon("shield"), el("h2", { text: `Signed checkpoint of ${one.size} records` }), el("span", { class: "grow" }),
      el("button", { class: "btn btn-sm", text: "Copy", on: { click: () => copy(one.note) } }),
      el("button", { class: "btn btn-sm btn-primary", text: "Save", on: { click: () => save(one) } }),
      el("button", { class: "btn btn-sm btn-ghost", "aria-label": "Close the checkpoint", on: { click: close } }, icon("close"))),
    el("p", { class: "quiet", text: "Keep it on another machine. With it, anybody can prove later that none of these records was changed or removed: handrail journal verify --checkpoint FILE." }),
    el("pre", { class: "code", tabindex: "0", "aria-label": "The checkpoint", text: one.note }),
    el("p", { class: "quiet checkpoint-key" }, "Signed with the key ", el("code", { text: one.key })));
}

function save(one) {
  const url = URL.createObjectURL(new Blob([one.note], { type: "text/plain" }));
  const link = el("a", { href: url, download: `journal-${one.size}.checkpoint` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
