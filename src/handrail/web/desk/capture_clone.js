// A copy of an element that looks the same anywhere: styles written out, shadow roots unfolded, canvases, pictures
// and frames turned into data: images.

const SKIPPED = "script, link, style, .edge, iframe, canvas, img, video";
let plain = null;
let lost = null; // what could not be copied, in words

/** Deep copy of `element`; `page` is the data: picture for an iframe inside, if it made one. */
export async function clone(element, page, missing) {
  plain = blank();
  lost = missing;
  try {
    return await copied(element, page);
  } finally {
    plain.remove();
    plain = lost = null;
  }
}

async function copied(element, page) {
  const copy = element.matches(SKIPPED) ? await standIn(element, page) : element.cloneNode(false);
  if (copy === null) return null;
  write(element, copy);
  if (element.matches(SKIPPED)) return copy;
  if (element.matches("input, textarea")) keepValue(element, copy);
  const host = element.shadowRoot;
  for (const child of (host ?? element).childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.cloneNode());
    else if (child.nodeType === Node.ELEMENT_NODE && isShown(child)) {
      const made = await copied(child, page);
      if (made) copy.append(made);
    }
  }
  scrolled(element, copy);
  return copy;
}

const isShown = (element) => getComputedStyle(element).display !== "none";

/** An empty element whose computed styles are what any element has anyway. */
function blank() {
  const element = document.createElement("div");
  element.className = "hush";
  document.body.append(element);
  return element;
}

/** Only what differs from an element without any style: a tenth of the text. */
function write(element, copy) {
  const own = getComputedStyle(element);
  const usual = getComputedStyle(plain);
  copy.removeAttribute("style");
  for (const name of own) {
    const value = own.getPropertyValue(name);
    if (ALWAYS.has(name) || value !== usual.getPropertyValue(name)) copy.style.setProperty(name, value);
  }
  // Scrollbars of a copy would be drawn anew, and not where they are.
  for (const way of ["overflow-x", "overflow-y"]) {
    if (/auto|scroll/.test(own.getPropertyValue(way))) copy.style.setProperty(way, "hidden");
  }
  for (const { name } of [...copy.attributes]) if (/^on|^(id|class|href|for)$|^data-/.test(name)) copy.removeAttribute(name);
}

// The blank one has these for a reason of its own, or the browser's own sheet sets them by tag.
const ALWAYS = new Set([
  "box-sizing", "display", "position", "width", "height", "margin-top", "margin-right", "margin-bottom", "margin-left", "overflow-x",
  "overflow-y", "clip-path", "white-space-collapse", "text-wrap-mode", "font-size", "font-weight", "font-style", "font-family",
  "color", "text-align", "list-style-type", "border-top-width", "border-right-width", "border-bottom-width",
  "border-left-width", "padding-top", "padding-right", "padding-bottom", "padding-left", "background-color",
  "text-decoration-line", "appearance", "vertical-align", "border-collapse", "line-height",
]);

function keepValue(element, copy) {
  if (element.tagName === "TEXTAREA") copy.textContent = element.value;
  else copy.setAttribute("value", element.type === "password" ? "•".repeat(element.value.length) : element.value);
}

/** What is scrolled out of sight stays so. */
function scrolled(element, copy) {
  if (!element.scrollTop && !element.scrollLeft) return;
  for (const child of copy.children) {
    child.style.setProperty("translate", `${-element.scrollLeft}px ${-element.scrollTop}px`);
  }
}

/** A picture in place of what can't be copied, or nothing. */
async function standIn(element, page) {
  if (element.matches("script, link, style, .edge")) return null;
  const image = document.createElement("img");
  const address = element.tagName === "IFRAME" ? page : pixels(element);
  if (address) image.src = address;
  else if (element.checkVisibility() && lost.length < 50) lost.push(named(element));
  return address ? image : document.createElement("div");
}

function named(element) {
  const what = { IFRAME: "a page", CANVAS: "a drawing", VIDEO: "a video" }[element.tagName] ?? "a picture";
  return element.title || element.alt ? `${what}: ${element.title || element.alt}`.slice(0, 200) : what;
}

function pixels(element) {
  try {
    if (element.tagName === "CANVAS") return element.toDataURL();
    const canvas = document.createElement("canvas");
    canvas.width = element.naturalWidth ?? element.videoWidth;
    canvas.height = element.naturalHeight ?? element.videoHeight;
    canvas.getContext("2d").drawImage(element, 0, 0);
    return canvas.toDataURL();
  } catch {
    return null; // nothing drawn yet, or tainted
  }
}
