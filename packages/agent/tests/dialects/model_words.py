"""What models of CogAgent, AppAgent, droidrun, MAI-UI and Doubao print, and what it means."""

from __future__ import annotations

from typing import Any

from tests.contract.dialect_words import Rows, Words, at, key, swipe, tap


def _on(ref: str, kind: str = "tap", **more: Any) -> dict[str, Any]:
    return {"type": kind, "target": {"ref": ref}, **more}


COGAGENT: Rows = [
    (
        "Action: Click 'Save'.\nGrounded Operation: CLICK(box=[[490,240,510,260]], element_type='text', "
        "element_info='Save')\n<<一般操作>>",
        [tap(540, 600)],
    ),
    ("Status: open\nGrounded Operation: CLICK(box=[[090,050,110,070]])", [tap(108, 144)]),
    (
        "Grounded Operation: CLICK(box=[[490,240,510,260]], element_info='Pay (now), 5 €')\n<<敏感操作>>",
        [
            {
                "type": "request_human_auth",
                "capability": "permission",
                "instruction": "The model's maker wants a person to confirm: "
                "CLICK(box=[[490,240,510,260]], element_info='Pay (now), 5 €')",
            },
            tap(540, 600),
        ],
    ),
    (
        "Grounded Operation: DOUBLE_CLICK(box=[[500,250,500,250]])",
        [{"type": "double_tap", "target": at(540, 600)}],
    ),
    (
        "Grounded Operation: RIGHT_CLICK(box=[[500,250,500,250]])",
        [{"type": "long_press", "target": at(540, 600)}],
    ),
    (
        "Grounded Operation: TYPE(box=[[490,240,510,260]], text='007, say \"hi\"', element_info='Search')",
        [{"type": "type_text", "text": '007, say "hi"', "target": at(540, 600)}],
    ),
    (
        "Grounded Operation: SCROLL_DOWN(box=[[000,000,1000,1000]], element_type='list', step_count=5)",
        [swipe(540, 1800, 540, 600, 500)],
    ),
    (
        "Grounded Operation: SCROLL_UP(box=[[0,0,1000,1000]], step_count=5)",
        [swipe(540, 600, 540, 1800, 500)],
    ),
    (
        "Grounded Operation: SCROLL_LEFT(box=[[0,0,1000,1000]], step_count=5)",
        [swipe(270, 1200, 810, 1200, 500)],
    ),
    (
        "Grounded Operation: SCROLL_RIGHT(box=[[0,0,1000,1000]], step_count=5)",
        [swipe(810, 1200, 270, 1200, 500)],
    ),
    ("Grounded Operation: KEY_PRESS(key='Return')", [key("enter")]),
    ("Grounded Operation: KEY_PRESS(key='Home')", [key("home")]),
    ("Grounded Operation: KEY_PRESS(key='Back')", [key("back")]),
    (
        "Grounded Operation: GESTURE(actions=[KEY_DOWN(key='Lcontrol'), KEY_PRESS(key='A'), "
        "KEY_UP(key='Lcontrol')])",
        [{"type": "press_keys", "keys": ["ctrl", "KEYCODE_A"]}],
    ),
    (
        "Grounded Operation: LAUNCH(app='Settings', url='None')",
        [{"type": "start_app", "name": "Settings"}],
    ),
    (
        "Grounded Operation: LAUNCH(app='None', url='baidu.com')",
        [{"type": "open_url", "url": "https://baidu.com"}],
    ),
    ("Action: Done.\nGrounded Operation: END", [{"type": "finish", "status": "done"}]),
]
COGAGENT_REFUSED = [
    "Action: I do not know.",
    "Grounded Operation: CLICK(box=[[100,200,300]])",
    "Grounded Operation: CLICK(element_info='Save')",
    "Grounded Operation: CLICK(box=[[490,240,510,1600]])",
    "Grounded Operation: HOVER(box=[[490,240,510,260]])",
    "Grounded Operation: TYPE(box=[[490,240,510,260]], text='__CogName_Price__')",
    "Grounded Operation: QUOTE_TEXT(box=[[0,0,999,999]], output='__CogName_x__')",
    "Grounded Operation: QUOTE_CLIPBOARD(output='__CogName_x__')",
    "Grounded Operation: LLM(prompt='sum up', output='__CogName_x__')",
    "Grounded Operation: GESTURE(actions=[KEY_DOWN(key='Lcontrol'), KEY_PRESS(key='A')])",
    "Grounded Operation: LAUNCH(app='None', url='None')",
    "Grounded Operation: CLICK(box=[[490,240,510,",
    "__import__('os').system('id')",
]


