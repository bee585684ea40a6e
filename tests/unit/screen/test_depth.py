"""What lies over what: known where the dump tells it, unknown where it does not."""

from __future__ import annotations

import random
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from handrail.errors import ElementNotInteractable
from handrail.screen.elements import DOUBTED, elements
from handrail.screen.node import Node, Screen, touchable
from handrail.screen.parse import parse
from handrail.screen.reach import may_be_covered_at, possibly_covered, tap_point, touch_targets
from tests.corpus import CORPUS, needs_corpus
from tests.unit.screen.drawn import Box, body, node, row, screen, untold, windows

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
    told = screen(words, empty)
    assert "Pay now" not in [each.text for each in touch_targets(told, named(told, "Pay now").center, 8)]


def test_an_icon_on_a_field_carries_no_mark_and_a_button_on_a_card_does() -> None:
    """A field holds its icons; a card that is drawn later hides a button, and nothing tells which it is."""
    words = node("TextView", text="Title", box=(40, 220, 400, 280))
    card = node("FrameLayout", words, box=row(0), flags="clickable")
    field = node("EditText", text="secret", box=row(0), flags="clickable")
    more = node("ImageButton", content_desc="More", box=(900, 220, 1040, 330), flags="clickable")
    for ground, marks in ((card, 1), (field, 0)):
        drawn = untold(ground, more)
        assert len(possibly_covered(drawn)) == marks
        button = next(each for each in drawn.nodes if each.description == "More")
        assert may_be_covered_at(drawn, button, button.center)


def test_a_free_strip_that_is_narrower_than_a_finger_is_no_place() -> None:
    for free, marks in ((20, 2), (30, 1)):
        bar = node(
            "LinearLayout", node("TextView", text="Home"), box=(free, 660, 900, 790), flags="clickable"
        )
        low = node("Button", text="Low", box=(0, 670, 200, 780), flags="clickable")
        small = node("Button", text="In", box=(300, 680, 400, 770), flags="clickable")
        assert len(possibly_covered(untold(bar, low, small))) == marks


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


class Tally:
    """Elements that can be touched, judged by the drawing order that the rule did not get."""

    def __init__(self) -> None:
        self.covered = self.covered_marked = self.on_top = self.on_top_marked = 0
        self.refused: list[str] = []

    def add(self, told: Screen, plain: Screen) -> None:
        marks = possibly_covered(plain)
        assert not elements(plain).behind or elements(told).behind
        for truth, each in zip(told.nodes, plain.nodes, strict=True):
            if not touchable(truth) or not truth.bounds.intersect(told.bounds).area:
                continue
            if really_covered(truth, told):
                self.covered += 1
                self.covered_marked += each.order in marks
            else:
                self.on_top += 1
                self.on_top_marked += each.order in marks
                if "is covered by" in refusal(plain, each):
                    self.refused.append(str(each))

    def check(self) -> None:
        assert self.refused == []
        assert self.covered_marked >= 0.7 * self.covered, vars(self)
        assert self.on_top_marked <= 0.1 * self.on_top, vars(self)


def app_of(file: Path) -> str:
    return re.split(r"__|_\d\d__", file.name.removeprefix("adj_"))[0]


@needs_corpus
def test_dumps_without_their_drawing_order_are_judged_by_it() -> None:
    """Together, and without each app in turn: no single one carries the figures."""
    assert CORPUS is not None
    apps: dict[str, Tally] = {}
    for file in sorted(CORPUS.rglob("*.xml")):
        raw = file.read_bytes()
        if b"drawing-order" in raw and len(raw) <= 400_000:
            plain = re.sub(rb' drawing-order="\d*"', b"", raw)
            apps.setdefault(app_of(file), Tally()).add(parse(raw), parse(plain))
    for left_out in ("", *apps):
        rest = Tally()
        for app, tally in apps.items():
            if app != left_out:
                for name, count in vars(tally).items():
                    setattr(rest, name, getattr(rest, name) + count)
        rest.check()
        assert left_out or rest.covered > 40
    assert all(tally.covered_marked >= 0.7 * tally.covered for tally in apps.values())


