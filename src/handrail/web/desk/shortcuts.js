// What a shortcut opens: a file of the storage, read-only; a page; or a message to the agent.

import { get } from "./api.js";

const PICTURE = /\.(png|jpe?g|gif|webp|svg)$/i;
const MOST = 1_000_000; // characters of a file that is shown

export async function openShortcut(shell, { id, type, target, label, agentId }) {
  if (type === "url") return openPage(shell, id, target, label);
  if (type === "action") {
    const reader = agentId ? `to ${agentId}` : "to your agents";
    return shell.send({ type: "SHORTCUT_ACTION", shortcutId: id }) && shell.toast(`Sent ${reader}: ${target}`, "success");
  }
  try {
    return await openFile(shell, target);
  } catch (error) {
    return shell.fail(error, `${target} can't be opened.`);
  }
}

function openPage(shell, id, target, label) {
  let url;
  try {
    url = new URL(target);
  } catch {
    return shell.toast(`“${target}” is not an address.`, "error");
  }
  if (!/^https?:$/.test(url.protocol)) return shell.toast(`Only http and https are opened, not ${url.protocol}`, "error");
  return shell.open(`page-${id}`, label, { renderer: "iframe", data: url.href }, { w: 760, h: 560 });
}

/** A window with the file's content at this moment. */
async function openFile(shell, path) {
  const address = `/api/storage/${path.split("/").map(encodeURIComponent).join("/")}`;
  const name = path.split("/").at(-1) || path;
  const content = PICTURE.test(path)
    ? { renderer: "component", data: { components: [{ type: "image", src: address, width: "100%" }] } }
    : await shown(await get(address), path);
  return shell.open(`file-${path.replace(/[^\w.-]+/g, "_")}`, `${name} (read-only)`, content, { w: 640, h: 520 });
}

async function shown(answer, path) {
  const type = answer.headers.get("content-type") ?? "";
  if (answer.headers.get("content-disposition")) throw Object.assign(new Error("This kind of file can't be shown here."), { code: "UNSUPPORTED" });
  const text = (await answer.text()).slice(0, MOST);
  if (type.startsWith("application/json") && !/\.json$/i.test(path)) return listing(JSON.parse(text));
  if (/\.(md|markdown)$/i.test(path)) return { renderer: "markdown", data: text };
  if (/\.html?$/i.test(path)) return { renderer: "html", data: text };
  if (/\.csv$/i.test(path)) return { renderer: "table", data: table(text) };
  return { renderer: "text", data: text };
}

const listing = ({ entries }) => ({
  renderer: "table",
  data: { headers: ["Name", "Kind", "Bytes"], rows: entries.map((one) => [one.name, one.kind, one.bytes === undefined ? "" : String(one.bytes)]) },
});

/** RFC 4180: quotes hold commas, line breaks and doubled quotes. */
function table(text) {
  const rows = [[]];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;
  for (let found = cell.exec(text); found; found = cell.exec(text)) {
    rows.at(-1).push(found[1]?.replaceAll('""', '"') ?? found[2]);
    if (cell.lastIndex >= text.length) break;
    if (found[3] !== ",") rows.push([]);
  }
  return { headers: rows[0], rows: rows.slice(1) };
}
