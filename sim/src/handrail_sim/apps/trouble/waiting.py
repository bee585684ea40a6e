"""Screens that make one wait: with an end, without one, and for a single button."""

from __future__ import annotations

from handrail_sim.apps.trouble.notebook import note, told
from handrail_sim.system.activities import Activity
from handrail_sim.view import View, button, column, spinner, text, toolbar

LOADING_MS = 3000
LATE_MS = 4000


class _Waiting(Activity):
    """A toolbar and something in the middle."""

    def centred(self, *views: View | None) -> View:
        middle = column(*views, height="wrap", weight=1.0, gravity="center", gap=16.0, padding=24.0)
        return column(toolbar(self.title, on_up=self.finish), middle, height="fill")


class Loading(_Waiting):
    """Three seconds, then a button."""

    title = "Spinner that ends"

    def on_create(self) -> None:
        self.state["loaded"] = False
        loading_ms = float(told(self, "loading_ms", LOADING_MS))
        if loading_ms:
            self.later(loading_ms, self.loaded)

    def loaded(self) -> None:
        self.state["loaded"] = True

    def build(self) -> View:
        if not self.state["loaded"]:
            return self.centred(spinner(id="spinner"), text("Loading…", id="loading"))
        return self.centred(
            text(told(self, "loaded", "Loaded"), "headline", id="loaded"),
            button("Continue", self.go_on, id="continue"),
        )

    def go_on(self) -> None:
        note(self, "loaded")
        self.finish()


class Endless(_Waiting):
    """Only Back helps."""

    title = "Spinner that never ends"

    def build(self) -> View:
        return self.centred(spinner(id="spinner"), text("Loading…", id="loading"))


class Late(_Waiting):
    """Everything is there but the one button that matters."""

    title = "Late button"

    def on_create(self) -> None:
        self.state["ready"] = False
        self.later(LATE_MS, self.ready)

    def ready(self) -> None:
        self.state["ready"] = True

    def build(self) -> View:
        return self.centred(
            text("Please read this carefully.", "title"),
            text(told(self, "terms", "You can go on when you have had time to read it.")),
            button("Agree", self.agree, id="agree") if self.state["ready"] else None,
        )

    def agree(self) -> None:
        note(self, "agreed")
        self.finish()
