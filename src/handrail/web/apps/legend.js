// What the coloured dots of lists mean, in one line that can be folded away.

import { el } from "../desk/element.js";

const MEANINGS = [["success", "done and proved"], ["info", "done, not proved"], ["warning", "refused or waiting"], ["error", "failed"]];

export const legend = () => el("p", { class: "legend", "aria-label": "What the dots mean" },
  MEANINGS.map(([tone, text]) => el("span", {}, el("span", { class: `dot dot-${tone}`, "aria-hidden": "true" }), text)));
