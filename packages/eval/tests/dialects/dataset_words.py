"""What data sets and benchmarks write, and what it means: one entry for each row of the research page."""

from __future__ import annotations

from tests.contract.dialect_words import Rows, Words, at, key, swipe, tap

ANDROIDWORLD: Rows = [
    ({"action_type": "click", "index": 3}, [{"type": "tap", "target": {"ref": "@b2"}}]),
    ({"action_type": "click", "index": "0"}, [{"type": "tap", "target": {"ref": "@b1"}}]),
    ({"action_type": "click", "x": 5, "y": 6}, [tap(5, 6)]),
    ({"action_type": "double_tap", "x": 5, "y": 6}, [{"type": "double_tap", "target": at(5, 6)}]),
    (
        {"action_type": "long_press", "index": 1},
        [{"type": "long_press", "target": {"ref": "@f1"}, "duration_ms": 1000}],
    ),
    (
        {"action_type": "input_text", "text": "Ada", "index": 1},
        [{"type": "type_text", "text": "Ada", "target": {"ref": "@f1"}, "submit": True}],
    ),
    (
        {"action_type": "input_text", "text": 7, "index": 1, "clear_text": True},
        [{"type": "type_text", "text": "7", "target": {"ref": "@f1"}, "clear": True, "submit": True}],
    ),
    ({"action_type": "input_text", "text": ""}, []),
    ({"action_type": "keyboard_enter"}, [key("enter")]),
    ({"action_type": "navigate_back"}, [key("back")]),
    ({"action_type": "navigate_home"}, [key("home")]),
    ({"action_type": "scroll", "direction": "down"}, [{"type": "swipe", "direction": "up"}]),
    (
        {"action_type": "scroll", "direction": "left", "index": 2},
        [{"type": "swipe", "direction": "right", "target": {"ref": "@l1"}}],
    ),
    ({"action_type": "scroll", "direction": "up", "index": 0}, [{"type": "swipe", "direction": "down"}]),
    ({"action_type": "swipe", "direction": "up"}, [{"type": "swipe", "direction": "up", "duration_ms": 500}]),
    (
        {"action_type": "swipe", "direction": "left"},
        [{"type": "swipe", "direction": "right", "duration_ms": 500}],
    ),
    (
        {"action_type": "swipe", "direction": "right"},
        [{"type": "swipe", "direction": "left", "duration_ms": 500}],
    ),
    (
        {"action_type": "swipe", "direction": "down"},
        [{"type": "swipe", "direction": "down", "duration_ms": 500}],
    ),
    ({"action_type": "open_app", "app_name": "Contacts"}, [{"type": "start_app", "name": "Contacts"}]),
    ({"action_type": "wait"}, [{"type": "wait", "duration_ms": 1000}]),
    ({"action_type": "answer", "text": "482913"}, [{"type": "give_answer", "text": "482913"}]),
    ({"action_type": "status", "goal_status": "complete"}, [{"type": "finish", "status": "done"}]),
    ({"action_type": "status", "goal_status": "infeasible"}, [{"type": "finish", "status": "infeasible"}]),
    (
        'Reason: I open it.\nAction: {"action_type": "click", "index": 0}',
        [{"type": "tap", "target": {"ref": "@b1"}}],
    ),
]
ANDROIDWORLD_REFUSED = [
    {"action_type": "unknown"},
    {"action_type": "click", "index": 9},
    {"action_type": "click", "index": 1, "x": 3, "y": 4},
    {"action_type": "click"},
    {"action_type": "drag_and_drop"},
]

ANDROIDCONTROL: Rows = [
    ({"action_type": "click", "x": 5, "y": 6}, [tap(5, 6)]),
    ({"action_type": "long_press", "x": 5, "y": 6}, [{"type": "long_press", "target": at(5, 6)}]),
    ({"action_type": "scroll", "direction": "down"}, [{"type": "swipe", "direction": "up"}]),
    ({"action_type": "scroll", "direction": "right"}, [{"type": "swipe", "direction": "left"}]),
    ({"action_type": "open_app", "app_name": "Clock"}, [{"type": "start_app", "name": "Clock"}]),
    ({"action_type": "input_text", "text": "Ada"}, [{"type": "type_text", "text": "Ada", "submit": False}]),
    ({"action_type": "navigate_home"}, [key("home")]),
    ({"action_type": "navigate_back"}, [key("back")]),
    ({"action_type": "wait"}, [{"type": "wait", "duration_ms": 1000}]),
]
ANDROIDCONTROL_REFUSED = [
    {"action_type": "click", "x": 5},
    {"action_type": "status", "goal_status": "complete"},
]

AITW: Rows = [
    (
        {"results/action_type": 3, "results/type_action": "Ada", "results/yx_touch": [-1, -1]},
        [{"type": "type_text", "text": "Ada", "submit": False}],
    ),
    (
        {"results/action_type": 4, "results/yx_touch": [0.25, 0.5], "results/yx_lift": [0.27, 0.5]},
        [tap(540, 600)],
    ),
    (
        {"results/action_type": 4, "results/yx_touch": [0.75, 0.5], "results/yx_lift": [0.25, 0.5]},
        [swipe(540, 1800, 540, 600)],
    ),
    ({"results/action_type": 5}, [key("back")]),
    ({"results/action_type": 6}, [key("home")]),
    ({"results/action_type": 7}, [key("enter")]),
    ({"results/action_type": 10}, [{"type": "finish", "status": "done"}]),
    ({"results/action_type": 11}, [{"type": "finish", "status": "infeasible"}]),
]
AITW += [
    (
        'Action Plan: [DUAL_POINT] ; Action Decision: "action_type": "DUAL_POINT", "touch_point": '
        '"[0.25, 0.5]", "lift_point": "[0.25, 0.5]", "typed_text": ""',
        [tap(540, 600)],
    ),
    (
        'Action Decision: "action_type": "DUAL_POINT", "touch_point": "[0.75, 0.5]", "lift_point": '
        '"[0.25, 0.5]", "typed_text": ""',
        [swipe(540, 1800, 540, 600)],
    ),
    (
        '"action_type": "TYPE", "touch_point": "[-1.0, -1.0]", "lift_point": "[-1.0, -1.0]", '
        '"typed_text": "best pizza"',
        [{"type": "type_text", "text": "best pizza", "submit": False}],
    ),
    (
        'Action Decision: "action_type": "PRESS_ENTER", "touch_point": "[-1.0, -1.0]", "lift_point": '
        '"[-1.0, -1.0]", "typed_text": ""',
        [key("enter")],
    ),
    ('Action Decision: "action_type": "STATUS_TASK_COMPLETE", "typed_text": ""', [{"type": "finish"}]),
]
AITW_REFUSED = [
    {"results/action_type": 8},
    {"results/action_type": 4, "results/yx_touch": [0.5]},
    'Action Decision: "action_type": "SCROLL", "touch_point": "[0.5, 0.5]"',
    'Action Decision: "action_type": "DUAL_POINT", "touch_point": "[0.5]", "lift_point": "[0.5]"',
    "I would tap the search bar.",
]

ROWS: Words = {
    "androidworld": (ANDROIDWORLD, ANDROIDWORLD_REFUSED),
    "androidcontrol": (ANDROIDCONTROL, ANDROIDCONTROL_REFUSED),
    "aitw": (AITW, AITW_REFUSED),
}
