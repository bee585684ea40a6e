"""Elements that a surface knows by name, used again for other records: a link needs the same surroundings."""

from __future__ import annotations

from handrail.page.reading import PageLook, PageViewport, nodes_of, screen_of
from handrail.screen.match import match
from handrail.screen.node import CLICKABLE, ENABLED, Screen
from tests.cases import each

Row = tuple[str, ...]
"""The words of a row: those with a star are buttons."""


def drawn(rows: list[Row], names: list[int] | None = None, heading: str = "People") -> Screen:
    """A page with one list; `names` say which element draws which row, in order if not given."""
    told = [cell(1, -1, "html", "Page", 0), cell(2, 0, "div", "", 0), cell(3, 1, "h1", heading, 0)]
    for at, words in enumerate(rows):
        name, top = 10 * (1 + (names[at] if names else at)), 40 * (at + 1)
        above = len(told)
        told.append(cell(name, 1, "div", "", top))
        told += [
            cell(
                name + 1 + part,
                above,
                "button" if word.endswith("*") else "span",
                word.rstrip("*"),
                top,
                part,
            )
            for part, word in enumerate(words)
        ]
    look = PageLook("w", PageViewport(1280, 800), ("https://a.example",), told, 0, 0, 0, 0)
    return screen_of(nodes_of(look), look.viewport, look.origin)


def cell(name: int, above: int, tag: str, text: str, top: int, part: int = 0) -> list[object]:
    flags = ENABLED | (CLICKABLE if tag == "button" else 0)
    role = "button" if tag == "button" else ""
    left = 200 * part
    box = [left, top, left + 190, top + 30]
    return [name, above, tag, role, flags, *box, text, *[""] * 6, 0, "", None, None, None]


def kept(before: Screen, after: Screen, name: int) -> bool:
    found = match(before, after)
    node = next(one for one in before.nodes if one.native_id == f"w.{name}")
    return found.new_of(node) is not None


OTHERS: list[Row] = [("Bob", "Delete*"), ("Cy", "Delete*")]


@each(
    ("before", "after", "stays"),
    [
        (("Ada", "Delete*"), ("Zoe", "Delete*"), False),
        (("Ada", "Delete*"), ("Bob", "Delete*"), False),
        (("Ada", "Engineer", "Delete*"), ("Ada", "Plumber", "Delete*"), False),
        (("Ada", "Engineer", "Paris", "Delete*"), ("Zoe", "Engineer", "Paris", "Delete*"), False),
        (("Ada", "Delete*", "3"), ("Ada", "Delete*", "4"), True),
        (("Ada", "Delete*", "Follow*"), ("Ada", "Delete*", "Unfollow*"), True),
    ],
)
def test_a_button_of_a_row_stays_with_the_words_beside_it(before: Row, after: Row, stays: bool) -> None:
    at = 10 + 1 + next(part for part, word in enumerate(before) if word == "Delete*")
    assert kept(drawn([before, *OTHERS]), drawn([after, *OTHERS]), at) is stays


def test_a_list_that_is_twice_on_the_page_is_known_by_its_row_all_the_same() -> None:
    """No name is said once: the words beside a button still tell its record."""
    rows: list[Row] = [("Ada", "Open*"), ("Bob", "Open*"), ("Ada", "Open*"), ("Bob", "Open*")]
    moved: list[Row] = [("Bob", "Open*"), ("Ada", "Open*"), ("Bob", "Open*"), ("Ada", "Open*")]
    for at in range(4):
        assert not kept(drawn(rows), drawn(moved), 10 * (1 + at) + 2)


def test_links_that_differ_by_a_number_alone_are_known_by_it() -> None:
    assert not kept(drawn([("Item 1*",), ("Item 2*",)]), drawn([("Item 2*",), ("Item 3*",)]), 11)
    assert kept(drawn([("Inbox (3)*",), ("Sent*",)]), drawn([("Inbox (4)*",), ("Sent*",)]), 11)


@each(
    ("before", "after", "stays"),
    [
        ([("Ada*",), ("Cy 12*",), ("Bob*",)], [("Ada*",), ("Cy 61*",), ("Bob*",)], False),
        ([("Room 5*",), ("Cy 12*",)], [("Room 5*",), ("Cy 13*",)], False),
        ([("Ada*",), ("Cy*",), ("Bob*",)], [("Ada*",), ("Cy 61*",), ("Bob*",)], False),
        ([("Ada*",), ("Cy [1]*",), ("Bob*",)], [("Ada*",), ("Cy [2]*",), ("Bob*",)], True),
        ([("Post", "Like*"), ("Cy", "12 replies*")], [("Post", "Like*"), ("Cy", "13 replies*")], True),
    ],
)
def test_a_number_in_the_name_of_a_row_that_is_used_again_is_a_name(
    before: list[Row], after: list[Row], stays: bool
) -> None:
    assert kept(drawn(before), drawn(after), 20 + len(before[1])) is stays


def test_of_two_rows_that_say_the_same_none_may_have_gone() -> None:
    twins: list[Row] = [("Ada", "Open*"), ("Ada", "Open*"), ("Bob", "Open*")]
    assert not kept(drawn(twins), drawn(twins[1:]), 12)
    assert not kept(drawn(twins[1:]), drawn(twins), 12), "a twin came"
    assert kept(drawn(twins), drawn([*twins, ("Cy", "Open*")]), 12)
    swapped: list[Row] = [("Ada", "Open*", "1"), ("Ada", "Open*", "2"), ("Bob", "Open*")]
    assert not kept(drawn(swapped), drawn([("Ada", "Open*", "2"), ("Ada", "Open*", "1"), swapped[2]]), 12)


def test_a_list_that_was_filled_anew_keeps_nothing_that_says_the_same_by_chance() -> None:
    before: list[Row] = [("Bob", "Open*"), ("Ada", "Open*"), ("Cy", "Open*")]
    after: list[Row] = [("Eve", "Open*"), ("Ada", "Open*"), ("Fay", "Open*")]
    assert not kept(drawn(before), drawn(after), 22)


def test_rows_that_move_with_their_elements_keep_them() -> None:
    before: list[Row] = [("Ada", "Open*"), ("Bob", "Open*"), ("Cy", "Open*")]
    after: list[Row] = [("Eve", "Open*"), ("Ada", "Open*"), ("Bob", "Open*"), ("Cy", "Open*")]
    for name in (12, 22, 32):
        assert kept(drawn(before), drawn(after, [9, 0, 1, 2]), name)
