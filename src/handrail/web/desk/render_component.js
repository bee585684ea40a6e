// The seven components on their grid. What the person typed survives a new version of the layout.

import { el, freshId, setStyle } from "./element.js";
import { anyIcon, icon, isOwnPicture } from "./icons.js";
import { picture } from "./pictures.js";
import { Clicks } from "./clicks.js";

const GAPS = { none: "0", sm: "6px", md: "12px", lg: "22px" };
const LENGTH = /^\d{1,5}(\.\d+)?(px|%|em|rem|vw|vh|ch)?$|^auto$/;

export class Components {
  /** `form/name` → what the person made of a field, and the default it had. */
  #typed = new Map();

  constructor(root, shell, frame) {
    this.root = root;
    this.frame = frame;
    this.clicks = new Clicks(shell, frame, root);
    root.classList.add("content-components");
  }

  show(win) {
    const { components, cols = 1, gap = "md" } = win.content.data;
    const focused = this.root.contains(document.activeElement) ? document.activeElement.dataset.field : null;
    const grid = el("div", { class: "grid" }, components.map((one) => this.#one(one)));
    const columns = Array.isArray(cols) ? cols.map((share) => `minmax(0, ${share}fr)`).join(" ") : `repeat(${cols}, minmax(0, 1fr))`;
    setStyle(grid, { "grid-template-columns": columns, gap: GAPS[gap] ?? GAPS.md });
    this.root.replaceChildren(components.length ? grid : nothing());
    if (focused) [...this.root.querySelectorAll("[data-field]")].find((one) => one.dataset.field === focused)?.focus();
    this.clicks.answered();
  }

  changed(win) { this.clicks.changed(win); }

  #one(one) {
    const make = {
      button: () => this.#button(one), input: () => this.#input(one), select: () => this.#select(one),
      text: () => text(one), badge: () => badge(one), progress: () => progress(one), image: () => image(one),
    }[one.type];
    return make ? make() : el("span", { class: "muted", text: `(unknown component ${one.type})` });
  }

  #button(one) {
    const { label, action, variant = "secondary", size = "md", disabled = false } = one;
    const look = variant === "secondary" ? "btn" : `btn btn-${variant}`;
    const click = () => this.clicks.press({
      action, parallel: one.parallel ?? true, formId: one.submitForm,
      formData: one.submitForm === undefined || one.submitForm === null ? null : this.#form(one.submitForm),
    });
    return el("button", { type: "button", class: `${look} btn-${size}`, disabled, on: { click } },
      one.icon ? anyIcon(one.icon, "star") : null, el("span", { text: label }));
  }

  #form(formId) {
    const fields = [...this.root.querySelectorAll("[data-form]")].filter((one) => one.dataset.form === formId);
    return Object.fromEntries(fields.map((one) => [one.dataset.name, one.value]));
  }

  #input(one) {
    const { variant = "text", rows, placeholder } = one;
    const field = rows ? el("textarea", { rows, placeholder }) : el("input", { type: variant, placeholder, autocomplete: "off" });
    return this.#field(one, field);
  }

  #select(one) {
    const options = one.options.map(({ value, label }) => el("option", { value, text: label }));
    const first = one.placeholder ? [el("option", { value: "", text: one.placeholder })] : [];
    return this.#field(one, el("select", {}, first, options));
  }

  #field(one, field) {
    const { name, formId = "", label, disabled = false, defaultValue = "" } = one;
    const id = freshId("field");
    const key = `${formId}/${name}`;
    const kept = this.#typed.get(key);
    const first = kept && kept.default === defaultValue ? kept.value : defaultValue;
    Object.assign(field, { id, disabled });
    Object.assign(field.dataset, { form: formId, name, field: key });
    if (first !== "" || field.tagName !== "SELECT" || one.placeholder) field.value = first;
    field.addEventListener("input", () => this.#typed.set(key, { value: field.value, default: defaultValue }));
    if (!label) field.setAttribute("aria-label", one.placeholder || name);
    return el("label", { class: "field", for: id }, label ? el("span", { text: label }) : null, field);
  }

  close() { this.clicks.close(); }
}

const nothing = () => el("div", { class: "empty" }, icon("apps"), el("strong", { text: "Nothing here yet" }),
  el("p", { text: "The agent will put buttons and fields here." }));

const TEXT_TAGS = { heading: "h3", subheading: "h4", code: "pre", caption: "p", body: "p" };

function text({ content, variant = "body", color = "default", textAlign = "left" }) {
  return el(TEXT_TAGS[variant] ?? "p", { class: `text text-${variant} tone-${color}`, text: content, style: { "text-align": textAlign } });
}

const badge = ({ label, variant = "default" }) => el("span", {}, el("span", { class: `badge badge-${variant}`, text: label }));

function progress({ value, label, variant = "default", showValue = false }) {
  const percent = Math.min(100, Math.max(0, value));
  const id = freshId("progress");
  const head = label || showValue ? el("span", { class: "progress-head" },
    el("span", { text: label ?? "", id }), showValue ? el("span", { text: `${Math.round(percent)} %` }) : null) : null;
  return el("div", { class: `progress progress-${variant}` }, head,
    el("div", { class: "progress-track", role: "progressbar", "aria-valuenow": percent, "aria-valuemin": 0,
      "aria-valuemax": 100, ...(label ? { "aria-labelledby": id } : { "aria-label": "Progress" }) },
    el("div", { class: "progress-bar", style: { width: `${percent}%` } })));
}

function image({ src, leftOut, width, height, fit = "contain" }) {
  if (!isOwnPicture(src)) {
    return el("p", { class: "text tone-muted picture-left-out" }, icon("image"), el("span", { text: `A picture from ${leftOut ?? "elsewhere"} is not loaded: that would tell the site who looks.` }));
  }
  return picture(src, { class: "picture", alt: "Picture from the agent", style: { width: size(width), height: size(height), "object-fit": fit } });
}

function size(value) {
  if (typeof value === "number") return `${value}px`;
  if (typeof value !== "string" || !LENGTH.test(value.trim())) return "auto";
  return /^\d+(\.\d+)?$/.test(value.trim()) ? `${value.trim()}px` : value.trim();
}
