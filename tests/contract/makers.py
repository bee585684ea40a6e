"""What makers' models and programs write, and what it means on a phone of 1080x2400 pixels.

One entry for each row of the research page. Pictures were sent with 540x1200 pixels, half of the screen.
"""

from __future__ import annotations

from typing import Any

from handrail.dialects.frame import Conversation, CoordinateFrame
from handrail.dialects.registry import dialect

SCREEN, PICTURE = (1080, 2400), (540, 1200)
ELEMENTS = ("@b1", "@f1", "@l1", "@b2")


def talk(name: str) -> Conversation:
    """As it is after one look."""
    return Conversation(CoordinateFrame(dialect(name).unit, SCREEN, PICTURE), ELEMENTS)


def _at(x: int, y: int) -> dict[str, int]:
    return {"x": x, "y": y}


def _swipe(x1: int, y1: int, x2: int, y2: int, ms: int = 300) -> dict[str, Any]:
    return {"type": "swipe", "from": _at(x1, y1), "to": _at(x2, y2), "duration_ms": ms}


def _key(name: str) -> dict[str, Any]:
    return {"type": "press_key", "key": name}


def _tap(x: int, y: int) -> dict[str, Any]:
    return {"type": "tap", "target": _at(x, y)}


Rows = list[tuple[Any, list[dict[str, Any]]]]

ANTHROPIC: Rows = [
    ({"action": "left_click", "coordinate": [100, 200]}, [_tap(200, 400)]),
    (
        {
            "type": "tool_use",
            "id": "toolu_1",
            "name": "computer",
            "input": {"action": "left_click", "coordinate": [1, 2]},
        },
        [_tap(2, 4)],
    ),
    (
        {
            "type": "tool_use",
            "id": "toolu_1",
            "toolset_name": "computer",
            "name": "left_click",
            "input": {"coordinate": [1, 2]},
        },
        [_tap(2, 4)],
    ),
    ({"action": "key", "text": "Down", "repeat": 3}, [_key("down")] * 3),
    ({"action": "right_click", "coordinate": [10, 20]}, [{"type": "long_press", "target": _at(20, 40)}]),
    ({"action": "double_click", "coordinate": [10, 20]}, [{"type": "double_tap", "target": _at(20, 40)}]),
    (
        {"action": "left_click_drag", "start_coordinate": [10, 20], "coordinate": [30, 40]},
        [{"type": "drag", "from": _at(20, 40), "to": _at(60, 80)}],
    ),
    (
        {"action": "scroll", "coordinate": [270, 600], "scroll_direction": "down", "scroll_amount": 3},
        [_swipe(540, 1560, 540, 840, 500)],
    ),
    (
        {"action": "scroll", "coordinate": [270, 600], "scroll_direction": "left", "scroll_amount": 2},
        [_swipe(432, 1200, 648, 1200, 500)],
    ),
    ({"action": "type", "text": "Ada"}, [{"type": "type_text", "text": "Ada"}]),
    ({"action": "key", "text": "Return"}, [_key("enter")]),
    ({"action": "key", "text": "BackSpace"}, [_key("delete")]),
    ({"action": "key", "text": "Delete"}, [_key("forward_delete")]),
    ({"action": "key", "text": "Escape"}, [_key("back")]),
    ({"action": "key", "text": "KP_Enter"}, [_key("enter")]),
    ({"action": "key", "text": "Tab"}, [_key("tab")]),
    ({"action": "key", "text": "space"}, [_key("space")]),
    ({"action": "key", "text": "Up"}, [_key("up")]),
    ({"action": "key", "text": "Home"}, [_key("move_home")]),
    ({"action": "key", "text": "End"}, [_key("move_end")]),
    ({"action": "key", "text": "Page_Down"}, [_key("page_down")]),
    ({"action": "key", "text": "super"}, [_key("home")]),
    ({"action": "key", "text": "XF86Back"}, [_key("back")]),
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
    ({"type": "click", "x": 100, "y": 200, "button": "left"}, [_tap(200, 400)]),
    ({"type": "click", "x": 1, "y": 2, "button": "right"}, [{"type": "long_press", "target": _at(2, 4)}]),
    ({"type": "click", "x": 1, "y": 2, "button": "back"}, [_key("back")]),
    ({"type": "double_click", "x": 1, "y": 2}, [{"type": "double_tap", "target": _at(2, 4)}]),
    (
        {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]},
        [{"type": "drag", "from": _at(2, 4), "to": _at(6, 8)}],
    ),
    (
        {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]},
        [{"type": "drag_path", "points": [_at(2, 4), _at(6, 8), _at(10, 12)]}],
    ),
    ({"type": "move", "x": 1, "y": 2}, []),
    (
        {"type": "scroll", "x": 270, "y": 600, "scroll_x": 0, "scroll_y": 300},
        [_swipe(540, 1500, 540, 900, 500)],
    ),
    ({"type": "keypress", "keys": ["ENTER"]}, [_key("enter")]),
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
        [_tap(2, 4), {"type": "type_text", "text": "Ada"}],
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
            _tap(2, 4),
        ],
    ),
]  # fmt: skip
OPENAI_REFUSED = [
    {"type": "click", "x": 1, "y": 2, "button": "wheel"},
    {"type": "click", "x": 1, "y": 2, "button": "forward"},
    {"type": "click", "x": 1, "y": 2, "button": "left", "keys": ["CTRL"]},
    {"type": "double_click", "x": 1, "y": 2, "keys": ["SHIFT"]},
]

