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
  reveal();
})();
