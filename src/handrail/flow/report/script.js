"use strict";
(() => {
  const body = document.body;
  const toolbar = document.querySelector(".toolbar");
  toolbar.hidden = false;

  const show = (which) => {
    body.dataset.show = which;
    for (const button of toolbar.querySelectorAll("[data-show]")) {
      button.setAttribute("aria-pressed", String(button.dataset.show === which));
    }
  };

  // A link may lead into something that is closed or filtered out.
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    if (target.closest(".quiet")) show("all");
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
    }
    target.scrollIntoView({ block: "start" });
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.show) show(button.dataset.show);
    if (button.dataset.open) {
      const open = button.dataset.open === "true";
      for (const details of document.querySelectorAll("details")) details.open = open;
    }
    if (button.classList.contains("zoom")) {
      const large = button.closest("figure").classList.toggle("large");
      button.title = large ? "Make smaller" : "Enlarge";
    }
  });
  addEventListener("hashchange", reveal);

  // A player shows one of its frames; the row of its step and the head on the time line go with it.
  const SHORTEST = 600;
  const LONGEST = 1500;
  const WAYS = { ArrowLeft: -1, ArrowRight: 1 };
  const spoken = (ms) => (ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`);

  class Player {
    constructor(section) {
      this.section = section;
      this.card = section.closest(".inside");
      this.frames = [...section.querySelectorAll(".frame")];
      this.times = this.frames.map((frame) => Number(frame.dataset.at));
      this.rows = [...section.querySelectorAll(".reel button")];
      this.scrub = section.querySelector(".scrub");
      this.moment = section.querySelector(".moment");
      this.button = section.querySelector(".play");
      this.span = Number(section.dataset.span) || 1;
      this.heads = [...this.card.querySelectorAll(".timeline .strip")].map((strip) => {
        const head = document.createElement("span");
        head.className = "head";
        strip.append(head);
        return head;
      });
      section.classList.remove("still");
      this.listen();
      this.show(0, this.times[0]);
    }

    listen() {
      this.section.addEventListener("keydown", (event) => this.key(event));
      for (const name of ["pointerdown", "focusin"]) this.card.addEventListener(name, () => { Player.latest = this; });
      this.scrub.addEventListener("input", () => this.seek(Number(this.scrub.value)));
      this.button.addEventListener("click", () => this.toggle());
      for (const row of this.rows) row.addEventListener("click", () => this.goTo(row));
      // A bar of the time line leads to its step, and the picture goes with it.
      for (const bar of this.card.querySelectorAll(".lane a")) {
        bar.addEventListener("click", () => this.goTo(this.rows.find((row) => `#${row.dataset.step}` === bar.getAttribute("href"))));
      }
    }

    show(index, value) {
      this.index = Math.max(0, Math.min(index, this.frames.length - 1));
      const at = value ?? this.times[this.index];
      const now = this.frames[this.index];
      for (const frame of this.frames) frame.hidden = frame !== now;
      for (const [place, row] of this.rows.entries()) this.mark(row, place === Number(now.dataset.row));
      this.scrub.value = at;
      this.moment.textContent = `${spoken(at)} of ${spoken(this.span)}`;
      for (const head of this.heads) head.style.left = `${Math.min(100, (100 * at) / this.span)}%`;
    }

    mark(row, isNow) {
      if (isNow) {
        row.setAttribute("aria-current", "step");
        this.scrub.setAttribute("aria-valuetext", row.querySelector(".label").textContent);
        this.bringIntoSight(row.parentElement);
      } else row.removeAttribute("aria-current");
      row.tabIndex = isNow ? 0 : -1;
      document.getElementById(row.dataset.step)?.closest(".step").classList.toggle("now", isNow);
    }

    // Only the list moves, never the page.
    bringIntoSight(item) {
      const list = item.parentElement;
      const top = item.offsetTop - list.offsetTop;
      const most = top + item.offsetHeight - list.clientHeight;
      list.scrollTop = Math.max(most, Math.min(top, list.scrollTop));
    }

    seek(at) {
      this.stop();
      this.show(this.times.findLastIndex((time) => time <= at), at);
    }

    goTo(row) {
      this.stop();
      if (row) this.show(this.frames.findIndex((frame) => frame.dataset.row === row.dataset.row));
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in WAYS) {
        this.stop();
        this.show(this.index + WAYS[event.key]);
        if (this.rows.includes(document.activeElement)) this.rows[this.frames[this.index].dataset.row].focus();
      } else if (event.key === " " && event.target === this.scrub) this.toggle();
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    toggle() {
      if (this.timer) {
        this.stop();
        return;
      }
      if (this.index === this.frames.length - 1) this.show(0);
      this.button.textContent = "Pause";
      this.tick();
    }

    tick() {
      if (this.index === this.frames.length - 1) {
        this.stop();
        return;
      }
      const gap = this.times[this.index + 1] - this.times[this.index];
      this.timer = setTimeout(() => {
        this.show(this.index + 1);
        this.tick();
      }, Math.min(Math.max(gap, SHORTEST), LONGEST));
    }

    stop() {
      clearTimeout(this.timer);
      this.timer = undefined;
      this.button.textContent = "Play";
    }
  }

  const players = [...document.querySelectorAll(".player")].map((section) => new Player(section));
  // Keys that nobody else wants go to the player that was used last, else to the first that is open.
  document.addEventListener("keydown", (event) => {
    const isFree = event.target === document.body || event.target.tagName === "SUMMARY";
    const player = Player.latest ?? players.find((one) => one.section.closest("details").open);
    if (isFree && player && event.key in WAYS) player.key(event);
  });
  reveal();
})();