def _said(action: str) -> str:
    return f"Observation: A list.\nThought: I go on.\nAction: {action}\nSummary: I went on."


APPAGENT: Rows = [
    (_said("tap(2)"), [_on("@f1")]),
    ("Action: tap(element=2)", [_on("@f1")]),
    (_said("long_press(1)"), [_on("@b1", "long_press")]),
    (_said('text("Hello, world! (2)")'), [{"type": "type_text", "text": "Hello, world! (2)"}]),
    (_said('text("say "hi"")'), [{"type": "type_text", "text": 'say "hi"'}]),
    (
        _said('swipe(3, "up", "medium")'),
        [_on("@l1", "swipe", direction="up", duration_ms=400)],
    ),
    (_said("FINISH"), [{"type": "finish", "status": "done"}]),
]
APPAGENT_REFUSED = [
    _said("tap(0)"),
    _said("tap(5)"),
    _said("tap(1.5)"),
    _said('tap(3, "center")'),
    _said("text(Hello)"),
    _said('swipe(3, "upwards", "medium")'),
    _said('swipe(3, "up", "far")'),
    _said("grid()"),
    _said("I would tap the button, then FINISH"),
    "Observation: nothing.",
]


def _invoke(name: str, **fields: Any) -> str:
    inside = "".join(f'<parameter name="{key}">{value}</parameter>\n' for key, value in fields.items())
    return f'<invoke name="{name}">\n{inside}</invoke>\n'


def _block(*calls: str) -> str:
    return f"I go on.\n\n<function_calls>\n{''.join(calls)}</function_calls>"


DROIDRUN: Rows = [
    (
        '### Thought ###\nTap.\n\n### Action ###\n{"action": "click", "index": 2}\n\n'
        "### Description ###\nClick.",
        [_on("@f1")],
    ),
    (_block(_invoke("click", index=2)), [_on("@f1")]),
    (
        _block(_invoke("type", index=2, text="Team standup"), _invoke("click", index=4)),
        [_on("@f1", "type_text", text="Team standup", clear=False), _on("@b2")],
    ),
    ({"action": "long_press", "index": 1}, [_on("@b1", "long_press")]),
    ({"action": "click_at", "x": 500, "y": 300}, [tap(500, 300)]),
    ({"action": "click_area", "x1": 100, "y1": 200, "x2": 300, "y2": 400}, [tap(200, 300)]),
    ({"action": "long_press_at", "x": 500, "y": 300}, [{"type": "long_press", "target": at(500, 300)}]),
    (
        {"action": "type", "text": "a", "index": -1, "clear": True},
        [{"type": "type_text", "text": "a", "clear": True}],
    ),
    (
        {"action": "type_text", "text": "a", "index": 2},
        [_on("@f1", "type_text", text="a", clear=False)],
    ),
    (
        {"action": "type_secret", "secret_id": "MY_PASSWORD", "index": 2},
        [_on("@f1", "type_text", text="${secret:MY_PASSWORD}")],
    ),
    ({"action": "system_button", "button": "back"}, [key("back")]),
    (
        {"action": "swipe", "coordinate": [540, 1800], "coordinate2": [540, 600], "duration": 1.5},
        [swipe(540, 1800, 540, 600, 1500)],
    ),
    (
        {"action": "swipe", "coordinate": [540, 1800], "coordinate2": [540, 600]},
        [swipe(540, 1800, 540, 600, 1000)],
    ),
    ({"action": "open_app", "text": "Calendar"}, [{"type": "start_app", "name": "Calendar"}]),
    (
        {"action": "open_app", "bundle_id": "com.apple.Preferences"},
        [{"type": "start_app", "package": "com.apple.Preferences"}],
    ),
    (
        {"action": "open_bundle_id", "bundle_id": "com.android.settings"},
        [{"type": "start_app", "package": "com.android.settings"}],
    ),
    ({"action": "wait"}, [{"type": "wait", "duration_ms": 1000}]),
    ({"action": "remember", "information": "It costs 5."}, []),
    (
        _block(_invoke("complete", success="true", message="Created.")),
        [{"type": "finish", "status": "done", "message": "Created."}],
    ),
    (
        {"action": "complete", "success": False, "reason": "No such app."},
        [{"type": "finish", "status": "failed", "message": "No such app."}],
    ),
]
DROIDRUN_REFUSED = [
    {"action": "click", "index": 0},
    {"action": "click", "index": 9},
    {"action": "click", "index": "two"},
    {"action": "click"},
    {"action": "complete", "message": "Done."},
    {"action": "complete", "success": "perhaps"},
    {"action": "type_secret", "secret_id": "} rm", "index": 1},
    {"action": "system_button", "button": "power off"},
    {"action": "fly"},
    {"index": 3},
    "### Action ###\nI click.",
    '<function_calls><invoke name="click"><parameter name="index">2',
]


