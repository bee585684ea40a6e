"""Trouble: every way a screen can make life hard, one row each on the first screen."""

from __future__ import annotations

from functools import partial
from typing import Any

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.world import mapping
from handrail_sim.view import Style, View


def note(activity: Activity, words: str, page: str = "done") -> None:
    """Adds a line to `done` or `missed`."""
    prefs = activity.app.prefs("trouble")
    prefs[page] = f"{prefs.get(page, '')}\n{words}".strip()


def configured(activity: Activity, name: str, usual: Any) -> Any:
    return activity.phone.world.get(activity.app.package, {}).get(name, usual)


POP_UP_MS = 1500


class Covered(Activity):
    """The button is in the tree with its full bounds, and the banner takes every tap on it."""

    title = "Covered button"

    def on_create(self) -> None:
        self.state["banner"] = True

    def build(self) -> View:
        page = ui.screen(
            ui.toolbar("Covered button", on_up=self.finish),
            ui.text(configured(self, "notice", "Press the button at the bottom of this page."), padding=16.0),
        )
        accept = ui.button(
            "Accept", self.accept, id="accept", align="center_h bottom", margin=(16.0, 40.0), width="fill"
        )
        return ui.frame(page, accept, self.banner() if self.state["banner"] else None, height="fill")

    def banner(self) -> View:
        return ui.row(
            ui.text("This app uses lanterns. By going on you agree to light.", weight=1.0),
            ui.icon_button("close", "Close banner", self.sets("banner", False), id="close_banner"),
            id="banner",
            align="bottom",
            height=160.0,
            padding=16.0,
            style=Style(kind="card", background="secondary_container", elevation=6.0),
            on_click=self.hit_banner,
        )

    def hit_banner(self) -> None:
        note(self, "banner", "missed")

    def accept(self) -> None:
        note(self, "accepted")
        self.finish()


class Interrupted(Activity):
    """Step two of three opens an unexpected dialog."""

    title = "Interrupting dialog"

    def on_create(self) -> None:
        self.state.update(step=1, careful=False)

    def build(self) -> View:
        step = (self.first, self.second, self.third)[self.state["step"] - 1]
        words = ui.text(f"Step {self.state['step']} of 3", "title", id="step")
        body = ui.column(words, *step(), padding=24.0, gap=16.0)
        return ui.screen(ui.toolbar(self.title, on_up=self.finish), body)

    def first(self) -> list[View]:
        return [ui.field("name", hint="Name"), ui.button("Next", self.next, id="next")]

    def second(self) -> list[View]:
        box = ui.checkbox("I was careful", self.state["careful"], self.sets("careful"), id="careful")
        return [box, ui.button("Next", self.next, id="next", enabled=self.state["careful"])]

    def third(self) -> list[View]:
        return [
            ui.text(f"Ready, {self.field('name') or 'stranger'}?"),
            ui.button("Finish", self.done, id="finish"),
        ]

    def next(self) -> None:
        self.state["step"] += 1
        if self.state["step"] == 2:
            self.later(POP_UP_MS, self.interrupt)

    def interrupt(self) -> None:
        self.dialog("Do you like this app?", "Rate it now.", {"Not now": None, "Rate": self.rate})

    def rate(self) -> None:
        note(self, "rated", "missed")

    def done(self) -> None:
        note(self, "finished the form")
        self.app.prefs("trouble")["form"] = self.field("name")
        self.finish()


FREEZE_MS = 30_000
_ROWS = (
    ("Spinner that ends", "Loaded after three seconds", "LoadingActivity"),
    ("Spinner that never ends", "Nothing will come", "EndlessActivity"),
    ("Never still", "Ten frames a second without end", "RestlessActivity"),
    ("Crash", "An exception that is not caught", "crash"),
    ("Freeze", "The main thread is busy for half a minute", "freeze"),
    ("Silent death", "The process is gone without a word", "die"),
    ("Shifting list", "A new row on top every 700 ms", "ShiftingActivity"),
    ("Late button", "It appears after four seconds", "LateActivity"),
    ("Covered button", "Something lies above it", "CoveredActivity"),
    ("Interrupting dialog", "It pops up in the middle of a form", "InterruptedActivity"),
)
CRASH = "java.lang.IllegalStateException: The lantern is not lit"


