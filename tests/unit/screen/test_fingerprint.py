"""What changes a fingerprint, and what does not."""

from __future__ import annotations

import re
from copy import deepcopy

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.screen.fingerprint import at_rest, idle_fingerprint, screen_fingerprint, state_signature
from handrail.screen.node import Bounds, Node, Screen
from handrail.screen.parse import parse
from handrail.screen.text import is_clock_like
from tests.cases import each
from tests.unit.screen.stock_dumps import APP, Box, hierarchy, node, screen

SYSTEM_UI = "com.android.systemui"


def bar(time: str) -> str:
    clock = node("TextView", text=time, package=SYSTEM_UI, box=(20, 0, 200, 80))
    return node("FrameLayout", clock, package=SYSTEM_UI, box=(0, 0, 1080, 80))


def form(
    *,
    name: str = "",
    focus: bool = False,
    wifi: bool = False,
    time: str = "9:41",
    tab: int = 0,
    top: int = 300,
) -> str:
    marks = "checked " if wifi else ""
    return node(
        "FrameLayout",
        node("TextView", text="Settings", box=(40, 100, 600, 200)),
        node("TextView", text=time, box=(700, 100, 1000, 200)),
        node("EditText", text=name, flags="focused" if focus else "", box=(40, top, 1040, top + 120)),
        node("Switch", desc="Wi-Fi", flags=f"{marks}checkable clickable", box=(800, 500, 1000, 600)),
        *[
            node("TextView", text=f"Tab {n}", flags="clickable" + (" selected" if n == tab else ""),
                 box=(n * 300, 2200, n * 300 + 300, 2300))
            for n in range(3)
        ],
    )  # fmt: skip


def rows(
    first: int, count: int = 6, shift: int = 0, height: int = 200, box: Box = (0, 300, 1080, 1500)
) -> str:
    found = []
    for at in range(count):
        top = box[1] + at * height - shift
        place = (0, top, 1080, top + height)
        found.append(
            node(
                "LinearLayout",
                node("TextView", text=f"Row {first + at}", box=place),
                flags="clickable",
                box=place,
            )
        )
    return node("ListView", *found, flags="scrollable", box=box)


BASE = screen(form())


@each(
    "other",
    [form(time="9:42"), form(time="12:00 PM"), form(focus=True), form(top=301), form(top=298)],
    ids=["clock", "clock with half", "focus", "1 px", "2 px"],
)
def test_clocks_focus_and_jitter_change_neither_fingerprint(other: str) -> None:
    assert screen_fingerprint(screen(other)) == screen_fingerprint(BASE)
    assert idle_fingerprint(screen(other)) == idle_fingerprint(BASE)
    assert at_rest(BASE, screen(other))
    assert state_signature(screen(other)) != state_signature(BASE)


def test_typing_changes_the_idle_fingerprint_only() -> None:
    typed = screen(form(name="Ada", focus=True))
    assert idle_fingerprint(typed) != idle_fingerprint(BASE)
    assert screen_fingerprint(typed) == screen_fingerprint(BASE)


@each(
    "other",
    [
        form(wifi=True),
        form(tab=1),
        form().replace("Settings", "Contacts"),
        form().replace("Wi-Fi", "Bluetooth"),
    ],
    ids=["toggle", "tab", "navigation", "description"],
)
def test_what_a_person_calls_a_change_changes_both_fingerprints(other: str) -> None:
    assert screen_fingerprint(screen(other)) != screen_fingerprint(BASE)
    assert idle_fingerprint(screen(other)) != idle_fingerprint(BASE)
    assert not at_rest(BASE, screen(other))


def test_a_dialog_in_a_second_window_changes_the_screen() -> None:
    app = node("FrameLayout", form())
    dialog = node("FrameLayout", node("Button", text="OK", flags="clickable"), box=(90, 900, 990, 1500))
    assert screen_fingerprint(parse(hierarchy(app, dialog))) != screen_fingerprint(parse(hierarchy(app)))


def test_a_scroll_that_brings_a_row_and_takes_another_changes_the_screen() -> None:
    assert screen_fingerprint(screen(rows(0))) != screen_fingerprint(screen(rows(1)))


def test_a_scroll_that_only_moves_rows_changes_the_screen_from_48_pixels_on() -> None:
    still = screen(rows(0))
    assert screen_fingerprint(screen(rows(0, shift=70))) != screen_fingerprint(still)
    assert screen_fingerprint(screen(rows(0, shift=400))) != screen_fingerprint(still)


def test_any_move_of_more_than_two_pixels_is_seen_by_comparing_two_screens() -> None:
    still = screen(rows(0, shift=20))
    assert at_rest(still, screen(rows(0, shift=22)))
    assert not at_rest(still, screen(rows(0, shift=23)))


def test_a_row_that_leaves_the_list_without_leaving_the_tree_counts_as_gone() -> None:
    assert screen_fingerprint(screen(rows(0, count=7))) == screen_fingerprint(screen(rows(0, count=6)))


def test_the_keyboard_changes_the_idle_fingerprint_only() -> None:
    keys = node(
        "FrameLayout", node("View", desc="a"), package="com.example.inputmethod", box=(0, 1600, 1080, 2400)
    )
    with_keyboard = parse(hierarchy(node("FrameLayout", form()), keys))
    assert screen_fingerprint(with_keyboard) == screen_fingerprint(BASE)
    assert idle_fingerprint(with_keyboard) != idle_fingerprint(BASE)


