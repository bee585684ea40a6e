"use strict";
(() => {
  const rows = [...document.querySelectorAll("tr[data-task]")];
  const toolbar = document.querySelector(".toolbar");
  if (!toolbar) return;
  toolbar.hidden = false;
  const nothing = document.querySelector(".nothing-left");
  let shown = "all";

  const filter = () => {
    const words = toolbar.querySelector("input").value.trim().toLowerCase();
    const wanted = [...toolbar.querySelectorAll("select")].map((one) => one.value).filter(Boolean);
    let left = 0;
    for (const row of rows) {
      const tags = row.dataset.tags.split("\t");
      const fits = (shown === "all" || row.dataset[shown] === "yes")
        && wanted.every((tag) => tags.includes(tag))
        && row.dataset.task.toLowerCase().includes(words);
      row.hidden = !fits;
      left += fits;
    }
    nothing.hidden = left > 0;
  };
  toolbar.addEventListener("input", filter);
  toolbar.addEventListener("click", (event) => {
    const button = event.target.closest("[data-only]");
    if (!button) return;
    shown = button.dataset.only;
    for (const one of toolbar.querySelectorAll("[data-only]")) one.setAttribute("aria-pressed", String(one === button));
    filter();
  });

  // The player: steps of one run beside the screen on which each was chosen.
  const theatre = document.querySelector(".theatre");
  const picture = theatre.querySelector("img");
  const list = theatre.querySelector("ol");
  const play = theatre.querySelector(".play");
  const scrub = theatre.querySelector("input");
  let frames = [];
  let timer = null;

  const at = (number) => {
    const frame = frames[number];
    if (!frame) return;
    scrub.value = String(number);
    for (const [index, item] of [...list.children].entries()) item.classList.toggle("now", index === number);
    const row = list.children[number];
    list.scrollTop = row.offsetTop - list.offsetTop - list.clientHeight / 2;
    if (frame.dataset.picture) picture.src = frame.dataset.picture;
    picture.hidden = !picture.getAttribute("src");
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  };
  play.addEventListener("click", () => {
    if (timer) return stop();
    play.textContent = "Pause";
    let number = Number(scrub.value) >= frames.length - 1 ? 0 : Number(scrub.value);
    at(number);
    timer = setInterval(() => (number + 1 < frames.length ? at((number += 1)) : stop()), 900);
  });
  scrub.addEventListener("input", () => { stop(); at(Number(scrub.value)); });

  document.addEventListener("click", (event) => {
    const mark = event.target.closest("a.mark");
    const reel = mark && !event.ctrlKey && !event.metaKey && document.getElementById(mark.dataset.reel);
    if (!reel) return;
    event.preventDefault();
    stop();
    for (const one of document.querySelectorAll("a.mark.now")) one.classList.remove("now");
    mark.classList.add("now");
    frames = [...reel.children];
    picture.removeAttribute("src");
    theatre.querySelector("h2").textContent = mark.getAttribute("aria-label");
    theatre.querySelector(".why").textContent = mark.dataset.why;
    theatre.querySelector("a").href = mark.href;
    list.replaceChildren(...frames.map((frame, index) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      const [number, told, outcome] = ["span", "bdi", "em"].map((name) => document.createElement(name));
      number.textContent = String(index + 1);
      told.textContent = frame.textContent;
      outcome.textContent = frame.dataset.outcome;
      button.type = "button";
      button.append(number, told, outcome);
      button.addEventListener("click", () => { stop(); at(index); });
      item.append(button);
      return item;
    }));
    scrub.max = String(Math.max(0, frames.length - 1));
    theatre.hidden = false;
    at(0);
    theatre.scrollIntoView({ block: "nearest" });
  });
})();
