"""An app for stories about waiting: animations with an end, tickers without one, switches that mislead."""

from __future__ import annotations

from functools import partial

from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, button, checkbox, column, radio, switch, text, toolbar

FRAME_MS = 100
FLIP_BACK_MS = 200
POP_UP_MS = 1500
LENGTHS_MS = (300, 800, 1000)
TASKS = ("Water", "Sow", "Prune")


class Main(Activity):
    """One button or switch, one behaviour."""

    title = "Studio"

    def on_create(self) -> None:
        self.state.update(frame="", flips=False, flash=False, slow=False, size="Small", done=[], ticks=-1)

    def build(self) -> View:
        tasks = sorted(TASKS, key=lambda one: (one in self.state["done"], TASKS.index(one)))
        runs = [
            button(f"Run {length}", partial(self.animate, length), id=f"run{length}") for length in LENGTHS_MS
        ]
        return column(
            toolbar("Studio"),
            text(self.state["frame"] or "Still", id="frame"),
            *runs,
            button("Toast", partial(self.toast, "Hello from below"), id="toast"),
            button("Ask later", self.ask_later, id="later"),
            button("Nothing", self.nothing, id="nothing"),
            text(f"Score {self.state['ticks']}", id="score") if self.state["ticks"] >= 0 else None,
            button("Count", self.count, id="count"),
            switch("Flips back", self.state["flips"], self.flip, id="flips"),
            switch("Flashes", self.state["flash"], self.flash, id="flash"),
            switch("Slow", self.state["slow"], self.slow, id="slow"),
            *[
                radio(one, self.state["size"] == one, partial(self.choose_size, one), id="size")
                for one in ("Small", "Large")
            ],
            *[checkbox(one, one in self.state["done"], partial(self.tick, one), id="task") for one in tasks],
            height="fill",
        )

    def animate(self, length: int) -> None:
        for number in range(1, length // FRAME_MS + 1):
            self.later(number * FRAME_MS, partial(self.show, f"Frame {number}"))
        self.later(length + 1, partial(self.show, f"Ran {length}"))
        self.show("Frame 0")

    def show(self, words: str) -> None:
        self.state["frame"] = words

    def nothing(self) -> None:
        pass

    def count(self) -> None:
        self.state["ticks"] = 0
        self.every(1000, self.one_more)

    def one_more(self) -> None:
        self.state["ticks"] += 1

    def ask_later(self) -> None:
        self.later(POP_UP_MS, self.ask)

    def ask(self) -> None:
        self.dialog("Do you like this studio?", "", {"No": None, "Yes": None})

    def flip(self, on: bool) -> None:
        self.state["flips"] = on
        if on:
            self.later(FLIP_BACK_MS, partial(self.flip, False))

    def flash(self, on: bool) -> None:
        self.state["flash"] = on
        if on:
            self.later(8, partial(self.flash, False))

    def slow(self, on: bool) -> None:
        self.later(600, partial(self.set_slow, on))

    def set_slow(self, on: bool) -> None:
        self.state["slow"] = on

    def choose_size(self, size: str, *_: object) -> None:
        self.state["size"] = size

    def tick(self, task: str, on: bool) -> None:
        done = [one for one in self.state["done"] if one != task]
        self.state["done"] = [*done, task] if on else done


class Studio(App):
    package = "com.handrail.studio"
    label = "Studio"
    activities = {"MainActivity": Main}
