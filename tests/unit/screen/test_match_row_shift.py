"""How far the rows of a list moved, which of them an edge cuts off, and which are certain."""

from __future__ import annotations

import pytest

from handrail.screen.match import link_children, link_unmistakable, match
from handrail.screen.match.features import KeptLabels, Links, ScreenFeatures
from handrail.screen.match.rows import Displacement, RowShift, cut_rows, displacement
from handrail.screen.node import Screen
from tests.cases import each
from tests.unit.screen.drawn import Box, node, screen

FRAME: Box = (100, 200, 1000, 1400)
Spot = tuple[str, int, int]
LIST = 1  # the order of the list on these screens


def listing(*spots: Spot, box: Box = FRAME, flags: str = "scrollable", across: bool = False) -> Screen:
    """A list of names from top to bottom, or from left to right."""
    rows = []
    for name, low, high in spots:
        place = (low, 200, high, 1400) if across else (100, low, 1000, high)
        rows.append(node("TextView", text=name, box=place, flags="clickable"))
    return screen(node("ListView", *rows, box=box, flags=flags))


def cut(*spots: Spot, flags: str = "scrollable", across: bool = False) -> str:
    features = ScreenFeatures(listing(*spots, flags=flags, across=across))
    orders = [row.order for row in features.rows(LIST)]
    return "".join(features.label[order] for order in sorted(cut_rows(features, orders, LIST)))


@each(
    ("spots", "found"),
    [
        ((("a", 200, 400), ("b", 400, 600), ("c", 600, 800)), ""),
        ((("a", 200, 379), ("b", 400, 600), ("c", 1221, 1400)), "ac"),
        ((("a", 200, 380), ("b", 400, 600), ("c", 1220, 1400)), ""),
        ((("a", 150, 300), ("b", 300, 500), ("c", 1350, 1450)), "ac"),
        ((("a", 201, 300), ("b", 300, 500), ("c", 1300, 1399)), ""),
        ((("a", 200, 300), ("b", 300, 400), ("c", 400, 600)), "a"),
        ((("a", 200, 800), ("b", 800, 1400)), "ab"),
        ((("a", 200, 1400),), ""),
        ((("a", 200, 1280),), ""),
        ((("a", 200, 1279),), "a"),
        ((), ""),
    ],
)
def test_a_row_at_the_edge_that_is_smaller_than_the_others_is_cut(
    spots: tuple[Spot, ...], found: str
) -> None:
    """By a tenth; where no row is away from the edges, smaller than the list."""
    assert cut(*spots) == found


def test_a_column_at_the_edge_is_cut_too() -> None:
    assert cut(("a", 100, 150), ("b", 150, 400), ("c", 900, 1000), across=True) == "ac"


def test_where_all_content_fits_nothing_is_cut() -> None:
    assert cut(("a", 200, 250), ("b", 400, 600), flags="") == ""


def moved(old: Spot, new: Spot, *, across: bool = False, box: Box = FRAME) -> Displacement:
    links = Links(
        ScreenFeatures(listing(old, across=across)), ScreenFeatures(listing(new, across=across, box=box))
    )
    return displacement(links, LIST + 1, LIST + 1)


@each(
    ("old", "new", "by"),
    [
        ((400, 600), (400, 600), (0,)),
        ((400, 600), (500, 700), (100, 100)),
        ((400, 600), (450, 700), (50, 100)),
        ((200, 400), (300, 500), (100,)),
        ((300, 500), (200, 400), (-100,)),
        ((1200, 1400), (1100, 1300), (-100,)),
        ((1100, 1300), (1200, 1400), (100,)),
        ((200, 300), (200, 400), (100,)),
        ((200, 1400), (300, 1400), ()),
        ((200, 1400), (200, 1400), (0,)),
    ],
)
def test_an_edge_that_the_list_cuts_off_tells_no_movement(
    old: tuple[int, int], new: tuple[int, int], by: tuple[int, ...]
) -> None:
    assert moved(("a", *old), ("a", *new)) == ((0,), by)


def test_columns_move_across() -> None:
    assert moved(("a", 300, 500), ("a", 250, 450), across=True) == ((-50, -50), (0,))
    assert moved(("a", 100, 500), ("a", 150, 450), across=True) == ((-50,), (0,))


def test_the_frame_may_change_too() -> None:
    assert moved(("a", 300, 500), ("a", 400, 600), box=(100, 400, 1000, 1400)) == ((0,), (100,))


def test_outside_lists_the_screen_is_the_frame() -> None:
    def page(*box: int) -> ScreenFeatures:
        return ScreenFeatures(screen(node("TextView", text="a", box=box)))  # type: ignore[arg-type]

    links = Links(page(0, 0, 1080, 200), page(0, 100, 1000, 300))
    assert displacement(links, 1, 1) == ((), (100,))


@each(
    ("one", "other", "same"),
    [
        ((10,), (12,), True),
        ((10,), (8,), True),
        ((10,), (13,), False),
        ((10, 50), (52, 99), True),
        ((), (), True),
        ((), (0,), False),
        ((0,), (), False),
    ],
)
def test_movements_agree_by_one_edge_within_two_pixels(
    one: tuple[int, ...], other: tuple[int, ...], same: bool
) -> None:
    still = (0,)
    assert Displacement(still, one).agrees(Displacement(still, other)) is same
    assert Displacement(one, still).agrees(Displacement(other, still)) is same


