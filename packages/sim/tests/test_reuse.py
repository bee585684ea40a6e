"""What a new tree takes over from the old one is exactly what it would have come to by itself."""

from __future__ import annotations

import asyncio
import copy
import gc
import weakref
from random import Random
from typing import Any

from handrail_sim.screen.dump import window_nodes
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, button, card, column, field, item, lazy_list, row, switch, text, toolbar
from handrail_sim.view.lists import KEPT_ROWS
from handrail_sim.view.reuse import take_over
from handrail_sim.view.units import Units
from handrail_sim.view.windows import Window
from tests.hand import Hand, phone_with

WORDS = [
    "",
    "short",
    "a longer line of words",
    "so many words that they surely do not fit into one single line of a screen",
]


class Restless(Activity):
    """A screen that changes at random places."""

    def on_create(self) -> None:
        self.state.update(title="T", words=[1] * 6, on=[False] * 6, rows=list(range(20)), gap=0, shown=True)

    def build(self) -> View:
        state = self.state
        rows = [
            row(
                text(WORDS[which], weight=1.0),
                switch("", on, on_change=self.changed_one) if which % 2 else None,
                padding=(16.0, 4.0),
            )
            for which, on in zip(state["words"], state["on"], strict=True)
        ]
        return column(
            toolbar(state["title"]),
            card(*rows, gap=float(state["gap"])),
            field("name", hint="hint"),
            button(
                "Go", self.finish if state["shown"] else None, visible=state["shown"], enabled=len(rows) > 1
            ),
            lazy_list(state["rows"], self.line, item_key=str, id="list", weight=1.0),
            height="fill",
        )

    def line(self, number: int) -> View:
        return item(f"Row {number}", WORDS[number % 4], on_click=self.finish)

    def changed_one(self, _value: bool) -> None:
        """Nothing: the test changes the state."""


class RestlessApp(App):
    package = "com.example.restless"
    label = "Restless"
    activities = {"Restless": Restless}


def change(state: dict[str, Any], random: Random) -> None:
    match random.randrange(7):
        case 0:
            state["title"] = random.choice(["T", "Another title"])
        case 1:
            state["words"][random.randrange(6)] = random.randrange(4)
        case 2:
            state["on"][random.randrange(6)] ^= True
        case 3:
            random.shuffle(state["rows"])
        case 4:
            state["gap"] = random.randrange(3)
        case 5:
            state["shown"] ^= True
        case 6:
            del state["rows"][random.randrange(len(state["rows"]))]


def afresh(window: Window) -> str:
    """The same window, built by somebody who never saw it before."""
    other = Window(window.title, window.package, window.type, window.build, focus=window.focus)
    other.memory = copy.deepcopy(window.memory)
    other.resize(window.area, window.units)
    return window_nodes(other, compressed=False)


def test_a_screen_that_changes_a_hundred_times_is_always_what_it_would_be_afresh() -> None:
    async def story(hand: Hand, random: Random) -> None:
        await hand.open("com.example.restless")
        activity = hand.phone.tasks.top
        assert activity is not None
        for step in range(100):
            change(activity.state, random)
            if step % 10 == 3:
                await hand.tap("name")
            if step % 10 == 6:
                await hand.scroll(random.choice([0.2, -0.2]))
            if step % 10 == 8:
                await hand.back()
            if step % 25 == 20:
                hand.phone.set_font_scale(random.choice([1.0, 1.3]))
                activity = hand.phone.tasks.top
            if hand.phone.tasks.top is not activity or activity is None:
                return
            activity.changed()
            window = hand.phone.focused_window()
            assert window is not None
            assert window_nodes(window, compressed=False) == afresh(window), step

    for seed in range(3):
        asyncio.run(story(phone_with(RestlessApp), Random(seed)))


def test_alike_trees_are_taken_over_and_changed_ones_are_not() -> None:
    def tree(words: str) -> View:
        return column(text("same"), row(text(words), button("b", lambda: None)))

    old = tree("a")
    take_over(old, None)
    assert take_over(tree("a"), old)
    old = tree("a")
    take_over(old, None)
    new = tree("b")
    assert not take_over(new, old)


def test_a_handler_that_comes_or_goes_makes_a_difference() -> None:
    old = column(text("a", on_click=None))
    take_over(old, None)
    assert not take_over(column(text("a", on_click=print)), old)


def listing(rows: list[str]) -> Window:
    """A window with a list whose rows the test may change."""

    def build() -> View:
        return column(
            lazy_list(rows, lambda words: row(text(words), on_click=rows.clear), item_key=str, weight=1.0),
            height="fill",
        )

    window = Window("List", "com.example", "application", build)
    window.resize((0, 0, 1000, 1000), Units(2.0, 2.0))
    return window


def shown(window: Window, rows: list[str], now: list[str]) -> list[View]:
    rows[:] = now
    window.invalidate()
    window_nodes(window, compressed=False)
    return list(window.root.children[0].children)


def test_rows_that_come_back_are_taken_over() -> None:
    rows: list[str] = []
    window = listing(rows)
    first = [view.written for view in shown(window, rows, ["a", "b"])]
    shown(window, rows, ["c", "d"])
    again = shown(window, rows, ["a", "b", "c"])
    assert [view.written is kept for view, kept in zip(again, first, strict=False)] == [True, True]
    assert window_nodes(window, compressed=False) == afresh(window)


def test_a_list_keeps_few_rows_that_are_out_of_sight() -> None:
    rows: list[str] = []
    window = listing(rows)
    for number in range(3 * KEPT_ROWS):
        shown(window, rows, [f"row {number}"])
    assert len(window.root.children[0].rows_kept) == KEPT_ROWS


def test_trees_and_rows_that_nobody_needs_go_without_the_collector() -> None:
    rows: list[str] = []
    window = listing(rows)
    gc.disable()
    try:
        known = [weakref.ref(view) for view in [*shown(window, rows, ["first"]), window.root]]
        for number in range(KEPT_ROWS + 1):
            shown(window, rows, [f"row {number}"])
        assert [one() for one in known] == [None, None]
    finally:
        gc.enable()


def test_rows_that_an_app_hands_out_again_still_belong_to_their_list() -> None:
    made = [row(text(str(number))) for number in range(5)]
    window = Window("List", "com.example", "application", lambda: lazy_list(made, lambda view: view))
    window.resize((0, 0, 1000, 1000), Units(2.0, 2.0))
    before = window_nodes(window, compressed=True)
    window.relayout()
    assert window_nodes(window, compressed=True) == before
    assert {view.parent for view in window.root.children} == {window.root}