class Main(Activity):
    """One row, one trouble."""

    title = "Trouble"

    def build(self) -> View:
        rows = ui.lazy_list(_ROWS, self.row, item_key=_key, id="troubles", weight=1.0)
        return ui.screen(ui.toolbar("Trouble"), rows)

    def row(self, trouble: tuple[str, str, str]) -> View:
        usual, summary, what = trouble
        title = configured(self, "rows", {}).get(usual, usual)
        return ui.item(title, summary, id="trouble", on_click=partial(self.make, what))

    def make(self, what: str) -> None:
        match what:
            case "crash":
                self.phone.kill_process(self.app.package, crash=CRASH)
            case "freeze":
                self.phone.hang(self.app.package, FREEZE_MS)
            case "die":
                self.phone.kill_process(self.app.package)
            case _:
                self.start(what)


def _key(trouble: tuple[str, str, str]) -> str:
    return trouble[0]


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
        return ui.screen(
            ui.toolbar("Never still", on_up=self.finish),
            ui.frame(ball, height=80.0, padding=16.0),
            ui.text(f"Frame {frame_number}", id="frame", padding=16.0),
            ui.button("I found it", self.mark_found, id="found", margin=16.0),
        )

    def mark_found(self) -> None:
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
        return ui.screen(
            ui.toolbar(f"Tap {self.target}", on_up=self.finish),
            ui.lazy_list(
                [*added, *configured(self, "birds", _BIRDS)], self.row, item_key=str, id="birds", weight=1.0
            ),
        )

    @property
    def target(self) -> str:
        return str(configured(self, "target", TARGET))

    def row(self, bird: str) -> View:
        return ui.item(bird, id="bird", on_click=partial(self.take, bird))

    def take(self, bird: str) -> None:
        if bird == self.target:
            note(self, f"chose {bird}")
            self.finish()
        else:
            note(self, bird, "missed")
            self.toast(f"That was {bird}")


LOADING_MS = 3000
LATE_MS = 4000


class _Waiting(Activity):
    """A toolbar and something in the middle."""

    def centred(self, *views: View | None) -> View:
        middle = ui.message(*views, padding=24.0)
        return ui.screen(ui.toolbar(self.title, on_up=self.finish), middle)


class Loading(_Waiting):
    """Three seconds, then a button."""

    title = "Spinner that ends"

    def on_create(self) -> None:
        self.state["loaded"] = False
        loading_ms = float(configured(self, "loading_ms", LOADING_MS))
        if loading_ms:
            self.later(loading_ms, self.loaded)

    def loaded(self) -> None:
        self.state["loaded"] = True

    def build(self) -> View:
        if not self.state["loaded"]:
            return self.centred(ui.spinner(id="spinner"), ui.text("Loading…", id="loading"))
        return self.centred(
            ui.text(configured(self, "loaded", "Loaded"), "headline", id="loaded"),
            ui.button("Continue", self.go_on, id="continue"),
        )

    def go_on(self) -> None:
        note(self, "loaded")
        self.finish()


class Endless(_Waiting):
    """Only Back helps."""

    title = "Spinner that never ends"

    def build(self) -> View:
        return self.centred(ui.spinner(id="spinner"), ui.text("Loading…", id="loading"))


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
            ui.text("Please read this carefully.", "title"),
            ui.text(configured(self, "terms", "You can go on when you have had time to read it.")),
            ui.button("Agree", self.agree, id="agree") if self.state["ready"] else None,
        )

    def agree(self) -> None:
        note(self, "agreed")
        self.finish()


@declared
class Trouble(App):
    """`state["done"]` is what was reached, in order; `state["missed"]` the taps that hit something else.

    `state["form"]` is the name with which the form was finished.
    """

    activities = {
        "MainActivity": Main,
        "LoadingActivity": Loading,
        "EndlessActivity": Endless,
        "LateActivity": Late,
        "RestlessActivity": Restless,
        "ShiftingActivity": Shifting,
        "CoveredActivity": Covered,
        "InterruptedActivity": Interrupted,
    }

    def fill(self, content: Any) -> None:
        """`rows`: other names; `birds` and the one to tap; `loaded` after `loading_ms` (0 is never).

        `terms` and `notice` are the texts of the late and of the covered button.
        """
        self.phone.world[self.package] = mapping(
            content, "trouble", "rows birds target loaded loading_ms terms notice"
        )

    def state(self) -> dict[str, Any]:
        prefs = self.prefs("trouble")
        lines = {
            name: [word for word in str(prefs.get(name, "")).split("\n") if word]
            for name in ("done", "missed")
        }
        return {**lines, "form": str(prefs.get("form", ""))}


APP = Trouble
