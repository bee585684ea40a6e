"""What lies over what: known where the dump tells it, unknown where it does not."""

from __future__ import annotations

import re

import pytest

from handrail.errors import ElementNotInteractable
from handrail.screen.elements import DOUBTED, elements
from handrail.screen.node import Node, Screen, touchable
from handrail.screen.parse import parse
from handrail.screen.reach import may_be_covered_at, possibly_covered, tap_point, touch_targets
from tests.corpus import CORPUS, needs_corpus
from tests.unit.screen.drawn import Box, body, node, row, screen, untold

FULL: Box = (0, 0, 1080, 2400)
PAY = node("Button", text="Pay", box=row(3), flags="clickable")
SHEET = node("FrameLayout", node("TextView", text="Sheet", box=row(3)), box=FULL, flags="clickable")


def named(drawn: Screen, text: str) -> Node:
    return next(each for each in drawn.nodes if each.text == text)


def refusal(drawn: Screen, each: Node) -> str:
    try:
        tap_point(drawn, each)
    except ElementNotInteractable as error:
        return str(error)
    return ""


def test_a_button_under_a_sheet_is_refused_where_the_dump_tells_their_order() -> None:
    drawn = screen(PAY, SHEET)
    assert "covered by" in refusal(drawn, named(drawn, "Pay"))


@pytest.mark.parametrize("siblings", [(PAY, SHEET), (SHEET, PAY)])
def test_the_order_of_siblings_refuses_nothing_and_hides_nothing(siblings: tuple[str, str]) -> None:
    drawn = untold(*siblings)
    assert refusal(drawn, named(drawn, "Pay")) == ""
    assert f'"Pay" {DOUBTED}' in "".join(body(drawn))
    assert not elements(drawn).behind


def test_a_touch_counts_for_everything_that_may_be_on_top_there() -> None:
    drawn = untold(PAY, SHEET)
    pay = named(drawn, "Pay")
    assert {each.class_name for each in touch_targets(drawn, pay.center, 8)} == {
        "android.widget.Button",
        "android.widget.FrameLayout",
    }
    told = screen(PAY, SHEET)
    assert [each.class_name for each in touch_targets(told, pay.center, 8)] == ["android.widget.FrameLayout"]


def test_words_beside_an_empty_box_that_may_lie_over_them_count() -> None:
    """Such as the window that holds an iPhone's keyboard: it spans the screen and takes nothing."""
    words = node("TextView", text="Pay now", box=row(3))
    empty = node("FrameLayout", node("FrameLayout", box=FULL), box=FULL)
    for siblings in ((words, empty), (empty, words)):
        drawn = untold(*siblings)
        assert "Pay now" in [each.text for each in touch_targets(drawn, named(drawn, "Pay now").center, 8)]


def test_a_button_on_a_card_carries_no_mark_and_is_touched_in_doubt() -> None:
    card = node(
        "FrameLayout", node("TextView", text="Title", box=(40, 220, 400, 280)), box=row(0), flags="clickable"
    )
    more = node("ImageButton", content_desc="More", box=(900, 220, 1040, 330), flags="clickable")
    drawn = untold(card, more)
    assert not possibly_covered(drawn)
    button = next(each for each in drawn.nodes if each.description == "More")
    assert may_be_covered_at(drawn, button, button.center)


def test_a_free_place_is_preferred_to_one_that_something_may_cover() -> None:
    over = node("Button", text="Close", box=(400, 650, 700, 800), flags="clickable")
    drawn = untold(PAY, over)
    point = tap_point(drawn, named(drawn, "Pay"))
    assert not named(drawn, "Close").bounds.holds(*point)


def test_two_layers_that_fill_their_parent_are_in_doubt_as_wholes() -> None:
    hint = node(
        "FrameLayout", node("Button", text="OK", box=(300, 2000, 500, 2100), flags="clickable"), box=FULL
    )
    keys = node("LinearLayout", node("Button", text="7", box=row(2, right=200), flags="clickable"), box=FULL)
    drawn = untold(hint, keys)
    assert body(drawn) == [f'@b1 "OK" {DOUBTED}', f'@b2 "7" {DOUBTED}']
    assert may_be_covered_at(drawn, named(drawn, "7"), named(drawn, "7").center)
    assert not possibly_covered(screen(hint, keys))


def really_covered(each: Node, drawn: Screen) -> bool:
    """By the drawing order alone: no point of a grid is free of a touchable that is drawn later."""

    def path(of: Node) -> list[tuple[int, Node]]:
        steps = []
        while of.parent is not None:
            steps.append((of.drawing_order, of))
            of = of.parent
        return steps[::-1]

    def is_later(other: Node) -> bool:
        for (first, branch), (second, rival) in zip(path(each), path(other), strict=False):
            if branch is not rival:
                return bool(first and second) and second > first
        return False

    left, top, right, bottom = each.bounds.intersect(drawn.bounds)
    grid = [
        (left + (right - left) * x // 8, top + (bottom - top) * y // 8)
        for x in range(1, 8)
        for y in range(1, 8)
    ]
    over = [
        other.bounds
        for other in drawn.nodes
        if touchable(other) and not other.is_inside(each) and not each.is_inside(other) and is_later(other)
    ]
    return bool(over) and all(any(box.holds(*point) for box in over) for point in grid)


@needs_corpus
def test_dumps_without_their_drawing_order_are_judged_by_it() -> None:
    assert CORPUS is not None
    counts = dict.fromkeys(("covered", "covered and marked", "on top", "on top and marked"), 0)
    refused = []
    for file in sorted(CORPUS.rglob("*.xml")):
        raw = file.read_bytes()
        if b"drawing-order" not in raw or len(raw) > 400_000:
            continue
        told, plain = parse(raw), parse(re.sub(rb' drawing-order="\d*"', b"", raw))
        marks = possibly_covered(plain)
        for truth, each in zip(told.nodes, plain.nodes, strict=True):
            if not touchable(truth) or not truth.bounds.intersect(told.bounds).area:
                continue
            place = "covered" if really_covered(truth, told) else "on top"
            counts[place] += 1
            counts[f"{place} and marked"] += each.order in marks
            if place == "on top" and "is covered by" in refusal(plain, each):
                refused.append((file.name, str(each)))
    assert refused == []
    assert counts["covered"] > 30
    assert counts["covered and marked"] >= 0.7 * counts["covered"], counts
    assert counts["on top and marked"] <= 0.1 * counts["on top"], counts
