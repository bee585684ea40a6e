"""Whose switch turned: after a tap on one of several, in a list that may have been sorted anew."""

from __future__ import annotations

from handrail.engine.resolve import Aim
from handrail.engine.snapshot import ScreenAnalysis, UiSnapshot
from handrail.engine.verify import checked_state_changed
from handrail.protocol.target import Selector
from handrail.screen.node import Node, Screen
from handrail.screen.select import NO_HANDLES, FoundElement
from tests.cases import each
from tests.unit.screen.drawn import node, row, screen

TITLE = node("TextView", text="Networks", box=(0, 0, 1080, 100))


def switches(*rows: tuple[str, bool]) -> Screen:
    """A list of names, each with a switch; all switches look alike."""
    drawn = []
    for place, (name, is_on) in enumerate(rows):
        left, top, right, bottom = row(place)
        words = node("TextView", text=name, box=(left, top, 500, bottom))
        flags = "checkable clickable" + (" checked" if is_on else "")
        switch = node("Switch", text="ON" if is_on else "OFF", box=(500, top, right, bottom), flags=flags)
        drawn.append(node("LinearLayout", words, switch, box=row(place)))
    return screen(TITLE, node("ListView", *drawn, box=(0, 200, 1080, 200 + 150 * len(rows))))


def look(drawn: Screen) -> UiSnapshot:
    return UiSnapshot(ScreenAnalysis(drawn), 0.0, 1.0)


def switch_of(drawn: Screen, name: str) -> Node:
    words = next(one for one in drawn.nodes if one.text == name)
    return drawn.nodes[words.order + 1]


def has_turned(before: Screen, name: str, after: Screen) -> bool:
    """Whether a tap on this switch is proved by the screen after it."""
    switch = switch_of(before, name)
    found = FoundElement(before, switch, "exact", NO_HANDLES)
    proof = checked_state_changed(look(before), Aim(Selector(text=name), found, None, None, name))
    return proof.met(look(after))


OLD = (("Cable", False), ("Guest", True), ("Home", False))


@each(
    ("after", "turned"),
    [
        (OLD, False),
        ((("Cable", True), ("Guest", True), ("Home", False)), True),
        ((("Guest", True), ("Cable", False), ("Home", False)), False),
        ((("Guest", True), ("Cable", True), ("Home", False)), True),
        ((("Guest", False), ("Cable", True), ("Home", False)), True),
        ((("Home", True), ("Guest", True), ("Cable", False)), False),
    ],
    ids=["nothing", "in place", "sorted", "turned and sorted", "both turned", "other ends"],
)
def test_a_neighbours_switch_in_a_list_sorted_anew_is_not_mine(
    after: tuple[tuple[str, bool], ...], turned: bool
) -> None:
    assert has_turned(switches(*OLD), "Cable", switches(*after)) is turned


def choices(kind: str, *rows: tuple[str, bool], wrapped: int = 0) -> Screen:
    """A dialog's list of which one is chosen, or several."""
    drawn = [
        node(kind, text=name, box=row(n), flags="checkable clickable" + (" checked" if is_on else ""))
        for n, (name, is_on) in enumerate(rows)
    ]
    for _ in range(wrapped):
        drawn = [node("FrameLayout", inner, box=row(n)) for n, inner in enumerate(drawn)]
    return screen(TITLE, node("ListView", *drawn, box=(0, 200, 1080, 200 + 150 * len(rows))))


@each(("wrapped", "met"), [(0, True), (2, True), (3, False)])
def test_other_choices_are_looked_for_as_deep_as_a_row_goes(wrapped: int, met: bool) -> None:
    drawn = choices("CheckedTextView", ("Small", True), ("Large", False), wrapped=wrapped)
    assert is_proved_by(drawn, "Small") is met


@each(
    ("kind", "chosen", "met"),
    [
        ("CheckedTextView", [True, False, False], True),
        ("android.view.View", [True, False, False], True),
        ("RadioButton", [True, False, False], True),
        ("CheckedTextView", [False, True, False], False),  # it should have been chosen now
        ("CheckedTextView", [True, True, False], False),  # several may be on: it should have been turned off
        ("CheckBox", [True, False, False], False),
        ("Switch", [True, False, False], False),
    ],
)
def test_a_tap_on_the_row_that_is_chosen_already_changes_nothing(
    kind: str, chosen: list[bool], met: bool
) -> None:
    drawn = choices(kind, *zip(("Small", "Medium", "Large"), chosen, strict=True))
    assert is_proved_by(drawn, "Small") is met


def is_proved_by(drawn: Screen, name: str) -> bool:
    """A tap on it, where nothing changed."""
    chosen = next(choice for choice in drawn.nodes if choice.text == name)
    aim = Aim(Selector(text=name), FoundElement(drawn, chosen, "exact", NO_HANDLES), None, None, name)
    return checked_state_changed(look(drawn), aim).met(look(drawn))
