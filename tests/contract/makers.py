"""What phone models write, and what it means: one entry for each row of the research page."""

from __future__ import annotations

from typing import Any

from tests.contract.dialect_words import Rows, Words, at, key, swipe, tap

UI_TARS: Rows = [
    ("Thought: I tap.\nAction: click(point='<point>266 602</point>')", [tap(540, 1200)]),
    ("Action: click(start_box='(266,602)')", [tap(540, 1200)]),
    ("Thought：点击\nAction：click(start_box='<|box_start|>(266,602)<|box_end|>')", [tap(540, 1200)]),
    ("Action: click(start_box='[256, 592, 276, 612]')", [tap(540, 1200)]),
    ("Action: left_single(point='<point>266 602</point>')", [tap(540, 1200)]),
    ("Action: long_press(point='<point>266 602</point>')", [{"type": "long_press", "target": at(540, 1200)}]),
    ("Action: type(content='Ada')", [{"type": "type_text", "text": "Ada", "submit": False}]),
    ("Action: type(content='Ada\\n')", [{"type": "type_text", "text": "Ada", "submit": True}]),
    (
        "Action: type(content='it's \"Ada\", she said')",
        [{"type": "type_text", "text": 'it\'s "Ada", she said'}],
    ),
    ("Action: scroll(point='<point>266 602</point>', direction='down')", [swipe(540, 1800, 540, 600, 500)]),
    ("Action: open_app(app_name='Contacts')", [{"type": "start_app", "name": "Contacts"}]),
    (
        "Action: drag(start_point='<point>28 28</point>', end_point='<point>266 602</point>')",
        [{"type": "drag", "from": at(57, 56), "to": at(540, 1200)}],
    ),
    (
        "Action: drag(start_box='(28,28)', end_box='(266,602)')",
        [{"type": "drag", "from": at(57, 56), "to": at(540, 1200)}],
    ),
    ("Action: press_home()", [key("home")]),
    ("Action: press_back()", [key("back")]),
    ("Action: finished(content='done')", [{"type": "finish", "message": "done", "status": "done"}]),
    (
        "Action: left_double(point='<point>266 602</point>')",
        [{"type": "double_tap", "target": at(540, 1200)}],
    ),
    (
        "Action: right_single(point='<point>266 602</point>')",
        [{"type": "long_press", "target": at(540, 1200)}],
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
        [tap(540, 1200), {"type": "type_text", "text": "Ada"}],
    ),
]
UI_TARS_REFUSED = ["Thought: I do not know.", "Action: click()", "Action: fly(point='<point>1 2</point>')"]

AUTOGLM: Rows = [
    (
        '<think>open</think><answer>do(action="Launch", app="通讯录")</answer>',
        [{"type": "start_app", "name": "通讯录"}],
    ),
    ('<answer>do(action="Tap", element=[500,250])</answer>', [tap(540, 600)]),
    (
        '<answer>do(action="Tap", element=[500,250], message="pay")</answer>',
        [{"type": "request_human_auth", "capability": "permission", "instruction": "pay"}, tap(540, 600)],
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
    ('<answer>do(action="Swipe", start=[500,750], end=[500,250])</answer>', [swipe(540, 1800, 540, 600)]),
    (
        '<answer>do(action="Long Press", element=[500,250])</answer>',
        [{"type": "long_press", "target": at(540, 600)}],
    ),
    (
        '<answer>do(action="Double Tap", element=[500,250])</answer>',
        [{"type": "double_tap", "target": at(540, 600)}],
    ),
    ('<answer>do(action="Back")</answer>', [key("back")]),
    ('<answer>do(action="Home")</answer>', [key("home")]),
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
        [tap(540, 600)],
    ),
    (_call(action="click", coordinate=[500, 250]), [tap(540, 600)]),
    (_call(action="tap", coordinate=[500, 250]), [tap(540, 600)]),
    (
        _call(action="long_press", coordinate=[500, 250], time=2),
        [{"type": "long_press", "target": at(540, 600), "duration_ms": 2000}],
    ),
    (_call(action="swipe", coordinate=[500, 750], coordinate2=[500, 250]), [swipe(540, 1800, 540, 600)]),
    (_call(action="type", text="Ada"), [{"type": "type_text", "text": "Ada"}]),
    (_call(action="key", text="volume_up"), [key("volume_up")]),
    (_call(action="key", text="power"), [key("power")]),
    (_call(action="key", text="camera"), [key("camera")]),
    (_call(action="key", text="clear"), [key("KEYCODE_CLEAR")]),
    (_call(action="system_button", button="Back"), [key("back")]),
    (_call(action="system_button", button="Home"), [key("home")]),
    (_call(action="system_button", button="Menu"), [key("recents")]),
    (_call(action="system_button", button="Enter"), [key("enter")]),
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

ROWS: Words = {
    "ui_tars": (UI_TARS, UI_TARS_REFUSED),
    "autoglm": (AUTOGLM, AUTOGLM_REFUSED),
    "mobile_use": (MOBILE_USE, MOBILE_USE_REFUSED),
}
