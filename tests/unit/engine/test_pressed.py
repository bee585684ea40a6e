"""What a finger or a key comes down on when the action does not name it."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.engine.pressed import needs_fresh_screen, touched
from handrail.protocol.read import action_from
from handrail.tree.node import Screen
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