ANDROIDWORLD: Rows = [
    ({"action_type": "click", "index": 3}, [{"type": "tap", "target": {"ref": "@b2"}}]),
    ({"action_type": "click", "index": "0"}, [{"type": "tap", "target": {"ref": "@b1"}}]),
    ({"action_type": "click", "x": 5, "y": 6}, [_tap(5, 6)]),
    ({"action_type": "double_tap", "x": 5, "y": 6}, [{"type": "double_tap", "target": _at(5, 6)}]),
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
    ({"action_type": "keyboard_enter"}, [_key("enter")]),
    ({"action_type": "navigate_back"}, [_key("back")]),
    ({"action_type": "navigate_home"}, [_key("home")]),
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
    ({"action_type": "click", "x": 5, "y": 6}, [_tap(5, 6)]),
    ({"action_type": "long_press", "x": 5, "y": 6}, [{"type": "long_press", "target": _at(5, 6)}]),
    ({"action_type": "scroll", "direction": "down"}, [{"type": "swipe", "direction": "up"}]),
    ({"action_type": "scroll", "direction": "right"}, [{"type": "swipe", "direction": "left"}]),
    ({"action_type": "open_app", "app_name": "Clock"}, [{"type": "start_app", "name": "Clock"}]),
    ({"action_type": "input_text", "text": "Ada"}, [{"type": "type_text", "text": "Ada", "submit": False}]),
    ({"action_type": "navigate_home"}, [_key("home")]),
    ({"action_type": "navigate_back"}, [_key("back")]),
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
        [_tap(540, 600)],
    ),
    (
        {"results/action_type": 4, "results/yx_touch": [0.75, 0.5], "results/yx_lift": [0.25, 0.5]},
        [_swipe(540, 1800, 540, 600)],
    ),
    ({"results/action_type": 5}, [_key("back")]),
    ({"results/action_type": 6}, [_key("home")]),
    ({"results/action_type": 7}, [_key("enter")]),
    ({"results/action_type": 10}, [{"type": "finish", "status": "done"}]),
    ({"results/action_type": 11}, [{"type": "finish", "status": "infeasible"}]),
]
AITW_REFUSED = [{"results/action_type": 8}, {"results/action_type": 4, "results/yx_touch": [0.5]}]

UI_TARS: Rows = [
    ("Thought: I tap.\nAction: click(point='<point>266 602</point>')", [_tap(540, 1200)]),
    ("Action: click(start_box='(266,602)')", [_tap(540, 1200)]),
    ("Thought：点击\nAction：click(start_box='<|box_start|>(266,602)<|box_end|>')", [_tap(540, 1200)]),
    ("Action: click(start_box='[256, 592, 276, 612]')", [_tap(540, 1200)]),
    ("Action: left_single(point='<point>266 602</point>')", [_tap(540, 1200)]),
    (
        "Action: long_press(point='<point>266 602</point>')",
        [{"type": "long_press", "target": _at(540, 1200)}],
    ),
    ("Action: type(content='Ada')", [{"type": "type_text", "text": "Ada", "submit": False}]),
    ("Action: type(content='Ada\\n')", [{"type": "type_text", "text": "Ada", "submit": True}]),
    (
        "Action: type(content='it's \"Ada\", she said')",
        [{"type": "type_text", "text": 'it\'s "Ada", she said'}],
    ),
    (
        "Action: scroll(point='<point>266 602</point>', direction='down')",
        [_swipe(540, 1800, 540, 600, 500)],
    ),
    ("Action: open_app(app_name='Contacts')", [{"type": "start_app", "name": "Contacts"}]),
    (
        "Action: drag(start_point='<point>28 28</point>', end_point='<point>266 602</point>')",
        [{"type": "drag", "from": _at(57, 56), "to": _at(540, 1200)}],
    ),
    (
        "Action: drag(start_box='(28,28)', end_box='(266,602)')",
        [{"type": "drag", "from": _at(57, 56), "to": _at(540, 1200)}],
    ),
    ("Action: press_home()", [_key("home")]),
    ("Action: press_back()", [_key("back")]),
    ("Action: finished(content='done')", [{"type": "finish", "message": "done", "status": "done"}]),
    (
        "Action: left_double(point='<point>266 602</point>')",
        [{"type": "double_tap", "target": _at(540, 1200)}],
    ),
    (
        "Action: right_single(point='<point>266 602</point>')",
        [{"type": "long_press", "target": _at(540, 1200)}],
    ),
    ("Action: hotkey(key='ctrl c')", [{"type": "press_keys", "keys": ["ctrl", "KEYCODE_C"]}]),
    ("Action: wait()", [{"type": "wait", "duration_ms": 5000}]),
    (
        "Action: call_user()",
        [{"type": "request_human_auth", "instruction": "Help is needed with this screen."}],
    ),
    (
        "Reflection: no.\nAction_Summary: yes.\n"
        "Action: click(point='<point>266 602</point>')\n\ntype(content='Ada')",
        [_tap(540, 1200), {"type": "type_text", "text": "Ada"}],
    ),
]
UI_TARS_REFUSED = ["Thought: I do not know.", "Action: click()", "Action: fly(point='<point>1 2</point>')"]