def _mai(**arguments: Any) -> dict[str, Any]:
    return {"name": "mobile_use", "arguments": arguments}


MAI_UI: Rows = [
    (
        '<thinking>\nI tap.\n</thinking>\n<tool_call>\n{"name": "mobile_use", "arguments": '
        '{"action": "click", "coordinate": [999, 0]}}\n</tool_call>',
        [tap(1079, 0)],
    ),
    (_mai(action="click", coordinate=[499.5, 249.75]), [tap(540, 600)]),
    (_mai(action="click", coordinate=[399, 149.5, 600, 350]), [tap(540, 600)]),
    (
        'I go.</think>\n<tool_call>{"name":"mobile_use","arguments":{"action":"system_button",'
        '"button":"back"}}</tool_call>',
        [key("back")],
    ),
    (
        _mai(action="double_click", coordinate=[499.5, 249.75]),
        [{"type": "double_tap", "target": at(540, 600)}],
    ),
    (_mai(action="long_press", coordinate=[499.5, 249.75]), [{"type": "long_press", "target": at(540, 600)}]),
    (_mai(action="type", text="Ada"), [{"type": "type_text", "text": "Ada"}]),
    (_mai(action="swipe", direction="up"), [{"type": "swipe", "direction": "up"}]),
    (_mai(action="swipe", direction="up", coordinate=[499.5, 499.5]), [swipe(540, 1200, 540, 700)]),
    (_mai(action="swipe", direction="left", coordinate=[99.9, 499.5]), [swipe(108, 1200, 0, 1200)]),
    (
        _mai(action="drag", start_coordinate=[499.5, 749.25], end_coordinate=[499.5, 249.75]),
        [{"type": "drag", "from": at(540, 1800), "to": at(540, 600)}],
    ),
    (_mai(action="open", text="微信"), [{"type": "start_app", "name": "微信"}]),
    (_mai(action="AWAKE", value="WeChat"), [{"type": "start_app", "name": "WeChat"}]),
    (_mai(action="system_button", button="menu"), [key("menu")]),
    (_mai(action="wait"), [{"type": "wait", "duration_ms": 2000}]),
    (
        _mai(action="answer", text="5"),
        [{"type": "give_answer", "text": "5"}, {"type": "finish", "message": "5", "status": "done"}],
    ),
    (_mai(action="ask_user", text="Which?"), [{"type": "request_human_auth", "instruction": "Which?"}]),
    (_mai(action="INFO", text="Which?"), [{"type": "request_human_auth", "instruction": "Which?"}]),
    (_mai(action="terminate", status="fail"), [{"type": "finish", "status": "failed"}]),
]
MAI_UI_REFUSED = [
    _mai(action="click"),
    _mai(action="click", coordinate=[1200, 3]),
    _mai(action="swipe"),
    _mai(action="swipe", direction="round"),
    _mai(action="swipe", direction="left", coordinate=[0, 500]),
    _mai(action="terminate", status="perhaps"),
    {"name": "search_web", "arguments": {"query": "weather"}},
    "no call at all",
]


