"""Screens where something comes between: a banner above the button, a dialog in the middle of a form."""

from __future__ import annotations

from handrail_sim.apps.trouble.notebook import note, told
from handrail_sim.system.activities import Activity
from handrail_sim.view import (
    Style,
    View,
    button,
    checkbox,
    column,
    field,
    frame,
    icon_button,
    row,
    text,
    toolbar,
)

POP_UP_MS = 1500


class Covered(Activity):
    """The button is in the tree with its full bounds, and the banner takes every tap on it."""

    title = "Covered button"

    def on_create(self) -> None:
        self.state["banner"] = True

    def build(self) -> View:
        page = column(
            toolbar("Covered button", on_up=self.finish),
            text(told(self, "notice", "Press the button at the bottom of this page."), padding=16.0),
            height="fill",
        )
        accept = button(
            "Accept", self.accept, id="accept", align="center_h bottom", margin=(16.0, 40.0), width="fill"
        )
        return frame(page, accept, self.banner() if self.state["banner"] else None, height="fill")

    def banner(self) -> View:
        return row(
            text("This app uses lanterns. By going on you agree to light.", weight=1.0),
            icon_button("close", "Close banner", self.close_banner, id="close_banner"),
            id="banner",
            align="bottom",
            height=160.0,
            padding=16.0,
            style=Style(kind="card", background="secondary_container", elevation=6.0),
            on_click=self.hit_banner,
        )

    def hit_banner(self) -> None:
        note(self, "banner", "missed")

    def close_banner(self) -> None:
        self.state["banner"] = False

    def accept(self) -> None:
        note(self, "accepted")
        self.finish()


class Interrupted(Activity):
    """Step two of three brings a question nobody asked for."""

    title = "Interrupting dialog"

    def on_create(self) -> None:
        self.state.update(step=1, careful=False)

    def build(self) -> View:
        step = (self.first, self.second, self.third)[self.state["step"] - 1]
        words = text(f"Step {self.state['step']} of 3", "title", id="step")
        body = column(words, *step(), padding=24.0, gap=16.0)
        return column(toolbar(self.title, on_up=self.finish), body, height="fill")

    def first(self) -> list[View]:
        return [field("name", hint="Name"), button("Next", self.next, id="next")]

    def second(self) -> list[View]:
        box = checkbox("I was careful", self.state["careful"], self.set_careful, id="careful")
        return [box, button("Next", self.next, id="next", enabled=self.state["careful"])]

    def third(self) -> list[View]:
        return [text(f"Ready, {self.field('name') or 'stranger'}?"), button("Finish", self.done, id="finish")]

    def next(self) -> None:
        self.state["step"] += 1
        if self.state["step"] == 2:
            self.later(POP_UP_MS, self.interrupt)

    def interrupt(self) -> None:
        self.dialog("Do you like this app?", "Rate it now.", {"Not now": None, "Rate": self.rate})

    def rate(self) -> None:
        note(self, "rated", "missed")

    def set_careful(self, checked: bool) -> None:
        self.state["careful"] = checked

    def done(self) -> None:
        note(self, "finished the form")
        self.app.prefs("trouble")["form"] = self.field("name")
        self.finish()