# Layouts by Android's rules: siblings drawn in this order, handed out by their place on the screen.


def button(kind: str, text: str, box: Box, *children: str) -> str:
    return node(kind, *children, content_desc=text, box=box, flags="clickable")


def page(dice: random.Random) -> str:
    """A list, a list of cards with a button beside their words, or a form."""
    kind, height = dice.choice(("rows", "cards", "form")), dice.randrange(120, 330)
    parts = []
    for top in range(200, 2400, height):
        box, icon = (0, top, 1080, top + height - 8), (920, top + 10, 1040, top + 110)
        words = node("TextView", text=f"Row {top}", box=(40, top + 20, 500, top + 80))
        more = button("ImageButton", "More", icon)
        if kind == "form":
            parts += [node("EditText", text=f"Field {top}", box=box, flags="clickable"), more]
        else:
            inside = [words, more] if kind == "cards" else [words]
            parts.append(node("LinearLayout", *inside, box=box, flags="clickable"))
    return node("FrameLayout", *parts, box=(0, 200, 1080, 2400))


def tabs(top: int, count: int) -> str:
    wide = 1080 // count
    boxes: list[Box] = [(at * wide, top, (at + 1) * wide, top + 200) for at in range(count)]
    return node(
        "LinearLayout", *[button("FrameLayout", "Tab", box) for box in boxes], box=(0, top, 1080, top + 200)
    )


def panel(box: Box, count: int) -> str:
    left, top, right, bottom = box
    high = (bottom - top) // (count + 1)
    boxes: list[Box] = [(left, top + at * high, right, top + (at + 1) * high) for at in range(1, count + 1)]
    return button("LinearLayout", "Panel", box, *[button("Button", "Choice", each) for each in boxes])


SCRIM = node("View", box=FULL, flags="clickable")


def above(dice: random.Random) -> list[str]:
    """What apps draw over their page, from a floating button to a drawer with its scrim."""
    edge = dice.randrange(700, 2000)
    layers = (
        [],
        [tabs(0, 3)],
        [tabs(2200, dice.choice((3, 4, 5)))],
        [tabs(2200, 4), button("ImageButton", "New", (870, 1950, 1050, 2130))],
        [panel((40, 2050, 1040, 2200), 1)],
        [SCRIM, panel((100, edge - 400, 980, edge), 2)],
        [SCRIM, panel((0, edge, 1080, 2400), 4)],
        [SCRIM, panel((0, 0, 800, 2400), 7)],
    )
    return dice.choice(layers)


def by_place(xml: str) -> str:
    """With all siblings sorted as accessibility sorts them: by top, then left, then the larger first."""

    def place(element: ElementTree.Element) -> tuple[int, int, int]:
        left, top, right, bottom = map(int, re.findall(r"\d+", element.get("bounds", "")))
        return top, left, -(right - left) * (bottom - top)

    root = ElementTree.fromstring(xml)
    for parent in root.iter("node"):
        parent[:] = sorted(parent, key=place)
    return ElementTree.tostring(root, encoding="unicode")


def test_layouts_that_android_draws_are_judged_by_how_they_were_drawn() -> None:
    """A scrim may be a background as well, so all that it spans is in doubt."""
    clear, dimmed, dice = Tally(), Tally(), random.Random(35)
    for _ in range(150):
        layers = above(dice)
        xml = by_place(windows(node("FrameLayout", page(dice), *layers)))
        tally = dimmed if SCRIM in layers else clear
        tally.add(parse(xml), parse(re.sub(r' drawing-order="\d+"', "", xml)))
    clear.check()
    assert clear.covered > 50
    assert dimmed.covered == dimmed.covered_marked > 500
    assert dimmed.refused == []