def _seed(name: str, **fields: str) -> str:
    inside = "".join(f"<parameter={key}>{value}</parameter>\n" for key, value in fields.items())
    return f"<think>I go.</think><seed:tool_call>\n<function={name}>\n{inside}</function>\n</seed:tool_call>"


DOUBAO: Rows = [
    ("Thought: I tap.\nAction: click(point='<point>500 250</point>')", [tap(540, 600)]),
    ("Action_Summary: 点击\nAction: click(start_box='<bbox>490 240 510 260</bbox>')", [tap(540, 600)]),
    (_seed("click", point="<point>500 250</point>"), [tap(540, 600)]),
    (_seed("left_single", point="<point>500 250</point>"), [tap(540, 600)]),
    (
        "Action: left_double_click(start_box='<bbox>490 240 510 260</bbox>')",
        [{"type": "double_tap", "target": at(540, 600)}],
    ),
    (
        "Action: double_click(point='<point>500 250</point>')",
        [{"type": "double_tap", "target": at(540, 600)}],
    ),
    ("Action: left_double(point='<point>500 250</point>')", [{"type": "double_tap", "target": at(540, 600)}]),
    (
        "Action: right_click(start_box='<bbox>490 240 510 260</bbox>')",
        [{"type": "long_press", "target": at(540, 600)}],
    ),
    (
        "Action: right_single(point='<point>500 250</point>')",
        [{"type": "long_press", "target": at(540, 600)}],
    ),
    (_seed("long_press", point="<point>500 250</point>"), [{"type": "long_press", "target": at(540, 600)}]),
    (
        "Action: drag(start_box='<bbox>490 740 510 760</bbox>', end_box='<bbox>490 240 510 260</bbox>')",
        [{"type": "drag", "from": at(540, 1800), "to": at(540, 600)}],
    ),
    (
        "Action: scroll(direction='down', start_box='<bbox>0 0 1000 1000</bbox>')",
        [swipe(540, 1800, 540, 600, 500)],
    ),
    (_seed("type", content="Ada\\n"), [{"type": "type_text", "text": "Ada", "submit": True}]),
    (_seed("open_app", app_name="通讯录"), [{"type": "start_app", "name": "通讯录"}]),
    (_seed("press_home"), [key("home")]),
    ("Action: press_back()", [key("back")]),
    ("Action: hotkey(key='enter')", [key("enter")]),
    ("Action: wait()", [{"type": "wait", "duration_ms": 5000}]),
    (
        "Action: call_user()",
        [{"type": "request_human_auth", "instruction": "Help is needed with this screen."}],
    ),
    (_seed("finished", content="Done."), [{"type": "finish", "message": "Done.", "status": "done"}]),
]
DOUBAO_REFUSED = [
    "Thought: I do not know.",
    "Action: click(point='<point>500 1200</point>')",
    "<seed:tool_call><function=click><parameter=point><point>500 250",
    _seed("fly"),
    _seed("click"),
]

ROWS: Words = {
    "cogagent": (COGAGENT, COGAGENT_REFUSED),
    "appagent": (APPAGENT, APPAGENT_REFUSED),
    "droidrun": (DROIDRUN, DROIDRUN_REFUSED),
    "mai_ui": (MAI_UI, MAI_UI_REFUSED),
    "doubao": (DOUBAO, DOUBAO_REFUSED),
}