AUTOGLM: Rows = [
    (
        '<think>open</think><answer>do(action="Launch", app="通讯录")</answer>',
        [{"type": "start_app", "name": "通讯录"}],
    ),
    ('<answer>do(action="Tap", element=[500,250])</answer>', [_tap(540, 600)]),
    (
        '<answer>do(action="Tap", element=[500,250], message="pay")</answer>',
        [{"type": "request_human_auth", "capability": "permission", "instruction": "pay"}, _tap(540, 600)],
    ),
    ('<answer>do(action="Type", text="Ada")</answer>', [{"type": "type_text", "text": "Ada", "clear": True}]),
    (
        '<answer>do(action="Type", text="say "hi", now")</answer>',
        [{"type": "type_text", "text": 'say "hi", now', "clear": True}],
    ),
    (
        '<answer>do(action="Type_Name", text="Ada")</answer>',
        [{"type": "type_text", "text": "Ada", "clear": True}],
    ),
    ('<answer>do(action="Swipe", start=[500,750], end=[500,250])</answer>', [_swipe(540, 1800, 540, 600)]),
    (
        '<answer>do(action="Long Press", element=[500,250])</answer>',
        [{"type": "long_press", "target": _at(540, 600)}],
    ),
    (
        '<answer>do(action="Double Tap", element=[500,250])</answer>',
        [{"type": "double_tap", "target": _at(540, 600)}],
    ),
    ('<answer>do(action="Back")</answer>', [_key("back")]),
    ('<answer>do(action="Home")</answer>', [_key("home")]),
    ('<answer>do(action="Wait", duration="3 seconds")</answer>', [{"type": "wait", "duration_ms": 3000}]),
    (
        '<answer>do(action="Take_over", message="log in")</answer>',
        [{"type": "request_human_auth", "instruction": "log in"}],
    ),
    (
        '<answer>do(action="Interact")</answer>',
        [{"type": "request_human_auth", "instruction": "Several choices are possible: which one?"}],
    ),
    ('<answer>do(action="Note", message="True")</answer>', []),
    ('<answer>do(action="Call_API", instruction="sum up")</answer>', []),
    ('<answer>finish(message="done")</answer>', [{"type": "finish", "message": "done", "status": "done"}]),
]
AUTOGLM_REFUSED = ["I am done.", '<answer>do(action="Fly")</answer>', '<answer>do(action="Tap")</answer>']


def _call(**arguments: Any) -> dict[str, Any]:
    return {"name": "mobile_use", "arguments": arguments}


MOBILE_USE: Rows = [
    (
        'Action: "tap it"\n<tool_call>\n{"name": "mobile_use", "arguments": '
        '{"action": "click", "coordinate": [500, 250]}}\n</tool_call>',
        [_tap(540, 600)],
    ),
    (_call(action="click", coordinate=[500, 250]), [_tap(540, 600)]),
    (_call(action="tap", coordinate=[500, 250]), [_tap(540, 600)]),
    (
        _call(action="long_press", coordinate=[500, 250], time=2),
        [{"type": "long_press", "target": _at(540, 600), "duration_ms": 2000}],
    ),
    (_call(action="swipe", coordinate=[500, 750], coordinate2=[500, 250]), [_swipe(540, 1800, 540, 600)]),
    (_call(action="type", text="Ada"), [{"type": "type_text", "text": "Ada"}]),
    (_call(action="key", text="volume_up"), [_key("volume_up")]),
    (_call(action="key", text="power"), [_key("power")]),
    (_call(action="key", text="camera"), [_key("camera")]),
    (_call(action="key", text="clear"), [_key("KEYCODE_CLEAR")]),
    (_call(action="system_button", button="Back"), [_key("back")]),
    (_call(action="system_button", button="Home"), [_key("home")]),
    (_call(action="system_button", button="Menu"), [_key("recents")]),
    (_call(action="system_button", button="Enter"), [_key("enter")]),
    (_call(action="open", text="Contacts"), [{"type": "start_app", "name": "Contacts"}]),
    (_call(action="wait", time=2), [{"type": "wait", "duration_ms": 2000}]),
    (
        _call(action="answer", text="482913"),
        [
            {"type": "give_answer", "text": "482913"},
            {"type": "finish", "message": "482913", "status": "done"},
        ],
    ),
    (_call(action="terminate", status="success"), [{"type": "finish", "status": "done"}]),
    (_call(action="terminate", status="failure"), [{"type": "finish", "status": "failed"}]),
]
MOBILE_USE_REFUSED = [
    _call(action="fly"),
    _call(action="click"),
    _call(action="system_button", button="Jump"),
    "no call at all",
]
