// The quiet pages of Settings: the line for an agent, the theme, the home and the versions.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";
import { chooseTheme, chosenTheme } from "../../desk/theme.js";

const THEMES = { system: ["settings", "As the system"], light: ["sun", "Light"], dark: ["moon", "Dark"] };

export function agents({ agentLine, agentClients, tokenFile, mcp }, ctx) {
  return [el("section", { class: "card settings-card" }, el("strong", { text: "An agent that speaks MCP" }),
    el("p", { class: "quiet", text: "It gets the phones, under your rules." }), agentChoice({ agentLine, agentClients }, ctx), waiting(ctx)),
  el("section", { class: "card settings-card" }, el("strong", { text: "An agent that speaks MCP over HTTP" }),
    el("p", { class: "quiet", text: mcp ? "The same tools, served by this desk. Its bearer token stands in the file below: with it one may act, and never answer a question." : "This desk was started without it. “handrail serve --mcp” serves the same tools here." }),
    mcp ? line(mcp, ctx) : null, mcp ? line(tokenFile, ctx) : null)];
}

/** Which program the agent lives in, and what that program is given. */
export function agentChoice({ agentLine, agentClients = [] }, ctx) {
  const given = el("div", { class: "settings-given" });
  const show = (client) => given.replaceChildren(...(client?.entry
    ? [el("p", { class: "quiet" }, "This belongs into ", el("code", { text: client.file }), ":"), line(client.entry, ctx)]
    : [line(client?.line ?? agentLine, ctx)]));
  const choice = el("select", { class: "input", "aria-label": "Where the agent lives", on: { change: () => show(agentClients[choice.value]) } },
    agentClients.map((one, at) => el("option", { value: String(at), text: one.name })));
  show(agentClients[0]);
  return el("div", { class: "settings-choice" }, agentClients.length ? choice : null, given);
}

/** Says when an agent has come; where nobody tells (`ctx.on`), it says nothing. */
export function waiting(ctx) {
  if (!ctx.on) return null;
  const place = el("p", { class: "settings-waiting", role: "status", dataset: { state: "waiting" } }, el("span", { class: "pane-spinner", "aria-hidden": "true" }), el("span", { text: "Waiting for your agent…" }));
  const here = (name) => {
    if (place.dataset.state === "here") return;
    place.dataset.state = "here";
    place.replaceChildren(icon("check"), el("span", { text: `${name} is connected.` }));
  };
  ctx.on("AGENT_STATUS", ({ agentId }) => here(agentId));
  ctx.on("ENVELOPE", ({ actor }) => actor?.kind === "agent" && here(actor.id));
  return place;
}

/** A text with a button that copies it. */
export function line(text, ctx) {
  const copy = async () => {
    await navigator.clipboard.writeText(text).then(() => ctx.toast("Copied.", "success"), () => ctx.toast("This browser does not let pages copy. Select the text instead.", "warning"));
  };
  return el("div", { class: "settings-line" }, el("code", { text }), el("button", { type: "button", class: "btn btn-sm", "aria-label": `Copy ${text}`, on: { click: copy } }, icon("file"), "Copy"));
}

export function appearance() {
  const list = el("div", { class: "settings-themes", role: "radiogroup", "aria-label": "Theme" });
  const draw = () => list.replaceChildren(...Object.entries(THEMES).map(([name, [sign, label]]) => el("label", { class: "card settings-theme" },
    el("input", { type: "radio", name: "theme", value: name, checked: chosenTheme() === name, on: { change: () => chooseTheme(name) } }), icon(sign), el("span", { text: label }))));
  draw();
  return list;
}

export function about({ home, versions, policy }) {
  const rows = [["Home", home.path], ["Rules", policy.file], ["Journal and settings", bytes(home.database)], ["Pictures", bytes(home.pictures)], ["Free on its disk", bytes(home.free)]];
  return [table("Home", rows), el("h3", { text: "Versions" }), table("Versions", versions.map(({ name, version }) => [name, version]))];
}

const table = (name, rows) => el("dl", { class: "card settings-facts", "aria-label": name }, rows.flatMap(([key, value]) => [el("dt", { text: key }), el("dd", { text: value })]));

function bytes(count) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  let size = count;
  while (size >= 1000 && at < units.length - 1) {
    size /= 1000;
    at += 1;
  }
  return `${at === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[at]}`;
}
