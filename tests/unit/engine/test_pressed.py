"""What a finger or a key comes down on when the action does not name it."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.engine.pressed import OPPOSITE, Direction, Way, is_sideways, needs_fresh_screen, touched, way
from handrail.protocol.read import action_from
from handrail.tree.node import Bounds, Screen
from handrail.tree.parse import parse

BUTTON = 'class="android.widget.Button" clickable="true" enabled="true" focusable="true"'


def screen(focused: str = "") -> Screen:
    """Save at the top, Pay near the bottom, each as wide as the screen."""
    rows = "".join(
        f'<node text="{label}" {BUTTON} focused="{str(label == focused).lower()}"'
        f' bounds="[0,{top}][1000,{top + 400}]"/>'
        for label, top in (("Save", 0), ("Pay", 1500))
    )
    frame = f'<node class="android.widget.FrameLayout" package="app" bounds="[0,0][1000,2100]">{rows}</node>'
    return parse(f'<hierarchy rotation="0">{frame}</hierarchy>')


@pytest.mark.parametrize(
    "action",
    [
        {"type": "swipe", "from": {"x": 500, "y": 1700}, "to": {"x": 500, "y": 100}},
        {"type": "swipe", "from": {"x": 500, "y": 1700}, "to": {"x": 501, "y": 1700}},
        {"type": "pinch", "cx": 500, "cy": 1700, "start_radius": 10, "end_radius": 200},
        {"type": "rotate", "cx": 500, "cy": 1700, "radius": 50, "start_angle_deg": 90, "end_angle_deg": 0},
    ],
)
def test_the_element_under_a_finger_is_touched(action: dict[str, Any]) -> None:
    assert [node.text for node in touched(action_from(action), screen(), [])] == ["Pay"]


def test_a_swipe_over_the_whole_screen_touches_what_it_starts_on() -> None:
    up = action_from({"type": "swipe", "direction": "up"})
    assert [node.text for node in touched(up, screen(), [])] == ["Pay"]
    down = action_from({"type": "swipe", "direction": "down"})
    assert [node.text for node in touched(down, screen(), [])] == [""]  # the page itself
    shown = screen()
    on_pay = next(node for node in shown.nodes if node.text == "Pay")
    right = action_from({"type": "swipe", "direction": "right", "target": "Pay"})
    assert [node.text for node in touched(right, shown, [on_pay])] == ["Pay"]


@pytest.mark.parametrize(
    "key", ["enter", "space", "center", "KEYCODE_NUMPAD_ENTER", 66, "66", 23, 62, 160, 96]
)
def test_a_key_that_confirms_presses_what_has_the_focus(key: str | int) -> None:
    action = action_from({"type": "press_key", "key": key})
    assert [node.text for node in touched(action, screen("Pay"), [])] == ["Pay"]
    assert touched(action, screen(), []) == []
    assert needs_fresh_screen(action)


@pytest.mark.parametrize("key", ["back", "tab", "volume_up", 4])
def test_other_keys_press_nothing(key: str | int) -> None:
    action = action_from({"type": "press_key", "key": key})
    assert touched(action, screen("Pay"), []) == []
    assert not needs_fresh_screen(action)


def texts(action: dict[str, Any], shown: Screen) -> list[str]:
    return [node.text for node in touched(action_from(action), shown, [])]


def test_each_of_two_fingers_presses_what_is_under_it() -> None:
    """Side by side, Left and Right: each finger on one of them, and none on the page between."""
    halves = "".join(
        f'<node text="{label}" {BUTTON} bounds="[{left},900][{left + 300},1100]"/>'
        for label, left in (("Left", 0), ("Right", 700))
    )
    shown = parse(
        '<hierarchy rotation="0"><node class="android.widget.FrameLayout" package="app" '
        f'bounds="[0,0][1000,2100]">{halves}</node></hierarchy>'
    )
    pinch = {"type": "pinch", "cx": 500, "cy": 1000, "start_radius": 300, "end_radius": 10}
    assert texts(pinch, shown) == ["Left", "Right"]
    turn = {"type": "rotate", "cx": 500, "cy": 1000, "radius": 300, "start_angle_deg": 0, "end_angle_deg": 90}
    assert texts(turn, shown) == ["Right", "Left"]
    assert texts({**turn, "start_angle_deg": 90}, shown) == [""]
    assert texts({**turn, "cy": 700, "start_angle_deg": 45}, shown) == ["Right", ""]


def test_what_is_named_and_under_the_finger_is_one_thing() -> None:
    shown = screen()
    pay = next(node for node in shown.nodes if node.text == "Pay")
    save = next(node for node in shown.nodes if node.text == "Save")
    path = action_from({"type": "swipe", "from": {"x": 500, "y": 1700}, "to": {"x": 500, "y": 100}})
    assert touched(path, shown, [pay]) == [pay]
    assert touched(path, shown, [save]) == [save, pay]


def test_a_named_target_comes_before_the_focus() -> None:
    shown = screen("Pay")
    save = next(node for node in shown.nodes if node.text == "Save")
    action = action_from({"type": "type_text", "text": "x", "target": "Save"})
    assert touched(action, shown, [save]) == [save]


def test_a_finger_beside_the_screen_presses_nothing() -> None:
    path = {"type": "swipe", "from": {"x": 5_000, "y": 5_000}, "to": {"x": 5_000, "y": 100}}
    assert texts(path, screen()) == []


def test_of_several_focused_things_the_innermost_is_pressed() -> None:
    shown = parse(
        '<hierarchy rotation="0"><node class="android.widget.FrameLayout" package="app" focused="true" '
        f'bounds="[0,0][1000,2100]"><node text="Pay" {BUTTON} focused="true" bounds="[0,0][1000,400]"/>'
        "</node></hierarchy>"
    )
    assert texts({"type": "press_key", "key": "enter"}, shown) == ["Pay"]


def test_a_tap_by_name_presses_only_what_it_names() -> None:
    action = action_from({"type": "tap", "target": "Save"})
    assert touched(action, screen("Pay"), []) == []
    assert not needs_fresh_screen(action)
    assert needs_fresh_screen(action_from({"type": "swipe", "direction": "up"}))


BOX = Bounds(100, 200, 300, 600)


@pytest.mark.parametrize(
    ("direction", "goes"),
    [
        ("down", (200, 280, 200, 520)),
        ("up", (200, 520, 200, 280)),
        ("right", (140, 400, 260, 400)),
        ("left", (260, 400, 140, 400)),
    ],
)
def test_a_finger_goes_six_tenths_of_a_box_through_its_middle(direction: Direction, goes: Way) -> None:
    assert way(direction, BOX) == goes
    assert is_sideways(direction) is (direction in ("left", "right"))
    assert way(OPPOSITE[direction], BOX) == (*goes[2:], *goes[:2])


@pytest.mark.parametrize(
    ("direction", "goes"),
    [
        ("down", (150, 260, 150, 460)),
        ("up", (150, 540, 150, 340)),
        ("right", (130, 300, 230, 300)),
        ("left", (270, 300, 170, 300)),
    ],
)
def test_a_way_may_be_shorter_in_another_lane_and_begin_further_back(direction: Direction, goes: Way) -> None:
    assert way(direction, BOX, share=0.5, lane=0.25, shift=0.1) == goes