def test_an_offset_is_that_of_the_first_edge_that_is_known() -> None:
    assert Displacement((3, 4), (5,)).offset == (3, 5)
    assert Displacement((), ()).offset == (0, 0)


def row_shift(old: Screen, new: Screen) -> RowShift:
    """Of what anchors and alignment propose."""
    links = Links(ScreenFeatures(old), ScreenFeatures(new))
    link_unmistakable(links)
    link_children(links)
    return RowShift(links, KeptLabels(links), LIST, LIST)


def column(names: str, top: int = 200, height: int = 200) -> Screen:
    """Rows without gaps, cut off by the frame."""
    spots = []
    for at, name in enumerate(names.split()):
        low, high = top + height * at, top + height * at + height
        spots.append((name, max(low, FRAME[1]), min(high, FRAME[3])))
    return listing(*spots)


def sure(found: RowShift) -> set[int]:
    """By their places in the list, from 0."""
    return {row - LIST - 1 for row in found.sure}


def test_rows_that_look_like_no_other_are_certain() -> None:
    found = row_shift(column("a b c d"), column("b c d e"))
    assert sure(found) == {1, 2, 3}
    assert found.shift == (0, -200)


def test_rows_that_look_like_others_are_not_certain() -> None:
    assert sure(row_shift(column("a x x b"), column("a x x b c"))) == {0, 3}
    assert sure(row_shift(column("a x b"), column("a x x b"))) == {0, 2}
    assert sure(row_shift(column("a x x b"), column("a x b"))) == {0, 3}


def test_nameless_rows_are_not_certain() -> None:
    def pictures(*words: str) -> Screen:
        picture = node("ImageView", box=(100, 200, 1000, 400))
        names = [node("TextView", text=word, box=(100, 400, 1000, 600)) for word in words]
        return screen(node("ListView", picture, *names, box=FRAME, flags="scrollable"))

    assert sure(row_shift(pictures("a"), pictures("a", "b"))) == {1}


def test_a_row_that_is_cut_off_before_or_after_is_not_certain() -> None:
    assert sure(row_shift(column("a b c", 100), column("a b c d", 100))) == {1, 2}
    assert sure(row_shift(column("a b c", 200), column("a b c d", 100))) == {1, 2}
    assert sure(row_shift(column("a b c", 100), column("a b c d", 200))) == {1, 2}


def test_a_row_of_which_the_edge_hides_a_little_more_counts_as_cut() -> None:
    """Too little to tell from a smaller row by its size alone."""
    old, new = column("a b c", 200), column("a b c d", 190)
    assert {row - LIST - 1 for row in row_shift(old, new).cut} == {0}
    assert {row - LIST - 1 for row in row_shift(new, old).cut} == {0}


def test_a_row_from_edge_to_edge_is_never_squeezed_and_one_away_from_the_edges_neither() -> None:
    wide, narrow = listing(("a", 300, 400), ("b", 500, 700)), listing(("a", 300, 450), ("b", 500, 700))
    assert row_shift(wide, narrow).cut == set()
    turned = listing(("a", 200, 1400), box=FRAME), listing(("a", 200, 1200), box=(100, 200, 1000, 1200))
    assert row_shift(*turned).cut == set()


def card(*words: str, top: int = 200, bottom: int = 700) -> str:
    lines = [node("TextView", text=word, box=(100, top, 1000, top + 50)) for word in words]
    return node("LinearLayout", *lines, box=(100, top, 1000, bottom), flags="clickable")


def cards(*drawn: str) -> Screen:
    return screen(node("ListView", *drawn, box=FRAME, flags="scrollable"))


@pytest.mark.parametrize(("words", "certain"), [("a b c", True), ("a b", False)])
def test_a_row_at_the_edge_is_certain_by_three_names(words: str, certain: bool) -> None:
    below = card("x", top=400, bottom=700)
    old = cards(card(*words.split(), bottom=300), below)
    new = cards(card(*words.split(), bottom=300), below, card("y", top=800, bottom=1000))
    assert (0 in sure(row_shift(old, new))) is certain


@each(
    ("old", "new", "certain"),
    [
        ("a b c d e f", "a b c d e z", True),
        ("a b c d e f g", "a b c d e y z", False),
        ("a b c d e", "a b c d z", False),
        ("a b c d e", "a b c d e f g", False),
        ("a b c d e f g", "a b c d e", False),
    ],
)
def test_a_page_is_certain_by_nearly_all_of_many_names(old: str, new: str, certain: bool) -> None:
    found = row_shift(cards(card(*old.split())), cards(card(*new.split())))
    assert (sure(found) == {0}) is certain


