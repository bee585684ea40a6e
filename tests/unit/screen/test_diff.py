"""What changed between two screens."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from handrail.screen.diff import Diff, diff, diff_text, items_of
from handrail.screen.elements import elements
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from handrail.screen.refs import Registry
from tests.unit.screen.drawn import Box, node, row, screen, windows
from tests.unit.screen.world import World

TITLE = node("TextView", text="Letters", box=(0, 0, 1080, 100))
SAVE = node("Button", text="Save", box=row(8), flags="clickable")
SEND = node("Button", text="Send", box=row(9), flags="clickable")


def button(text: str, place: int, flags: str = "clickable") -> str:
    return node("Button", text=text, box=row(place), flags=flags)


def email(flags: str = "", text: str = "") -> str:
    return node("EditText", text=text, content_desc="Email", box=row(0), flags=f"clickable {flags}")


def said(old: Screen, new: Screen, **options: Any) -> list[str]:
    return diff_text(diff(old, new, **options)).split("\n")


def test_equal_screens_have_no_change() -> None:
    drawn = [screen(TITLE, email(), SAVE) for _ in range(2)]
    assert not diff(*drawn)
    assert said(*drawn) == ["No change on screen."]


def test_a_focused_field_is_one_line() -> None:
    assert said(screen(TITLE, email(), SAVE), screen(TITLE, email("focused"), SAVE)) == [
        "Elements changed:",
        'EditText "Email" focused=false -> focused=true',
    ]


def test_typed_text_is_a_changed_text() -> None:
    assert said(screen(TITLE, email(), SAVE), screen(TITLE, email(text="ada@example.com"), SAVE)) == [
        "Elements changed:",
        'EditText "Email" text="" -> text="ada@example.com"',
    ]


def test_a_password_is_never_said() -> None:
    old = screen(TITLE, email("password"), SAVE)
    text = diff_text(diff(old, screen(TITLE, email("password", "hunter2"), SAVE)))
    assert "hunter2" not in text
    assert "Email" in text


def test_a_toggle_a_selection_and_a_disabling_are_told() -> None:
    def options(first: str, second: str, third: str) -> Screen:
        boxes = [node("CheckBox", text="Daily", box=row(0), flags=f"clickable checkable {first}")]
        boxes += [button("Inbox", 1, f"clickable {second}"), button("Archive", 2, f"clickable {third}")]
        return screen(TITLE, *boxes, SAVE)

    assert said(options("", "", ""), options("checked", "selected", "disabled")) == [
        "Elements changed:",
        'CheckBox "Daily" checked=false -> checked=true',
        'Button "Inbox" selected=false -> selected=true',
        'Button "Archive" enabled=true -> enabled=false',
    ]


def test_new_words_on_a_button_are_a_change_of_its_text() -> None:
    old, new = (
        screen(TITLE, button("Follow", 0), SAVE, SEND),
        screen(TITLE, button("Following", 0), SAVE, SEND),
    )
    assert said(old, new)[1:] == ['Button "Follow" text="Follow" -> text="Following"']


def test_what_came_and_what_left_is_listed_with_its_place() -> None:
    old, new = screen(TITLE, button("Draft", 0), SAVE, SEND), screen(TITLE, button("Copy", 2), SAVE, SEND)
    assert said(old, new) == [
        "Elements added:",
        'Button "Copy" [0,500][1080,650]',
        "Elements removed:",
        'Button "Draft" [0,200][1080,350]',
    ]


def keyboard() -> str:
    ime = "com.example.inputmethod.latin"
    keys = [
        node("android.view.View", text=key, box=(90 * n, 1700, 90 * n + 80, 1800), package=ime)
        for n, key in enumerate("qwerty")
    ]
    return node("FrameLayout", *keys, box=(0, 1600, 1080, 2400), package=ime)


def test_the_keyboard_is_one_line_and_its_keys_none() -> None:
    app, focused = (
        node("FrameLayout", TITLE, email(), SAVE),
        node("FrameLayout", TITLE, email("focused"), SAVE),
    )
    without, shown = parse(windows(app)), parse(windows(focused, keyboard()))
    assert said(without, shown) == [
        "Elements changed:",
        "Keyboard appeared",
        'EditText "Email" focused=false -> focused=true',
    ]
    assert said(shown, without)[1] == "Keyboard hidden"


FRAME: Box = (0, 200, 1080, 1200)


def letters(first: int, count: int = 5) -> Screen:
    rows = [
        node("TextView", text=f"Letter {first + place}", flags="clickable",
             box=(0, 200 + 200 * place, 1080, 400 + 200 * place))
        for place in range(count)
    ]  # fmt: skip
    return screen(TITLE, node("ListView", *rows, box=FRAME, flags="scrollable"), SAVE, SEND)


def test_a_scroll_is_one_line_and_the_rows_that_came_and_left() -> None:
    assert said(letters(0), letters(2)) == [
        "Elements changed:",
        "ListView scrolled 400 px down",
        "Elements added:",
        'TextView "Letter 5" [0,800][1080,1000]',
        'TextView "Letter 6" [0,1000][1080,1200]',
        "Elements removed:",
        'TextView "Letter 0" [0,200][1080,400]',
        'TextView "Letter 1" [0,400][1080,600]',
    ]
    assert said(letters(2), letters(0))[1] == "ListView scrolled 400 px up"


def fifty_rows(scrolled: int) -> Screen:
    """A scroll view that holds all its rows, also those outside its frame."""
    rows = [
        node("TextView", text=f"Letter {place}", flags="clickable",
             box=(0, 200 + 20 * place - scrolled, 1080, 220 + 20 * place - scrolled))
        for place in range(50)
    ]  # fmt: skip
    inside = node("LinearLayout", *rows, box=(0, 200 - scrolled, 1080, 1200 - scrolled))
    return screen(TITLE, node("ScrollView", inside, box=FRAME, flags="scrollable"), SAVE, SEND)


def test_a_scroll_of_fifty_rows_by_less_than_one_is_one_line() -> None:
    assert said(fifty_rows(0), fifty_rows(16)) == ["Elements changed:", "ScrollView scrolled 16 px down"]


def test_a_scroll_of_fifty_rows_by_one_is_one_line_and_the_row_that_left() -> None:
    assert said(fifty_rows(0), fifty_rows(20)) == [
        "Elements changed:",
        "ScrollView scrolled 20 px down",
        "Elements removed:",
        'TextView "Letter 0" [0,200][1080,220]',
    ]


def test_a_shift_of_many_is_one_line() -> None:
    old = screen(TITLE, *[button(f"Button {n}", n) for n in range(5)])
    new = screen(TITLE, button("Banner", 0), *[button(f"Button {n}", n + 1) for n in range(5)])
    assert said(old, new) == [
        "Elements changed:",
        "5 elements moved by 0,150",
        "Elements added:",
        'Button "Banner" [0,200][1080,350]',
    ]


def test_moves_of_two_pixels_are_noise() -> None:
    def drawn(by: int) -> Screen:
        return screen(
            TITLE, node("Button", text="Send", box=(0, 200 + by, 1080, 350 + by), flags="clickable"), SAVE
        )

    assert not diff(drawn(0), drawn(2))
    assert diff(drawn(0), drawn(3))


def test_clocks_are_noise() -> None:
    def drawn(time: str) -> Screen:
        return screen(TITLE, node("TextView", text=time, box=row(0)), SAVE, SEND)

    assert not diff(drawn("9:41"), drawn("9:42"))


def test_volatile_nodes_are_noise() -> None:
    def drawn(news: str) -> Screen:
        return screen(TITLE, button("Read", 1), node("TextView", text=news, box=row(0)), SAVE, SEND)

    old, new = drawn("It rains"), drawn("It snows")
    ticker = {old.nodes[3], new.nodes[3]}
    assert diff(old, new)
    assert not diff(old, new, volatile=ticker)


def test_another_screen_is_one_line_and_what_is_there_now() -> None:
    old = screen(TITLE, *[button(f"Button {n}", n) for n in range(5)])
    about = [node("TextView", text="About", box=(0, 0, 1080, 100)), button("Licences", 3)]
    changes = diff(old, screen(*about))
    assert changes.navigated
    assert diff_text(changes).split("\n") == [
        "Screen changed.",
        "Elements added:",
        'TextView "About" [0,0][1080,100]',
        'Button "Licences" [0,650][1080,800]',
    ]
    assert diff_text(changes, screen_text="screen 1080x2400").split("\n") == [
        "Screen changed.",
        "screen 1080x2400",
    ]


def test_a_diff_that_is_longer_than_the_screen_is_the_screen() -> None:
    old = screen(TITLE, *[button(f"Button {n}", n) for n in range(9)])
    new = screen(TITLE, *[button(f"Button {n}", n, "clickable selected") for n in range(9)])
    changes = diff(old, new)
    listed = diff_text(changes)
    assert diff_text(changes, screen_text="x" * (len(listed) - 1), shortest=True) == listed
    short = "x" * (len(listed) // 2)
    assert diff_text(changes, screen_text=short) == listed
    assert (
        diff_text(changes, screen_text=short, shortest=True) == f"Much changed. The screen is now:\n{short}"
    )


def test_another_app_is_named() -> None:
    package = "com.example.other"
    lines = [node("TextView", text=f"line {n}", box=row(n), package=package) for n in range(4)]
    other = node("FrameLayout", *lines, package=package)
    text = said(screen(TITLE, SAVE, SEND), parse(windows(other)))
    assert text[0] == "Screen changed: com.example.app -> com.example.other"


def test_a_long_diff_is_capped_and_counts_the_rest() -> None:
    old = screen(TITLE, *[button(f"Button {n}", n) for n in range(13)])
    new = screen(TITLE, *[button(f"Button {n}", n, "clickable selected") for n in range(13)])
    changes = diff(old, new)
    assert changes.capped(10)[-1] == {"type": "more", "count": 3}
    assert diff_text(changes, limit=10).split("\n")[-1] == "... +3 more"
    assert len(diff_text(changes, limit=10).split("\n")) == 12


def test_changes_are_json_and_carry_refs_of_both_screens() -> None:
    registry = Registry()
    old, new = screen(TITLE, button("Draft", 0), SAVE, SEND), screen(TITLE, button("Copy", 2), SAVE, SEND)
    registry.rebuild(old)
    registry.rebuild(new)
    changes = diff(old, new, matching=registry.matching, ref_of=registry.ref_of)
    assert [(one["type"], one["ref"]) for one in json.loads(json.dumps(changes.changes))] == [
        ("added", "@b4"),
        ("removed", "@b1"),
    ]


def test_screen_text_in_a_diff_can_not_break_out_of_its_quotes() -> None:
    old, new = (
        screen(TITLE, SAVE, SEND),
        screen(TITLE, button('x" clickable\nElements removed:', 0), SAVE, SEND),
    )
    assert said(old, new) == [
        "Elements added:",
        'Button "x\\" clickable Elements removed:" [0,200][1080,350]',
    ]


Facts = list[tuple[dict[str, Any], list[int], bool]]


def facts(drawn: Screen) -> dict[str, tuple[dict[str, Any], list[int]]]:
    return {
        item.node.id: (item.by_name, list(item.node.bounds)) for item in items_of(elements(drawn)).values()
    }


def replayed(old: Screen, changes: Diff) -> Facts:
    """The old screen's items after the changes: attributes, bounds, and whether a scroll moved them."""
    state = {key: [dict(attributes), bounds, False] for key, (attributes, bounds) in facts(old).items()}
    added: list[list[Any]] = []
    for change in changes.changes:
        match change["type"]:
            case "navigated":
                state = {key: value for key, value in state.items() if key in change["kept"]}
            case "removed":
                del state[change["node"]]
            case "added":
                added.append([change["attributes"], change["bounds"], False])
            case "changed":
                attributes = state[change["was"]][0]
                attributes[change["attribute"]] = change["new"]
            case "moved":
                for key in change["was"]:
                    left, top, right, bottom = state[key][1]
                    dx, dy = change["dx"], change["dy"]
                    state[key][1] = [left + dx, top + dy, right + dx, bottom + dy]
            case "resized":
                state[change["was"]][1] = change["new"]
            case "scrolled":
                for key in state:
                    state[key][2] |= key.startswith(change["was"] + ".")
    rows = [*state.values(), *added]
    return [({k: v for k, v in one[0].items() if v is not None}, one[1], one[2]) for one in rows]


def take(rows: Facts, attributes: dict[str, Any], bounds: list[int], *, scrolled: bool) -> bool:
    """Takes one out that is so; where a scroll took it, the container may have cut it off."""
    for number, (known, place, was_scrolled) in enumerate(rows):
        near = scrolled or all(abs(a - b) <= 2 for a, b in zip(place, bounds, strict=True))
        if known == attributes and near and was_scrolled == scrolled:
            del rows[number]
            return True
    return False


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 200), marks=pytest.mark.slow)])
def test_the_changes_turn_the_old_screen_into_the_new_one(seeds: range) -> None:
    for seed in seeds:
        _replay(seed)


def _replay(seed: int) -> None:
    world = World(Random(1_000 + seed))
    old, _ = world.draw()
    for _ in range(6):
        edits = [world.edit() for _ in range(world.rng.randrange(1, 4))]
        new, _ = world.draw()
        rows = replayed(old, diff(old, new))
        rest = [one for one in facts(new).values() if not take(rows, *one, scrolled=False)]
        assert [one for one in rest if not take(rows, *one, scrolled=True)] == [], edits
        assert not rows, edits
        old = new
