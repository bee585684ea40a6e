// Builds DOM elements. Text is always text: nothing here parses markup, so agents' words can't become any. What would
// turn the direction of a text around is shown as its code: a person decides on what they read.

const SVG = "http://www.w3.org/2000/svg";
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

/** A text whose letters stand in the order in which they are read. */
const upright = (text) => String(text).replace(TURNING, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`);

/** `el("button", {class, text, dataset, style, on: {click}, "aria-label"}, ...children)`. */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(element, name, value);
  const shown = children.flat().filter((one) => one !== null && one !== undefined && one !== false);
  element.append(...shown.map((one) => (one instanceof Node ? one : upright(one))));
  return element;
}

function set(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name === "class") element.className = value;
  else if (name === "text") element.textContent = upright(value);
  else if (name === "dataset") Object.assign(element.dataset, value);
  else if (name === "style") setStyle(element, value);
  else if (name === "on") listen(element, value);
  else if (typeof value === "function" && name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
  else if (/^on/i.test(name)) throw new TypeError(`${name} must be a function`);
  else element.setAttribute(name, value === true ? "" : value);
}

/** Through the CSSOM, which the page's policy allows; style attributes it does not. */
export function setStyle(element, values) {
  for (const [name, value] of Object.entries(values)) {
    const property = name.startsWith("--") ? name : name.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`);
    element.style.setProperty(property, value);
  }
}

function listen(element, handlers) {
  for (const [type, handler] of Object.entries(handlers)) element.addEventListener(type, handler);
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

let counter = 0;
/** An id that is unique on this page, for labels and descriptions. */
export const freshId = (prefix) => `${prefix}-${++counter}`;

/** Unique beyond this page: message and client ids. */
export function randomId(prefix) {
  const bytes = crypto.getRandomValues(new Uint8Array(9));
  return `${prefix}-${btoa(String.fromCharCode(...bytes)).replace(/[+/]/g, "_")}`;
}
