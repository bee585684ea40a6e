"""What a script told becomes nodes; what a surface knows itself is believed by reach, sight and matching."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handrail.engine.gestures import touch_slop
from handrail.errors import ElementNotInteractable, TreeParseError
from handrail.page.reading import PageLook, nodes_of, screen_of
from handrail.screen.match import match
from handrail.screen.node import CLICKABLE, ENABLED, Screen, ScreenPoint
from handrail.screen.reach import element_at, tap_point
from handrail.screen.windows import visible
from tests.cases import each

PRESSED = ENABLED | CLICKABLE


def row(number: int, parent: int, text: str, box: tuple[int, int, int, int], **more: Any) -> list[Any]:
    """One row as the script writes it."""
    told = {
        "tag": "button", "role": "button", "flags": PRESSED, "cover": "", "point": None, "foreign": None,
    } | more  # fmt: skip
    return [
        number, parent, told["tag"], told["role"], told["flags"], *box, text, "", "", "", "", "", "", 0,
        told["cover"], told["point"], told.get("scroll"), told["foreign"],
    ]  # fmt: skip


def look_of(*rows: list[Any], token: str = "w", origin: str = "https://a.example") -> PageLook:
    page = row(1, -1, "", (0, 0, 400, 300), tag="html", role="page", flags=ENABLED, cover=None)
    told = {
        "token": token, "view": [400, 300, 1, 1, 0, 0, 400], "docs": [origin], "rows": [page, *rows],
        "truncated": 0, "unasked": 0, "cut": 0, "suspects": 0,
    }  # fmt: skip
    return PageLook.read(json.dumps(told))


def screen(*rows: list[Any], **more: str) -> Screen:
    look = look_of(*rows, **more)
    return screen_of(nodes_of(look), look.viewport, look.origin)


def test_a_touch_goes_where_the_surface_found_that_it_arrives() -> None:
    seen = screen(row(2, 0, "Save", (10, 10, 110, 40), point=[20, 30]))
    assert tap_point(seen, seen.nodes[1]) == ScreenPoint(20, 30)
    assert element_at(seen, 20, 30) is seen.nodes[1]


@each(("cover", "said"), [(3, 'covered by div "Over"'), ("clipped", "cut off"), (99, "not named")])
def test_what_the_surface_says_is_covered_is_not_touched_and_not_seen(cover: int | str, said: str) -> None:
    seen = screen(
        row(2, 0, "Save", (10, 10, 110, 40), cover=cover),
        row(3, 0, "Over", (0, 0, 5, 5), tag="div", point=[1, 1]),
    )
    with pytest.raises(ElementNotInteractable, match=said):
        tap_point(seen, seen.nodes[1])
    assert visible(seen)[1] == 0
    assert element_at(seen, 60, 25) is not seen.nodes[1]


def test_an_earlier_element_may_lie_above_a_later_one() -> None:
    seen = screen(
        row(2, 0, "Above", (0, 0, 100, 40), point=[50, 20]), row(3, 0, "Below", (0, 0, 100, 40), cover=2)
    )
    assert [seen.nodes[at].text for at, is_seen in enumerate(visible(seen)) if is_seen][1:] == ["Above"]


def test_a_pointer_feels_nothing_beside_it() -> None:
    assert touch_slop(screen()) == 0


def test_another_name_is_another_element_however_alike() -> None:
    one = screen(row(2, 0, "Save", (10, 10, 110, 40)))
    same = screen(row(2, 0, "Save", (10, 60, 110, 90)))
    other = screen(row(7, 0, "Save", (10, 10, 110, 40)))
    anew = screen(row(2, 0, "Save", (10, 10, 110, 40)), token="another document")
    assert match(one, same).new_of(one.nodes[1]) is same.nodes[1]
    assert match(one, other).new_of(one.nodes[1]) is None
    assert match(one, anew).new_of(one.nodes[1]) is None


def test_an_element_with_other_words_is_another_one() -> None:
    one, two = screen(row(2, 0, "Ada", (0, 0, 90, 30))), screen(row(2, 0, "Bob", (0, 0, 90, 30)))
    assert match(one, two).new_of(one.nodes[1]) is None


def test_a_page_of_another_site_is_grafted_where_its_frame_is() -> None:
    outer = look_of(
        row(2, 0, "", (50, 60, 250, 160), tag="iframe", role="frame", foreign=[55, 65, 2, 190, 90])
    )
    inner = look_of(row(2, 0, "In", (10, 5, 30, 15), point=[20, 10]), token="v", origin="https://b.example")
    nodes = nodes_of(outer, {"w.2": inner.covered([""], outer)})
    button = nodes[-1]
    assert (button.text, button.package_name, button.native_id) == ("In", "https://b.example", "v.2")
    assert button.bounds == (75, 75, 115, 95)
    assert button.touch_at == ScreenPoint(96, 86)
    assert [node.order for node in nodes] == list(range(len(nodes)))
    covered = nodes_of(outer, {"w.2": inner.covered([2], outer)})[-1]
    assert (covered.covered_by, covered.touch_at) == ("w.2", None)


@each("text", ["", "{", "[]", "null", '{"view": []}', '{"token": 1, "view": [1, 2]}'])
def test_what_is_no_look_is_said_to_be_none(text: str) -> None:
    with pytest.raises(TreeParseError):
        PageLook.read(text)
