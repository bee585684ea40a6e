"""What the makers of computer-use models write, and what it means: an entry for each row of the page."""

from __future__ import annotations

from tests.contract.dialect_words import Rows, Words, at, key, swipe, tap

ANTHROPIC: Rows = [
    ({"action": "left_click", "coordinate": [100, 200]}, [tap(200, 400)]),
    (
        {
            "type": "tool_use",
            "id": "toolu_1",
            "name": "computer",
            "input": {"action": "left_click", "coordinate": [1, 2]},
        },
        [tap(2, 4)],
    ),
    (
        {
            "type": "tool_use",
            "id": "toolu_1",
            "toolset_name": "computer",
            "name": "left_click",
            "input": {"coordinate": [1, 2]},
        },
        [tap(2, 4)],
    ),
    ({"action": "key", "text": "Down", "repeat": 3}, [key("down")] * 3),
    ({"action": "right_click", "coordinate": [10, 20]}, [{"type": "long_press", "target": at(20, 40)}]),
    ({"action": "double_click", "coordinate": [10, 20]}, [{"type": "double_tap", "target": at(20, 40)}]),
    (
        {"action": "left_click_drag", "start_coordinate": [10, 20], "coordinate": [30, 40]},
        [{"type": "drag", "from": at(20, 40), "to": at(60, 80)}],
    ),
    (
        {"action": "scroll", "coordinate": [270, 600], "scroll_direction": "down", "scroll_amount": 3},
        [swipe(540, 1560, 540, 840, 500)],
    ),
    (
        {"action": "scroll", "coordinate": [270, 600], "scroll_direction": "left", "scroll_amount": 2},
        [swipe(432, 1200, 648, 1200, 500)],
    ),
    ({"action": "type", "text": "Ada"}, [{"type": "type_text", "text": "Ada"}]),
    ({"action": "key", "text": "Return"}, [key("enter")]),
    ({"action": "key", "text": "BackSpace"}, [key("delete")]),
    ({"action": "key", "text": "Delete"}, [key("forward_delete")]),
    ({"action": "key", "text": "Escape"}, [key("back")]),
    ({"action": "key", "text": "KP_Enter"}, [key("enter")]),
    ({"action": "key", "text": "Tab"}, [key("tab")]),
    ({"action": "key", "text": "space"}, [key("space")]),
    ({"action": "key", "text": "Up"}, [key("up")]),
    ({"action": "key", "text": "Home"}, [key("move_home")]),
    ({"action": "key", "text": "End"}, [key("move_end")]),
    ({"action": "key", "text": "Page_Down"}, [key("page_down")]),
    ({"action": "key", "text": "super"}, [key("home")]),
    ({"action": "key", "text": "XF86Back"}, [key("back")]),
    ({"action": "key", "text": "ctrl+a"}, [{"type": "press_keys", "keys": ["ctrl", "KEYCODE_A"]}]),
    ({"action": "wait", "duration": 2}, [{"type": "wait", "duration_ms": 2000}]),
    ({"action": "screenshot"}, [{"type": "screenshot"}]),
    (
        {"action": "zoom", "region": [0, 100, 270, 300]},
        [{"type": "screenshot", "region": [0, 200, 540, 600]}],
    ),
    ({"action": "mouse_move", "coordinate": [5, 6]}, []),
    ({"action": "cursor_position"}, []),
]
ANTHROPIC_REFUSED = [
    {"action": "middle_click", "coordinate": [1, 2]},
    {"action": "triple_click", "coordinate": [1, 2]},
    {"action": "left_click", "coordinate": [1, 2], "key": "ctrl"},
    {"action": "hold_key", "text": "shift", "duration": 1},
    {"action": "type", "text": "x", "coordinate": [1, 2]},
    {"action": "scroll", "scroll_direction": "down", "scroll_amount": 1, "text": "ctrl"},
    {"action": "left_mouse_up"},
]

OPENAI: Rows = [
    ({"type": "click", "x": 100, "y": 200, "button": "left"}, [tap(200, 400)]),
    ({"type": "click", "x": 1, "y": 2, "button": "right"}, [{"type": "long_press", "target": at(2, 4)}]),
    ({"type": "click", "x": 1, "y": 2, "button": "back"}, [key("back")]),
    ({"type": "double_click", "x": 1, "y": 2}, [{"type": "double_tap", "target": at(2, 4)}]),
    (
        {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]},
        [{"type": "drag", "from": at(2, 4), "to": at(6, 8)}],
    ),
    (
        {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]},
        [{"type": "drag_path", "points": [at(2, 4), at(6, 8), at(10, 12)]}],
    ),
    ({"type": "move", "x": 1, "y": 2}, []),
    (
        {"type": "scroll", "x": 270, "y": 600, "scroll_x": 0, "scroll_y": 300},
        [swipe(540, 1500, 540, 900, 500)],
    ),
    ({"type": "keypress", "keys": ["ENTER"]}, [key("enter")]),
    ({"type": "keypress", "keys": ["CTRL", "+"]}, [{"type": "press_keys", "keys": ["ctrl", "KEYCODE_PLUS"]}]),
    ({"type": "keypress", "keys": ["CTRL", "A"]}, [{"type": "press_keys", "keys": ["ctrl", "KEYCODE_A"]}]),
    ({"type": "type", "text": "Ada"}, [{"type": "type_text", "text": "Ada"}]),
    ({"type": "wait"}, [{"type": "wait_for_stable"}]),
    ({"type": "screenshot"}, [{"type": "screenshot"}]),
    (
        {
            "type": "computer_call", "call_id": "call_1", "id": "cu_1", "status": "completed",
            "pending_safety_checks": [],
            "actions": [{"type": "click", "x": 1, "y": 2, "button": "left"}, {"type": "type", "text": "Ada"}],
        },
        [tap(2, 4), {"type": "type_text", "text": "Ada"}],
    ),
    (
        {
            "type": "computer_call", "call_id": "call_1",
            "pending_safety_checks": [{"id": "sc_1", "code": "malicious", "message": "Look out"}],
            "action": {"type": "click", "x": 1, "y": 2, "button": "left"},
        },
        [
            {
                "type": "request_human_auth", "capability": "permission",
                "instruction": "The model's maker wants a person to confirm: Look out",
            },
            tap(2, 4),
        ],
    ),
]  # fmt: skip
OPENAI_REFUSED = [
    {"type": "click", "x": 1, "y": 2, "button": "wheel"},
    {"type": "click", "x": 1, "y": 2, "button": "forward"},
    {"type": "click", "x": 1, "y": 2, "button": "left", "keys": ["CTRL"]},
    {"type": "double_click", "x": 1, "y": 2, "keys": ["SHIFT"]},
]

ROWS: Words = {
    "anthropic_computer": (ANTHROPIC, ANTHROPIC_REFUSED),
    "openai_computer": (OPENAI, OPENAI_REFUSED),
}
