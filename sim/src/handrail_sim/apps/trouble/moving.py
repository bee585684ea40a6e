"""Screens that do not hold still: one that never rests, one whose rows slide away under the finger."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.trouble.notebook import note, told
from handrail_sim.system.activities import Activity
from handrail_sim.view import Style, View, button, column, frame, item, lazy_list, text, toolbar

FRAME_MS = 100
SHIFT_MS = 700
TARGET = "Kestrel"
_TRACK = 48
_BIRDS = ("Dunlin", "Eider", "Fulmar", "Gannet", TARGET, "Merlin", "Plover", "Siskin", "Wheatear")


class Restless(Activity):
    """A ball that runs for ever; the button beside it works all the same."""

    title = "Never still"
    animating = True

    def on_create(self) -> None:
        self.state["frame"] = 0
        self.every(FRAME_MS, self.step)

    def step(self) -> None:
        self.state["frame"] += 1

    def build(self) -> View:
        frame_number = self.state["frame"]
        place = abs((frame_number + _TRACK) % (2 * _TRACK) - _TRACK)
        ball = View(
            cls="android.view.View",
            id="ball",
            width=40.0,
            height=40.0,
            margin=(6.0 * place, 0.0, 0.0, 0.0),
            style=Style(kind="card", background="primary", radius=20.0),
        )
        return column(
            toolbar("Never still", on_up=self.finish),
            frame(ball, height=80.0, padding=16.0),
            text(f"Frame {frame_number}", id="frame", padding=16.0),
            button("I found it", self.found, id="found", margin=16.0),
            height="fill",
        )

    def found(self) -> None:
        note(self, "found")
        self.finish()


class Shifting(Activity):
    """Every 700 ms a row is put on top, so what was aimed at is one row further down."""

    title = "Shifting list"

    def on_create(self) -> None:
        self.state["added"] = 0
        self.every(SHIFT_MS, self.shift)

    def shift(self) -> None:
        self.state["added"] += 1

    def build(self) -> View:
        added = [f"Sparrow {number}" for number in range(self.state["added"], 0, -1)]
        return column(
            toolbar(f"Tap {self.target}", on_up=self.finish),
            lazy_list(
                [*added, *told(self, "birds", _BIRDS)],
                self.row,
                item_key=str,
                id="birds",
                height="wrap",
                weight=1.0,
            ),
            height="fill",
        )

    @property
    def target(self) -> str:
        return str(told(self, "target", TARGET))

    def row(self, bird: str) -> View:
        return item(bird, id="bird", on_click=partial(self.take, bird))

    def take(self, bird: str) -> None:
        if bird == self.target:
            note(self, f"chose {bird}")
            self.finish()
        else:
            note(self, bird, "missed")
            self.toast(f"That was {bird}")
