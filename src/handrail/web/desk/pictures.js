// Pictures and files of the desk. An address alone opens none of them, so they are fetched by script with the
// page's token; a tab of its own gets an address that works once.

import { api, get } from "./api.js";
import { el } from "./element.js";

/** An img of one of the desk's own files; `error` is dispatched on it when there is none. */
export function picture(address, props = {}) {
  const image = el("img", props);
  fill(image, address);
  return image;
}

export async function fill(image, address) {
  if (!new URL(address, location.href).pathname.startsWith("/api/")) {
    image.src = address;
    return;
  }
  try {
    const url = URL.createObjectURL(await (await get(address)).blob());
    image.addEventListener("load", () => URL.revokeObjectURL(url), { once: true });
    image.src = url;
  } catch {
    image.dispatchEvent(new Event("error"));
  }
}

/** Shows a picture, file or report in a tab of its own, where it is nobody's page. */
export async function openTab(address) {
  const { url } = await api("/api/tickets", { method: "POST", body: { path: address } });
  window.open(url, "_blank", "noopener");
}
