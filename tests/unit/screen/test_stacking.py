"""Which window is above which, and which is in front: by what windows are, never by their place in a dump."""

from __future__ import annotations

from itertools import permutations

from handrail.screen.fingerprint import screen_fingerprint
from handrail.screen.node import Node, Screen
from handrail.screen.parse import parse
from handrail.screen.parse.build import STACK_GUESSED, put_in_front
from handrail.screen.windows import front_window
from tests.cases import each
from tests.unit.screen.drawn import Box, body, node, row, windows

SYSTEM_UI = "com.android.systemui"
KEYBOARD = "com.example.inputmethod"
FULL = (0, 0, 1080, 2400)


def button(text: str, box: Box = (200, 1000, 800, 1100), **more: str) -> str:
    return node("Button", text=text, box=box, flags="clickable", **more)


def window(text: str, box: Box, *inside: str, package: str = "com.example.app", flags: str = "") -> str:
    return node("FrameLayout", *inside, text=text, box=box, package=package, flags=flags)


ACTIVITY = window("activity", FULL, button("Behind", row(0)))
DIALOG = window("dialog", (100, 800, 980, 1600), button("OK"))
MENU = window("menu", (300, 900, 800, 1300), button("Copy link"))
KEYS = window(
    "keys", (0, 1500, 1080, 2300), button("a", (0, 1500, 100, 1600), package=KEYBOARD), package=KEYBOARD
)
BAR = window("bar", (0, 0, 1080, 63), package=SYSTEM_UI)
TOAST = window("", (300, 2000, 780, 2100), node("TextView", text="Saved", box=(300, 2000, 780, 2100)))
PROMPT = window(
    "prompt",
    (60, 900, 1020, 1500),
    button("Allow", package="android"),
    package="com.android.permissioncontroller",
)


def orders(*roots: str) -> list[Screen]:
    return [parse(windows(*shuffled)) for shuffled in permutations(roots)]


@each(
    ("roots", "stack", "in_front"),
    [
        ((ACTIVITY, DIALOG, BAR), ["activity", "dialog", "bar"], "dialog"),
        ((ACTIVITY, DIALOG, MENU), ["activity", "dialog", "menu"], "menu"),
        ((ACTIVITY, KEYS, BAR), ["activity", "keys", "bar"], "activity"),
        ((ACTIVITY, DIALOG, KEYS), ["activity", "dialog", "keys"], "dialog"),
        ((ACTIVITY, TOAST, BAR), ["activity", "", "bar"], "activity"),
        ((ACTIVITY, PROMPT, BAR), ["activity", "prompt", "bar"], "prompt"),
    ],
)
def test_any_order_of_the_dump_gives_the_same_stack(
    roots: tuple[str, ...], stack: list[str], in_front: str
) -> None:
    drawn = orders(*roots)
    assert {tuple(one.text for one in screen.windows) for screen in drawn} == {tuple(stack)}
    assert {front_window(screen).text for screen in drawn} == {in_front}
    assert len({screen_fingerprint(screen) for screen in drawn}) == 1


def test_the_app_in_front_is_the_one_that_asks_and_not_the_one_with_most_nodes() -> None:
    assert {screen.package for screen in orders(ACTIVITY, PROMPT)} == {"com.android.permissioncontroller"}


def test_a_picture_in_a_picture_is_above_and_is_not_the_app_in_front() -> None:
    video = window(
        "video", (600, 1800, 1040, 2050), button("Play", (600, 1800, 700, 1900)), package="org.video"
    )
    for screen in orders(ACTIVITY, video):
        assert [one.text for one in screen.windows] == ["activity", "video"]
        assert (front_window(screen).text, screen.package) == ("activity", "com.example.app")


def test_suggestions_under_a_field_and_the_bar_with_cut_and_copy_are_not_in_front() -> None:
    field = node("EditText", text="Ada", box=(0, 300, 1080, 450), flags="clickable focused")
    form = window("form", FULL, field)
    suggestions = window("suggestions", (0, 450, 1080, 900), button("Adam", (0, 450, 1080, 600)))
    tools = window("tools", (200, 180, 900, 290), button("Cut", (200, 180, 400, 290)))
    for guest in (suggestions, tools):
        assert {front_window(screen).text for screen in orders(form, guest)} == {"form"}


def test_a_pulled_down_shade_is_in_front_and_an_empty_overlay_is_not() -> None:
    tile = button("Wi-Fi", package=SYSTEM_UI)
    shade = window("shade", (0, 0, 1080, 2000), tile, package=SYSTEM_UI)
    overlay = window("", FULL, package=SYSTEM_UI)
    assert {front_window(screen).text for screen in orders(ACTIVITY, shade)} == {"shade"}
    assert {front_window(screen).text for screen in orders(ACTIVITY, overlay)} == {"activity"}
    assert {screen.package for screen in orders(ACTIVITY, shade)} == {"com.example.app"}


def test_layers_are_believed_where_a_dump_tells_them() -> None:
    dump = (
        '<displays><display id="0"><window layer="1" active="true" focused="true" type="TYPE_APPLICATION">'
        f"<hierarchy>{window('low', (0, 500, 1080, 900))}</hierarchy></window>"
        f'<window layer="7" type="TYPE_APPLICATION"><hierarchy>{window("high", FULL)}</hierarchy></window>'
        "</display></displays>"
    )
    screen = parse(dump)
    assert [one.text for one in screen.windows] == ["low", "high"]
    assert front_window(screen).text == "low"


def test_of_two_equally_large_windows_the_one_built_as_a_dialog_or_with_the_focus_is_above() -> None:
    outside = node("View", box=FULL, flags="clickable", resource_id="com.example.app:id/touch_outside")
    sheet = window("sheet", FULL, outside, button("Share"))
    typing = window("typing", FULL, node("EditText", box=row(0), flags="clickable focused"))
    for above in (sheet, typing):
        drawn = orders(ACTIVITY, above)
        assert len({screen.windows[-1].text for screen in drawn} & {"sheet", "typing"}) == 1
        assert all(screen.warnings == [] for screen in drawn)


def test_what_nothing_tells_is_said_to_be_a_guess_until_somebody_knows() -> None:
    other = window("other", FULL, button("Elsewhere", row(3)))
    for screen in orders(ACTIVITY, other):
        assert screen.warnings == [STACK_GUESSED]
        for chosen in screen.windows:
            known = put_in_front(
                parse(windows(ACTIVITY, other)), _named(parse(windows(ACTIVITY, other)), chosen.text)
            )
            assert known.windows[-1].text == front_window(known).text == chosen.text
            assert known.warnings == []


def _named(screen: Screen, text: str) -> Node:
    return next(one for one in screen.windows if one.text == text)


def test_a_keypad_that_comes_first_in_the_dump_is_not_lost() -> None:
    keypad = window(
        "", (0, 1200, 1080, 2400), *(button(str(n), (n * 100, 1300, n * 100 + 90, 1400)) for n in range(9))
    )
    cover = window("", FULL, node("View", box=FULL, flags="clickable"))
    for screen in orders(keypad, cover):
        assert any("8" in line for line in body(screen))