def test_the_status_bar_counts_only_when_it_is_all_there_is() -> None:
    app = node("FrameLayout", form())
    assert screen_fingerprint(parse(hierarchy(bar("LTE"), app))) == screen_fingerprint(parse(hierarchy(app)))
    assert screen_fingerprint(parse(hierarchy(bar("LTE")))) != screen_fingerprint(parse(hierarchy(bar("5G"))))


def test_a_pulled_down_shade_is_no_bar() -> None:
    app = node("FrameLayout", form())
    shade = node("FrameLayout", node("TextView", text="Internet", package=SYSTEM_UI), package=SYSTEM_UI)
    assert screen_fingerprint(parse(hierarchy(app, shade))) != screen_fingerprint(parse(hierarchy(app)))


def test_a_blinking_caret_drawn_as_a_view_changes_nothing() -> None:
    caret = node("View", box=(50, 310, 53, 410))
    assert idle_fingerprint(screen(form(), caret)) == idle_fingerprint(BASE)


def test_ignored_nodes_are_left_out_with_all_they_hold() -> None:
    def ticker(text: str) -> tuple[Screen, frozenset[Node]]:
        one = screen(form(), node("LinearLayout", node("TextView", text=text), rid=f"{APP}:id/ticker"))
        return one, frozenset(node for node in one.nodes if node.id_tail == "ticker")

    before, ignored_before = ticker("Shares up")
    after, ignored_after = ticker("Shares down")
    for fingerprint in (screen_fingerprint, idle_fingerprint):
        assert fingerprint(before) != fingerprint(after)
        assert fingerprint(before, ignored_before) == fingerprint(after, ignored_after)
    assert at_rest(before, after, ignored_before | ignored_after)


def test_a_screen_without_any_content_still_has_a_fingerprint() -> None:
    assert re.fullmatch("[0-9a-z]{6}", screen_fingerprint(parse(hierarchy(node("FrameLayout")))))


def test_fingerprints_are_the_same_in_every_process() -> None:
    assert screen_fingerprint(BASE) == "bowmaf"
    assert idle_fingerprint(BASE) == "e285f496a49cfa8e"


def _jittered(one: Screen, moves: list[tuple[int, int, int, int]]) -> Screen:
    """The same screen with every edge of every node moved."""
    other = deepcopy(one)
    for moved, by in zip(other.nodes, moves, strict=True):
        moved.bounds = Bounds(*(edge + step for edge, step in zip(moved.bounds, by, strict=True)))
    return other


MOVE = st.tuples(*[st.integers(-2, 2)] * 4)


@settings(max_examples=150)
@given(data=st.data(), count=st.integers(1, 5), height=st.integers(60, 400), top=st.integers(100, 900))
def test_no_jitter_of_two_pixels_on_any_nodes_changes_a_fingerprint(
    data: st.DataObject, count: int, height: int, top: int
) -> None:
    box = (0, top, 1080, top + count * height)
    one = screen(form(top=top), rows(0, count=count, height=height, box=box))
    moves = data.draw(st.lists(MOVE, min_size=len(one.nodes), max_size=len(one.nodes)))
    other = _jittered(one, moves)
    assert screen_fingerprint(other) == screen_fingerprint(one)
    assert idle_fingerprint(other) == idle_fingerprint(one)
    assert at_rest(one, other)


@each(
    "text",
    [
        "9:41",
        "09:41",
        "23:59:59",
        "9:41 AM",
        "9:41\u202fPM",
        "9:41\u00a0pm",
        "9:41 a.m.",
        "上午9:41",
        "오후 3:10",
        "\u200e9:41",
        "00:12.34",
        "1:02:03",
        "0:12 / 3:45",
        "5 min ago",
        "2 hours ago",
        "an hour ago",
        "just now",
        "Now",
        "3分钟前",
        "12 min left",
        "Battery 87 percent.",
        "87% battery",
        "-0:31",
        "١٢:٣٤",
    ],
)
def test_times_and_levels_are_clock_like(text: str) -> None:
    assert is_clock_like(text)


@each(
    "text",
    [
        "",
        "9",
        "16:9",
        "2026-03-01",
        "01/03/2026",
        "Sun, Oct 15",
        "12 March",
        "Meeting at 9:41",
        "9:41 – Lisa",
        "100%",
        "€9.41",
        "1:1",
        "Ada: 12",
        "10:31 AM Ada",
        "3 days",
        "x" * 500,
        "10:3",
    ],
)
def test_dates_sentences_and_numbers_are_not(text: str) -> None:
    assert not is_clock_like(text)


def test_a_toast_is_no_other_screen_but_is_no_rest_either() -> None:
    toast = node(
        "FrameLayout", node("TextView", text="Saved", box=(200, 2000, 880, 2100)), box=(200, 2000, 880, 2100)
    )
    plain, toasted = parse(hierarchy(form())), parse(hierarchy(form(), toast))
    assert screen_fingerprint(plain) == screen_fingerprint(toasted)
    assert not at_rest(plain, toasted)


def test_a_dialog_is_another_screen() -> None:
    ok = node("Button", text="OK", flags="clickable", box=(200, 2000, 880, 2100))
    dialog = node("FrameLayout", ok, box=(200, 2000, 880, 2100))
    assert screen_fingerprint(parse(hierarchy(form()))) != screen_fingerprint(
        parse(hierarchy(form(), dialog))
    )
