// Runs as film strips: what somebody did on a phone, one picture for each step; a run kept as a flow in one click.

import { el } from "../../desk/element.js";
import { shortly } from "../../desk/error_words.js";
import { icon } from "../../desk/icons.js";
import { fill, picture } from "../../desk/pictures.js";
import { empty, failure, loading } from "../panes.js";
import { ended, lasted, moment, spaced, toneOf, who } from "../words.js";

const FAR = "600px"; // around what can be seen, pictures are fetched already

export class Runs {
  /** `show` opens one action in full; `page(before)` asks the server. */
  constructor(ctx, page, show) {
    Object.assign(this, { ctx, page, show });
    this.element = el("div", { class: "runs", role: "list", "aria-label": "Runs", tabindex: "-1" });
    this.soon = new IntersectionObserver((seen) => seen.forEach((one) => one.isIntersecting && this.draw(one.target)), { root: this.element, rootMargin: FAR });
  }

  async load() {
    const asked = (this.asked = Symbol("asked"));
    if (!this.element.childElementCount) this.element.replaceChildren(loading());
    try {
      const found = await this.page();
      if (asked !== this.asked) return found.runs;
      if (this.opened?.isConnected) return found.runs; // somebody looks at a picture: it stays where it is
      this.element.replaceChildren(...(found.runs.length ? this.list(found) : [this.none()]));
      return found.runs;
    } catch (error) {
      if (asked === this.asked) this.element.replaceChildren(failure(error, () => this.load()));
      return [];
    }
  }

  none() {
    return empty("play", "No runs here", "What an agent, a flow or you do on a phone appears here as a strip of pictures.");
  }

  list({ runs, next }) {
    const cards = runs.map((run) => this.card(run));
    if (!next) return cards;
    const more = el("button", { class: "btn journal-more", text: "Older runs", on: { click: async () => {
      more.disabled = true;
      try {
        more.replaceWith(...this.list(await this.page(next)));
      } catch (error) {
        more.disabled = false;
        this.ctx.fail(error, "Older runs could not be read.");
      }
    } } });
    return [...cards, more];
  }

  card(run) {
    const stage = el("div", { class: "film-stage", hidden: true });
    const strip = el("ol", { class: "film", "aria-label": "Steps", on: { keydown: (event) => arrows(event, strip) } });
    strip.append(...run.steps.map((step, at) => this.frame(step, at, () => this.enlarge(stage, strip, run, at))));
    const count = run.steps.length;
    const [failed, refused] = ["error", "warning"].map((wanted) => run.steps.filter((step) => step.failure_code && tone(step) === wanted).length);
    return el("div", { class: "run", role: "listitem", dataset: { run: run.id } },
      el("header", { class: "run-head" },
        el("h2", { class: "run-title" }, named(run.actor), el("span", { class: "quiet", text: ` on ${run.phone ?? run.device ?? "the desk"}`, title: run.device ?? "" })),
        failed ? el("span", { class: "badge badge-error", text: `${failed} failed` }) : null,
        refused ? el("span", { class: "badge badge-warning", text: `${refused} not done` }) : null,
        el("span", { class: "run-when quiet", text: `${moment(run.began_ms)} · ${count === 1 ? "1 step" : `${count} steps in ${lasted(run.ended_ms - run.began_ms)}`}` }),
        run.session ? this.keep(run) : null),
      strip, stage);
  }

  frame(step, at, open) {
    const shot = step.picture
      ? el("span", { class: "frame-picture", dataset: { address: `/api/journal/blob/${step.picture}` } })
      : el("span", { class: "frame-picture is-none", text: step.about || spaced(step.type) });
    if (step.picture) this.soon.observe(shot);
    return el("li", {}, el("button", {
      class: `frame frame-${tone(step)}`, dataset: { action: step.action_id }, "aria-label": `Step ${at + 1}: ${title(step)}, ${outcome(step)}`, on: { click: open },
    }, shot, el("span", { class: "frame-number", text: at + 1 }), el("span", { class: "frame-title", text: spaced(step.type) }),
      el("span", { class: "frame-about quiet", text: step.about || step.reason || "" })));
  }

  draw(place) {
    this.soon.unobserve(place);
    const shot = picture(place.dataset.address, { alt: "" });
    shot.addEventListener("error", () => { place.classList.add("is-none"); place.replaceChildren("no longer kept"); });
    place.replaceChildren(shot);
  }

  /** One step large below its strip; the same one again closes it. */
  enlarge(stage, strip, run, at) {
    const step = run.steps[at];
    if (this.opened && this.opened !== stage) this.opened.hidden = true;
    const again = !stage.hidden && stage.dataset.action === step.action_id;
    for (const one of this.element.querySelectorAll(".frame[aria-current]")) one.removeAttribute("aria-current");
    stage.hidden = again;
    this.opened = again ? null : stage;
    if (again) return;
    stage.dataset.action = step.action_id;
    const frame = strip.children[at].firstElementChild;
    frame.setAttribute("aria-current", "step");
    const move = (by) => { const next = strip.children[at + by]?.firstElementChild; next?.click(); next?.scrollIntoView({ block: "nearest", inline: "center" }); };
    const shot = el("img", { class: "film-picture", alt: `The phone after ${title(step)}` });
    if (step.picture) fill(shot, `/api/journal/blob/${step.picture}`);
    stage.replaceChildren(
      step.picture ? shot : el("p", { class: "film-picture is-none quiet", text: "There is no picture of this step." }),
      el("div", { class: "film-words" },
        el("p", { class: "quiet", text: `Step ${at + 1} of ${run.steps.length} · ${moment(step.at_ms)}` }),
        el("h2", { text: title(step) }),
        el("span", { class: `badge badge-${tone(step)}`, text: outcome(step) }),
        step.reason ? el("p", { text: step.reason }) : null,
        el("div", { class: "buttons" },
          el("button", { class: "btn btn-sm", disabled: at === 0, "aria-label": "Step before", on: { click: () => move(-1) } }, "←"),
          el("button", { class: "btn btn-sm", disabled: at === run.steps.length - 1, "aria-label": "Next step", on: { click: () => move(1) } }, "→"),
          el("button", { class: "btn btn-sm", text: "Details", on: { click: () => this.show(step.action_id) } }))));
    stage.closest(".run").scrollIntoView({ block: "start" });
  }

  keep(run) {
    const button = el("button", { class: "btn btn-sm run-keep", title: "Everything that was done in this session becomes a flow that can run again", on: { click: async () => {
      button.disabled = true;
      try {
        const kept = await this.ctx.api("/api/journal/flow", { method: "POST", body: { session: run.session, device: run.device } });
        this.ctx.toast(`Saved as ${kept.file}.`, "success");
        this.ctx.open("flows", { file: kept.file });
      } catch (error) {
        this.ctx.fail(error, "This session can't be made a flow.");
      } finally {
        button.disabled = false;
      }
    } } }, icon("flow"), "Save as a flow");
    return button;
  }

  close() {
    this.soon.disconnect();
  }
}

const named = (actor) => actor?.id || who(actor);
const title = (step) => spaced(step.type) + (step.about ? ` “${step.about}”` : "");
const outcome = (step) => (step.failure_code ? shortly(step.failure_code) : ended(step.state));
const tone = (step) => toneOf(step.state, step.failure_code);

function arrows(event, strip) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const all = [...strip.querySelectorAll(".frame")];
  const at = all.indexOf(document.activeElement);
  if (!step || at < 0 || !all[at + step]) return;
  event.preventDefault();
  all[at + step].focus();
  all[at + step].scrollIntoView({ block: "nearest", inline: "nearest" });
}