@each(
    ("old", "new", "scrolled"),
    [
        ("a b c d", "c d e f", True),
        ("c d e f", "a b c d", True),
        ("a b c d", "a b e f", False),
        ("a b c d", "b c", False),
        ("a b c d", "e b c f", False),
        ("a b c d", "e f g h", False),
        ("a b c d", "a b c d", True),
    ],
)
def test_a_scroll_leaves_the_end_at_the_beginning(old: str, new: str, scrolled: bool) -> None:
    assert row_shift(column(old), column(new)).scrolled is scrolled


def test_rows_that_an_edge_cuts_off_tell_nothing_of_a_scroll() -> None:
    assert row_shift(column("a b c d e f", 200), column("b c d e f g h", 100)).scrolled
    assert row_shift(column("b c d e f g h", 100), column("a b c d e f", 200)).scrolled


def test_nameless_rows_tell_nothing_of_a_scroll() -> None:
    def lines(names: str) -> Screen:
        rows = [node("TextView", text=name, box=(100, 300, 1000, 400)) for name in names.split()]
        line = node("View", box=(100, 290, 1000, 295))
        return screen(node("ListView", line, *rows, line, box=FRAME, flags="scrollable"))

    assert row_shift(lines("a b c"), lines("b c d")).scrolled
    assert row_shift(lines("b c d"), lines("a b c")).scrolled


def test_most_rows_tell_how_far_a_list_moved() -> None:
    found = row_shift(
        listing(("a", 300, 400), ("b", 400, 500), ("c", 500, 600)),
        listing(("b", 300, 400), ("c", 400, 500), ("a", 900, 1000)),
    )
    assert found.shift == (0, -100)
    assert row_shift(column("a b"), column("c d")).shift == (0, 0)


def test_a_row_moved_with_the_certain_ones_beside_it() -> None:
    """Old: a x b; x stays where it is, a and b moved apart."""
    old = listing(("a", 300, 400), ("x", 500, 600), ("b", 700, 800), ("x", 900, 1000))
    new = listing(("a", 300, 400), ("x", 500, 600), ("b", 800, 900), ("x", 1000, 1100), ("y", 1200, 1300))
    found, x, last = row_shift(old, new), LIST + 2, LIST + 4
    still, low = Displacement((0,), (0,)), Displacement((0,), (100,))
    assert sure(found) == {0, 2}
    assert [found.agrees(x, by) for by in (still, low, Displacement((0,), (50,)))] == [True, True, False]
    assert [found.agrees(last, by) for by in (still, low)] == [False, True]
    assert [found.encloses(x, by) for by in (still, low)] == [False, False]
    assert not found.encloses(last, low)


def test_a_row_between_two_certain_ones_that_moved_as_one_is_enclosed() -> None:
    old, new = column("a x b c", 300), column("a y b d", 400)
    found = row_shift(old, new)
    assert found.encloses(LIST + 2, Displacement((0,), (100,)))
    assert not found.encloses(LIST + 2, Displacement((0,), (0,)))


def test_without_a_certain_row_a_row_moves_with_its_list() -> None:
    low: Box = (150, 300, 1000, 1400)
    found = row_shift(listing(("x", 400, 500), ("x", 600, 700)), listing(("x", 500, 600), box=low))
    assert found.agrees(LIST + 1, Displacement((50,), (100,)))
    assert not found.agrees(LIST + 1, Displacement((50,), (0,)))
    assert not found.agrees(LIST + 1, Displacement((0,), (100,)))


def test_without_a_certain_row_one_that_is_cut_moves_only_with_an_unchanged_list() -> None:
    still = Displacement((0,), (0,))
    old = listing(("x", 200, 250), ("x", 250, 450), ("x", 450, 650))
    changed = listing(("x", 200, 250), ("x", 250, 450))
    assert row_shift(old, old).agrees(LIST + 1, still)
    assert not row_shift(old, changed).agrees(LIST + 1, still)
    assert row_shift(old, changed).agrees(LIST + 2, still)
    assert row_shift(old, old).unchanged
    assert not row_shift(old, changed).unchanged


def test_a_row_that_went_to_another_list_tells_nothing_of_this_one() -> None:
    def two(first: str, second: str) -> Screen:
        drawn = []
        for names, top in ((first, 200), (second, 1000)):
            rows = [
                node("TextView", text=name, box=(100, top + 200 * at, 1000, top + 200 * at + 150))
                for at, name in enumerate(names.split())
            ]
            drawn.append(node("ListView", *rows, box=(100, top, 1000, top + 700)))
        return screen(*drawn)

    assert sure(row_shift(two("a b c", "d e"), two("a b", "c d e"))) == {0, 1}


def test_a_scroll_is_told_with_its_distance() -> None:
    found = match(column("a b c d e f"), column("c d e f g h"))
    assert [(one.old.order, one.new.order, one.dx, one.dy) for one in found.scrolls] == [
        (LIST, LIST, 0, -400)
    ]
    assert match(column("a b c d e f"), column("a b c d e g")).scrolls == []
    sideways = [
        listing(("a", 300, 500), ("b", 500, 700), across=True),
        listing(("a", 200, 400), ("b", 400, 600), across=True),
    ]
    assert [(one.dx, one.dy) for one in match(*sideways).scrolls] == [(-100, 0)]
