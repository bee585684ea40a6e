// Saving and opening: as a flow, as Maestro's file, as a test for pytest, as a Python script.

import { el } from "../../desk/element.js";
import { icon } from "../../desk/icons.js";

const FORMS = { flow: ["Flow", ".yaml"], maestro: ["Maestro file", ".maestro.yaml"], pytest: ["pytest function", "_test.py"], script: ["Python script", ".py"] };

/** A bar under the editor; `editor` has the text. */
export class Keep {
  constructor(ctx, editor, saved) {
    Object.assign(this, { ctx, editor, saved, before: null });
    this.name = el("input", { class: "input", "aria-label": "Name of the flow", placeholder: "Name, e.g. Buy a mug", on: { keydown: (event) => event.key === "Enter" && this.save() } });
    this.form = el("select", { class: "input", "aria-label": "Save as" }, Object.entries(FORMS).map(([value, [text]]) => el("option", { value, text })));
    this.again = el("input", { type: "checkbox" });
    this.said = el("div", { class: "studio-said", role: "status" });
    this.element = el("div", { class: "studio-keep" }, this.name, this.form,
      el("button", { type: "button", class: "btn", on: { click: () => this.save() } }, icon("save"), "Save"),
      el("label", { class: "studio-all", title: "Every time it is saved, it runs" }, this.again, "run when saved"), this.said);
  }

  /** A file of the list, or what somebody wrote in another app. */
  async open(file) {
    const { text } = await this.ctx.api(`/api/flows/file?file=${encodeURIComponent(file)}`);
    Object.assign(this, { file, before: text });
    this.editor.file = file;
    this.editor.full = text;
    this.editor.pauses.clear();
    this.name.value = /^name: *"?(.*?)"? *$/m.exec(text)?.[1] ?? file.replace(/\.ya?ml$/, "");
    this.said.replaceChildren();
    return this.editor.check();
  }

  fresh() {
    Object.assign(this, { file: null, before: null });
    this.editor.file = "";
    this.name.value = "";
    this.said.replaceChildren();
  }

  async save() {
    const name = this.name.value.trim();
    if (!name) {
      this.said.textContent = "Give it a name first.";
      return this.name.focus();
    }
    const form = this.form.value;
    const [, ending] = FORMS[form];
    const slug = name.toLowerCase().normalize("NFKD").replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "flow";
    try {
      const titled = withName(this.editor.text, name);
      if (titled !== this.editor.text) this.editor.text = titled;
      const named = this.editor.full;
      const left = form === "flow" ? { text: named, leftOut: [] } : await this.ctx.api("/api/flows/convert", { method: "POST", body: { text: named, file: this.file ?? "", form } });
      const file = form === "flow" ? this.file ?? `${slug}${ending}` : `${form === "pytest" ? `test_${slug.replaceAll("-", "_")}.py` : `${slug}${ending}`}`;
      const isOwn = form === "flow" && this.file === file;
      const done = await this.ctx.api("/api/flows/file", { method: "POST", body: { text: left.text, file, before: isOwn ? this.before : null } });
      if (form === "flow") Object.assign(this, { file: done.file, before: left.text });
      this.editor.file = this.file ?? "";
      this.said.replaceChildren(el("span", { text: `Saved as ${done.path}` }), ...left.leftOut.map((line) => el("span", { class: "studio-left", text: line })));
      this.saved(this.again.checked && form === "flow");
    } catch (error) {
      this.said.replaceChildren(el("span", { class: "studio-left", text: `${error.message} ${error.hint ?? ""}` }));
    }
    return undefined;
  }
}

function withName(text, name) {
  const line = `name: ${/^[\w][\w ,.'()-]*$/.test(name) && !/^\d|^(true|false|null)$/.test(name) ? name : JSON.stringify(name)}`;
  return /^name:.*$/m.test(text) ? text.replace(/^name:.*$/m, () => line) : `${line}\n${text}`;
}
