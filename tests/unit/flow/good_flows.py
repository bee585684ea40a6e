"""Flows as data that are right in every form that the language has."""

from __future__ import annotations

from typing import Any

GOOD: list[Any] = [
    ["finish"],
    [{"finish": None}],
    [{"tap": "Save"}],
    [{"tap": {"id": "save", "textContains": "S", "within": {"id": "list"}}}],
    [{"tap": {"target": {"text": "A"}, "expect": "B"}, "optional": True, "retry": 2}],
    [
        {
            "tap": "540,750", "label": "x", "timeoutMs": 100, "settle": "none", "reason": "I tap",
            "device": "bob",
        }
    ],
    [
        {
            "tap": "A",
            "when": {"all": ["A", {"any": [{"absent": "B"}, {"app": "com.a"}]}]},
            "element": {"class": "B"},
        }
    ],
    [{"swipe": "up"}, {"swipe": {"direction": "left", "target": "A", "durationMs": 100}}],
    [{"swipe": {"from": "1,2", "to": {"x": 3, "y": 4}}}],
    [{"drag": {"from": "A", "to": "B"}}, {"long_press": {"target": "A", "duration_ms": 5}}],
    [{"pinch": {"cx": 1, "cy": 2, "startRadius": 3, "end_radius": 4}}],
    [{"type_text": "Ada"}, {"type_text": {"text": "Ada", "target": "Name", "clear": True}}],
    [{"press_key": "back"}, {"press_key": 66}, {"press_key": "KEYCODE_A"}, {"press_key": "${KEY}"}],
    [{"start_app": "com.a"}, {"start_app": "${APP}"}, {"start_app": "com.${NAME}.app"}],
    [
        {"set_value": {"target": "A", "value": 40}},
        {"set_network": {"airplaneMode": True}},
        {"set_network": "lte"},
    ],
    [{"shell": ["pm", "list"]}, {"shell": "pm list"}, {"shell": {"command": "a | b", "raw": True}}],
    [{"wait": 5}, {"wait": "${MS}"}, {"wait": "${MS:-5}"}, "wait_for_stable", {"wait_for_stable": 50}],
    [
        {"wait_for": "A", "timeout_ms": 5},
        {"wait_for": {"condition": {"visible": {"id": "a"}}, "timeoutMs": 1}},
    ],
    [{"wait_for": {"text": {"target": "A", "equals": "b"}}}, {"wait_for": {"screenChanged": True}}],
    [{"expect_text": {"target": "A", "contains": "b"}}, {"expect_screen": "k3x9qa"}, {"expect_absent": "A"}],
    [{"expect_state": {"target": "A", "property": "checked", "value": False}}],
    [{"repeat": {"times": 3, "steps": ["finish"]}, "label": "x"}],
    [{"repeat": {"times": "${N}", "steps": ["finish"]}}],
    [{"repeat": {"while": "A", "max_times": 3, "steps": [{"tap": "A"}]}, "when": "B"}],
    [{"repeat": {"until": {"absent": "A"}, "maxTimes": 3, "steps": [{"tap": "A"}]}}],
    [
        {"when": "A", "then": ["finish"]},
        {"when": {"app": "a"}, "then": ["finish"], "else": ["finish"], "label": "x"},
    ],
    [
        {"run_flow": "a.yaml"},
        {"run_flow": {"file": "a.yaml", "env": {"A": "b", "N": 3, "F": True}}, "optional": True},
    ],
    [{"parallel": {"alice": [{"tap": "A"}], "bob": ["finish"]}, "timeout_ms": 5}],
    {
        "name": "n", "app": "com.a", "tags": ["a"], "env": {"A": "b", "N": 3}, "devices": ["x"],
        "steps": ["finish"],
    },
]  # fmt: skip

_SAVE = {"text": "Save"}
AGENTEST_STEPS: list[dict[str, Any]] = [
    {"action": "tap", "target": {"ref": "@b1"}},
    {"action": "tap_coordinates", "x": 1, "y": 2.5},
    {"action": "type", "target": {"id": "name", "index": 0}, "value": "Ada"},
    {"action": "clear_text", "target": {"className": "EditText"}},
    {"action": "swipe", "direction": "up", "target": _SAVE, "durationMs": 100},
    {"action": "swipe_coordinates", "x1": 1, "y1": 2, "x2": 3, "y2": 4},
    {"action": "long_press", "target": _SAVE, "durationMs": 700},
    {"action": "long_press_coordinates", "x": 1, "y": 2},
    {"action": "double_tap", "target": {"description": "Menu"}},
    {"action": "double_tap_coordinates", "x": 1, "y": 2},
    {"action": "press_key", "keycode": "KEYCODE_BACK"},
    {"action": "pinch", "cx": 1, "cy": 2, "startRadius": 3, "endRadius": 4},
    {"action": "rotate", "cx": 1, "cy": 2, "radius": 3, "startAngleDeg": 0, "endAngleDeg": 90.5},
    {
        "action": "scroll_to",
        "target": _SAVE,
        "scrollTarget": {"id": "list"},
        "direction": "up",
        "maxScrolls": 3,
    },
    {"action": "wait", "timeoutMs": 100},
    {"action": "wait_for_stable"},
    {"action": "assert_visible", "target": {"textContains": "a"}},
    {"action": "assert_not_visible", "target": _SAVE},
    {"action": "assert_text_equals", "target": _SAVE, "value": "a"},
    {"action": "assert_text_contains", "target": _SAVE, "value": "a"},
]
