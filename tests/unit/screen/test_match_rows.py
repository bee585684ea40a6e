"""Which rows of a list are the same: the finer points of the rules in `match/rows.py`."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.screen.match import match
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from tests.cases import each
from tests.unit.screen.drawn import Box, node, row, screen, windows
from tests.unit.screen.test_match import TITLE, button, entry, listed
from tests.unit.screen.test_match_rules import UP, around, card_of, form, said, shelf, text

FRAME: Box = (0, 200, 1080, 1400)


def kept(old: Screen, new: Screen, words: str) -> bool:
    """Whether the first node that says this is still there, whatever it says now."""
    return match(old, new).new_of(said(words)(old)) is not None


def row_stays(old: Screen, new: Screen, words: str) -> bool:
    """The same of what holds it."""
    return match(old, new).new_of(around(words)(old)) is not None


def column(*names: str, tops: tuple[int, ...] = (), kind: str = "ListView", **more: str) -> Screen:
    """Rows of 100 px with some space between them, each one text."""
    places = tops or tuple(300 + 150 * at for at in range(len(names)))
    rows = [
        node("TextView", text=name, box=(0, top, 1080, top + 100), flags="clickable", **more)
        for name, top in zip(names, places, strict=True)
    ]
    return screen(TITLE, node(kind, *rows, box=FRAME, flags="scrollable"))


def test_a_look_alike_between_two_certain_rows_is_the_same_however_far_all_moved() -> None:
    """The rows around it got more space, each another one."""
    old = column("Ann", "Folder", "Bob", "Folder", tops=(300, 450, 600, 750))
    new = column("Ann", "Folder", "Bob", "Kim", "Folder", tops=(300, 500, 700, 900, 1100))
    assert kept(old, new, "Folder")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("Folder", "Ann", "Folder", "Bob"), ("Folder", "Ann", "Folder", "Kim")),
        (("Ann", "Bob", "Folder", "Folder"), ("Ann", "Kim", "Folder", "Folder")),
    ],
)
def test_a_look_alike_without_two_certain_neighbours_must_move_with_one(
    old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    far = (300, 520, 740, 960)
    assert not kept(column(*old), column(*new, tops=far), old[0] if old[0] == "Folder" else "Folder")


def test_a_look_alike_whose_neighbours_changed_places_is_another() -> None:
    old = column("Ann", "Folder", "Bob", "Folder", "Eve", tops=(300, 450, 600, 750, 900))
    new = column("Bob", "Folder", "Ann", "Folder", "Eve", tops=(300, 500, 700, 820, 900))
    assert not kept(old, new, "Folder")


def test_a_row_that_says_only_what_others_say_and_now_something_else_is_another() -> None:
    def notes(word: str) -> Screen:
        return column("Ann", word, "Bob", "File", "Folder", "File", "Folder")

    assert kept(notes("File"), column("Ann", "File", "Bob", "File", "Folder", "File", "Kim"), "File")
    old, new = notes("File"), notes("Folder")
    assert not kept(old, new, "File")


def pages(*words: str, role: str = "Button", **more: str) -> Screen:
    """A scroll view whose rows may change their words."""
    rows = [node(role, text=word, box=row(at), flags="clickable", **more) for at, word in enumerate(words)]
    frame = node("LinearLayout", *rows, box=FRAME)
    return screen(TITLE, node("ScrollView", frame, box=FRAME, flags="scrollable"))


@each("role", ["Button", "ImageButton", "CheckBox", "Switch", "RadioButton", "Spinner"])
def test_a_control_between_certain_rows_may_change_its_words(role: str) -> None:
    assert kept(
        pages("Ann", "Follow", "Bob", role=role), pages("Ann", "Following", "Bob", role=role), "Follow"
    )


def test_a_tab_between_certain_tabs_may_change_its_words() -> None:
    kind = "androidx.appcompat.app.ActionBar$Tab"
    assert kept(pages("Ann", "New", "Bob", role=kind), pages("Ann", "New (1)", "Bob", role=kind), "New")


def test_a_text_may_change_its_words_only_with_an_id_and_outside_a_list() -> None:
    old, new = ("Ann", "Follow", "Bob"), ("Ann", "Following", "Bob")
    known = {"resource_id": "a:id/state"}
    assert not kept(pages(*old, role="TextView"), pages(*new, role="TextView"), "Follow")
    assert kept(pages(*old, role="TextView", **known), pages(*new, role="TextView", **known), "Follow")
    assert not kept(column(*old, **known), column(*new, **known), "Follow")


@pytest.mark.parametrize(
    ("old", "new"),
    [(("Follow", "Ann"), ("Following", "Ann")), (("Ann", "Follow"), ("Ann", "Following"))],
)
def test_a_control_that_changes_its_words_needs_certain_rows_on_both_sides(
    old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    assert not kept(pages(*old), pages(*new), "Follow")


def test_a_row_is_called_by_its_first_name() -> None:
    """What comes first in a row must stay, and must still come first."""

    def rows(*words: str) -> Screen:
        return listed(card_of(*words), entry("Bob", "yesterday", 3))

    old = rows("Ann", "today")
    assert row_stays(old, rows("Ann", "now"), "Ann")
    assert not row_stays(old, rows("Kim", "today"), "today")
    assert not row_stays(old, rows("today", "Ann"), "Ann")


@pytest.mark.parametrize(("words", "same"), [("Ann today boat sea", True), ("Ann today wind sun", False)])
def test_a_row_that_moved_alone_needs_most_of_its_names(words: str, same: bool) -> None:
    """It went below the others; three of its four names are enough, two are not."""
    old = listed(card_of("Ann", "today", "boat", "land"), entry("Bob", "unread", 2), entry("Eve", "read", 3))
    new = listed(entry("Bob", "unread", 1), entry("Eve", "read", 2), card_of(*words.split(), top=900))
    assert kept(old, new, "Ann") is same
    assert row_stays(old, new, "Ann") is same


@each(("note", "same"), [("today", True), ("later", False)])
def test_a_row_without_taps_that_moved_alone_needs_most_of_its_names(note: str, same: bool) -> None:
    others = [
        [entry(name, "unread", at, flags="") for at, name in enumerate(("Bob", "Eve"), top)] for top in (1, 0)
    ]
    old = listed(entry("Ann", "today", 0, flags=""), *others[0])
    assert row_stays(old, listed(*others[1], entry("Ann", note, 3, flags="")), "Ann") is same


def test_an_inner_list_is_known_by_most_of_what_it_shows_on_one_screen() -> None:
    old, new = listed(shelf(600, "Ada", "Emil", "Faust", "Greta")), listed(shelf(400, "Greta"))
    assert row_stays(old, new, "Greta")
    assert row_stays(new, old, "Greta")
    assert not row_stays(old, listed(shelf(400, "Greta", "Ilias", "Jona", "Kim")), "Greta")


def test_a_row_that_scrolls_but_has_names_of_its_own_is_no_inner_list() -> None:
    """A card with a headline and covers; the headline is another one."""

    def labelled(top: int, name: str, *covers: str) -> str:
        inner = shelf(top + 100, *covers)
        title = text(name, (0, top, 900, top + 100))
        return node("LinearLayout", title, inner, box=(0, top, 1080, top + 400))

    old = listed(labelled(300, "New", "Ada", "Emil", "Faust"))
    new = listed(labelled(500, "Old", "Ada", "Emil", "Faust"))
    assert not kept(old, new, "New")


@pytest.mark.parametrize(("changed", "same"), [(False, True), (True, False)])
def test_what_an_edge_left_is_the_same_only_in_an_unchanged_list(changed: bool, same: bool) -> None:
    """The list as a whole may have moved."""

    def days(last: str, by: int) -> Screen:
        rest = node("LinearLayout", text("Yesterday", (0, 200 + by, 900, 300 + by)),
                    box=(0, 200 + by, 1080, 300 + by), flags="clickable")  # fmt: skip
        rows = [entry(name, "Yesterday", at, 100 + by) for at, name in enumerate(("Ann", last))]
        return screen(TITLE, node("ListView", rest, *rows, box=(0, 200 + by, 1080, 1400), flags="scrollable"))

    old, new = days("Bob", 0), days("Kim" if changed else "Bob", 60)
    matching = match(old, new)
    assert (matching.new_of(old.nodes[3]) is not None) is same


def test_a_half_hidden_row_needs_a_certain_one_beside_it() -> None:
    def slid(by: int, *more: str) -> Screen:
        top = 200 - by
        words = [("Ann", top), ("about the boat", top + 100)]
        parts = [text(word, (0, max(200, at), 900, at + 100)) for word, at in words if at + 100 > 200]
        return listed(node("LinearLayout", *parts, box=(0, 200, 1080, top + 200), flags="clickable"), *more)

    assert kept(slid(0, entry("Bob", "read", 1)), slid(100, entry("Bob", "read", 1, -100)), "about the boat")
    assert not kept(slid(0, entry("Bob", "read", 1)), slid(100, entry("Bob", "read", 1)), "about the boat")
    assert not kept(slid(0), slid(100), "about the boat")


def test_what_becomes_a_row_is_another_thing_than_the_frame_around_rows() -> None:
    """One row more, and the frame that held one card holds rows."""

    def page(*cards: str) -> Screen:
        return screen(
            TITLE, node("ScrollView", node("LinearLayout", *cards, box=FRAME), box=FRAME, flags="scrollable")
        )

    one = page(node("FrameLayout", text("Ann", row(0)), text("Bob", row(1)), box=row(0)))
    two = page(
        node("FrameLayout", text("Ann", row(0)), text("Bob", row(1)), box=row(0)),
        node("FrameLayout", text("Eve", row(2)), text("Kim", row(3)), box=row(2)),
    )
    assert not kept(one, two, "Ann")
    assert not kept(two, one, "Ann")


def card(*words: str, first: int) -> str:
    lines = [text(word, row(first + at)) for at, word in enumerate(words)]
    icon = node(
        "ImageButton", box=row(first + len(words)), flags="clickable", resource_id=f"a:id/menu{first}"
    )
    return node("FrameLayout", *lines, icon, box=(0, 200, 1080, 1400))


def pager(*cards: str) -> Screen:
    """One page that is a single row, as a pager shows it."""
    page = node("FrameLayout", *cards, box=FRAME, flags="clickable")
    return screen(node("androidx.viewpager.widget.ViewPager", page, box=FRAME, flags="scrollable"))


@each(
    ("words", "same"),
    [("a b c", True), ("a b z", True), ("a y z", False), ("x y z", False), ("a b c d e f", True)],
)
def test_a_card_of_a_page_needs_most_of_its_labels(words: str, same: bool) -> None:
    rest = card(*[f"line {n}" for n in range(12)], first=6)
    old, new = pager(card("a", "b", "c", first=0), rest), pager(card(*words.split(), first=0), rest)
    icon = next(one for one in old.nodes if one.id_tail == "menu0")
    assert (match(old, new).new_of(icon) is not None) is same


def test_a_card_that_lost_most_labels_is_known_by_those_that_are_left() -> None:
    rest = card(*[f"line {n}" for n in range(20)], first=6)
    old, new = pager(card(*"abcdef", first=0), rest), pager(card(*"abc", first=0), rest)
    icon = next(one for one in old.nodes if one.id_tail == "menu0")
    assert match(old, new).new_of(icon)
    assert match(new, old).new_of(next(one for one in new.nodes if one.id_tail == "menu0"))


def folder(title: str, *names: str, described: str = "", count: int = 5) -> Screen:
    rows = [text(name, row(at)) for at, name in enumerate(names)]
    tabs = [button(f"Tab {n}", (150 * n, 2200, 150 * n + 150, 2400)) for n in range(count)]
    drawn = node("ListView", *rows, box=(0, 200, 1080, 2200), flags="scrollable", content_desc=described)
    return screen(UP, text(title, (200, 0, 1080, 100)), drawn, *tabs)


def list_stays(old: Screen, new: Screen) -> bool:
    drawn = next(one for one in old.nodes if one.short_class == "ListView")
    return match(old, new).new_of(drawn) is not None


def test_a_list_is_refilled_when_no_row_is_left_and_its_title_is_another() -> None:
    old = folder("Letters", "Ann", "Bob")
    assert not list_stays(old, folder("Bills", "Rent", "Power"))
    assert list_stays(old, folder("Letters", "Rent", "Power"))
    assert list_stays(old, folder("Bills", "Ann", "Power"))


def test_a_list_that_is_described_is_known_by_that() -> None:
    old = folder("Letters", "Ann", "Bob", described="Results")
    assert list_stays(old, folder("Bills", "Rent", "Power", described="Results"))


def test_a_list_without_words_may_be_the_same_under_another_title() -> None:
    assert list_stays(folder("Letters"), folder("Bills", "Rent"))
    assert list_stays(folder("Letters", "Ann"), folder("Bills"))


def test_a_scroll_view_that_stopped_scrolling_is_not_refilled() -> None:
    def page(title: str, flags: str, *words: str) -> Screen:
        rows = [text(word, row(at)) for at, word in enumerate(words)]
        drawn = node("ScrollView", node("LinearLayout", *rows, box=FRAME), box=FRAME, flags=flags)
        tabs = [button(f"Tab {n}", (150 * n, 2200, 150 * n + 150, 2400)) for n in range(9)]
        return screen(text(title, (200, 0, 1080, 100)), drawn, *tabs)

    old, new = page("Letters", "scrollable", "Ann", "Bob"), page("Bills", "", "Rent")
    assert match(old, new).new_of(old.nodes[2])
    assert match(new, old).new_of(new.nodes[2])


def test_the_same_menu_at_another_place_over_another_page_is_another_menu() -> None:
    def page(words: str, top: int) -> Screen:
        lines = [text(word, row(at)) for at, word in enumerate(words.split())]
        menu = node("FrameLayout", button("Copy", (0, top, 300, top + 100)), box=(0, top, 300, top + 100))
        return parse(windows(node("FrameLayout", *lines), menu))

    old = page("Letters a b c", 500)
    assert kept(old, page("Bills x y z", 500), "Copy")
    assert not kept(old, page("Bills x y z", 900), "Copy")


def test_a_form_keeps_its_frame_whatever_its_rows_say() -> None:
    old, new = form("Name", "Street"), form("Town", "Land")
    assert match(old, new).to_new[:4] == [0, 1, 2, 3]


def test_a_grid_whose_rows_all_stayed_scrolled_though_the_edges_cut_each_of_them() -> None:
    """Tall cards, two by two, of which an edge cuts each before or after."""
    names = ("Alarm", "Theme", "Backup", "Voice")

    def grid(first: int, second: int) -> Screen:
        edges = [(max(200, top), min(1400, top + 1100)) for top in (first, second)]
        cards = []
        for at, name in enumerate(names):
            left, (top, bottom) = 540 * (at % 2), edges[at // 2]
            cards.append(node("Button", text=name, box=(left, top, left + 500, bottom), flags="clickable"))
        return screen(TITLE, node("ScrollView", *cards, box=FRAME, flags="scrollable"))

    old, new = grid(250, 1360), grid(-860, 250)
    assert all(kept(old, new, name) for name in names)


def test_a_remainder_without_words_is_no_row_where_others_came() -> None:
    def chips(first: str, last: str, left: int) -> Screen:
        boxes = [
            (left, 220, left + 400, 300),
            (left + 420, 220, left + 820, 300),
            (left + 840, 220, 1080, 300),
        ]
        row_of = [
            node(
                "FrameLayout",
                *([node("TextView", text=name, box=box)] if name else []),
                box=box,
                flags="clickable",
            )
            for name, box in zip((first, "Delivery", last), boxes, strict=True)
        ]
        return screen(TITLE, node("RecyclerView", *row_of, box=(0, 200, 1080, 320), flags="scrollable"))

    def last_of(drawn: Screen) -> Any:
        return [each for each in drawn.nodes if each.clickable][-1]

    old = chips("Figures", "", 180)
    assert match(old, chips("Figures", "Mall", 150)).new_of(last_of(old)) is not None
    assert match(old, chips("Sale", "Mall", 150)).new_of(last_of(old)) is None


def test_a_field_stays_itself_when_an_error_comes_below_it() -> None:
    def form_with(*errors: str) -> Screen:
        field = node(
            "EditText", hint="E-mail", resource_id="a:id/email", box=(0, 400, 1080, 500), flags="clickable"
        )
        words = [node("TextView", text=error, box=(0, 500, 1080, 540)) for error in errors]
        rows = [
            node("LinearLayout", field, *words, box=(0, 400, 1080, 600)),
            node("TextView", text="Terms", box=(0, 700, 1080, 800), flags="clickable"),
            node("TextView", text="Help", box=(0, 900, 1080, 1000), flags="clickable"),
        ]
        return screen(
            TITLE, node("ScrollView", node("LinearLayout", *rows, box=FRAME), box=FRAME, flags="scrollable")
        )

    old, new = form_with(), form_with("This is no address", "Write it as a@b.c")
    field = next(each for each in old.nodes if each.resource_id)
    assert match(old, new).new_of(field) is not None
    assert match(new, old).new_of(next(each for each in new.nodes if each.resource_id)) is not None
