"""Canvas lab: apps that draw everything on one surface, so that accessibility sees a single empty node.

A game, a payment as a Flutter build without semantics shows it, a map, a far desktop. Its world names
the page, the words (any script) and the numbers of the game; words that Roboto lacks are painted with the
fonts of this machine (`paint/system_fonts.py`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.paint import system_fonts
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.world import mapping
from handrail_sim.view import Style, View

SURFACE = "android.view.SurfaceView"
PAGES = ("menu", "game", "pay", "map", "remote")
NUMBERS = (7, 3, 9, 1, 5, 8, 2, 6, 4)
WORDS = {"total": "Total 42.50 €", "pay": "Pay 42.50 €", "cancel": "Cancel", "paid": "Paid", "back": "Menu"}
_PLACES = (
    ("Old Harbour", 90.0, 120.0),
    ("Station", 230.0, 260.0),
    ("Museum", 60.0, 420.0),
    ("Park", 250.0, 520.0),
)


def tile(words: str, on_click: Any, **options: Any) -> View:
    """A drawn button: a box with a word in it."""
    style = Style(kind="button", role="filled", radius=10.0, background=options.pop("ground", "primary"))
    label = ui.text(
        words, "subtitle", align="center", style=Style(kind="text", size=18.0, color="on_primary")
    )
    return ui.frame(label, style=style, on_click=on_click, **options)


class Main(Activity):
    """Every page is views whose surface keeps them from accessibility; touch works as on any app."""

    title = "Canvas lab"

    def on_create(self) -> None:
        world = self.phone.world.get(self.app.package, {})
        if any(any(ord(char) > 0x0500 for char in word) for word in world.get("words", {}).values()):
            system_fonts.enable()
        self.words = {**WORDS, **world.get("words", {})}
        self.state.update(page=world.get("page", "menu"), next=1, wrong=0, paid=0, place="", tick=0)
        self.numbers = tuple(world.get("numbers", NUMBERS))
        if world.get("clock"):
            self.every(1_000.0, self.tick)

    def tick(self) -> None:
        self.state["tick"] += 1

    def build(self) -> View:
        pages = (self.page_menu, self.page_game, self.page_pay, self.page_map, self.page_remote)
        page = pages[PAGES.index(self.state["page"])]
        surface = ui.screen(*page(), style=Style(kind="plain", background="surface"), accessible=False)
        return ui.frame(surface, cls=SURFACE, height="fill")

    def open(self, page: str) -> None:
        self.state["page"] = page

    def page_menu(self) -> list[View]:
        rows = [tile(name.title(), partial(self.open, name), width="fill", height=64.0) for name in PAGES[1:]]
        return [ui.text(self.title, "title", padding=24.0), ui.column(*rows, gap=16.0, padding=24.0)]

    def page_game(self) -> list[View]:
        won = self.state["next"] > len(self.numbers)
        words = f"You won with {self.state['wrong']} mistakes" if won else f"Next: {self.state['next']}"
        tiles = [
            tile(
                str(number),
                partial(self.play, number),
                height=96.0,
                margin=6.0,
                ground="outline" if number < self.state["next"] else "primary",
            )
            for number in self.numbers
        ]
        return [ui.text(words, "title", padding=24.0), ui.grid(3, *tiles, padding=16.0), self.way_back()]

    def play(self, number: int) -> None:
        if number == self.state["next"]:
            self.state["next"] += 1
            if self.state["next"] > len(self.numbers):
                self.app.prefs("canvas")["mistakes"] = self.state["wrong"]
        elif number > self.state["next"]:
            self.state["wrong"] += 1

    def page_pay(self) -> list[View]:
        clock = [ui.text(f"12:00:{self.state['tick'] % 60:02d}", padding=24.0)] if self.state["tick"] else []
        done = [ui.text(self.words["paid"], "title", padding=24.0)] if self.state["paid"] else []
        return [
            ui.text(self.words["total"], "title", padding=24.0),
            *clock,
            ui.column(
                tile(self.words["pay"], self.take_payment, width="fill", height=64.0),
                tile(
                    self.words["cancel"],
                    partial(self.open, "menu"),
                    width="fill",
                    height=64.0,
                    ground="outline",
                ),
                gap=48.0,
                padding=24.0,
            ),
            *done,
        ]

    def take_payment(self) -> None:
        self.state["paid"] += 1
        self.app.prefs("canvas")["paid"] = self.state["paid"]

    def page_map(self) -> list[View]:
        marks = [
            ui.text(
                name,
                style=Style(kind="text", size=16.0),
                margin=(x, y, 0.0, 0.0),
                on_click=partial(self.go, name),
            )
            for name, x, y in _PLACES
        ]
        roads = ui.frame(
            *(
                ui.frame(
                    style=Style(kind="plain", background="surface_container"),
                    height=10.0,
                    width="fill",
                    margin=(0.0, y, 0.0, 0.0),
                )
                for y in (220.0, 380.0)
            ),
            *marks,
            height=600.0,
        )
        chosen = (
            ui.text(f"Way to {self.state['place']}", "title", padding=16.0) if self.state["place"] else None
        )
        return [roads, *([chosen] if chosen else []), self.way_back()]

    def go(self, name: str) -> None:
        self.state["place"] = self.app.prefs("canvas")["place"] = name

    def page_remote(self) -> list[View]:
        menu = ui.row(*(ui.text(word, padding=12.0) for word in ("File", "Edit", "View")), gap=8.0)
        rows = [ui.text(f"report-{year}.txt", padding=10.0) for year in (2023, 2024, 2025)]
        return [ui.text("Desktop of archive", "label", padding=12.0), menu, ui.column(*rows), self.way_back()]

    def way_back(self) -> View:
        return tile(self.words["back"], partial(self.open, "menu"), width=140.0, height=56.0, margin=24.0)


@declared
class CanvasLab(App):
    """One surface, and nothing in the tree."""

    activities = {"MainActivity": Main}

    def fill(self, content: Any) -> None:
        self.phone.world[self.package] = mapping(content, "canvas_lab", "page words numbers clock")

    def state(self) -> dict[str, Any]:
        prefs = self.prefs("canvas")
        return {
            name: prefs.get(name, usual) for name, usual in (("paid", 0), ("mistakes", -1), ("place", ""))
        }


APP = CanvasLab
