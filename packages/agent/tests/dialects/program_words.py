"""What programs write: WebDriver, Appium's gestures, mobile-mcp, agent-device."""

from __future__ import annotations

from typing import Any

from tests.contract.dialect_words import Rows, Words, at, key, swipe, tap


def _finger(*steps: dict[str, Any], name: str = "finger1") -> dict[str, Any]:
    return {
        "type": "pointer",
        "id": name,
        "parameters": {"pointerType": "touch"},
        "actions": list(steps),
    }


def _to(x: int, y: int, ms: int = 0, origin: str = "viewport") -> dict[str, Any]:
    return {"type": "pointerMove", "duration": ms, "x": x, "y": y, "origin": origin}


DOWN, UP = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
HOLD = {"type": "pause", "duration": 600}
AREA = {"left": 0, "top": 400, "width": 1080, "height": 1000}


def _mobile(name: str, **args: Any) -> dict[str, Any]:
    return {"script": f"mobile: {name}", "args": [args]}


W3C: Rows = [
    ({"actions": [_finger(_to(5, 6), DOWN, UP)]}, [tap(5, 6)]),
    (
        {"actions": [_finger(_to(5, 6), DOWN, HOLD, UP)]},
        [{"type": "long_press", "target": at(5, 6), "duration_ms": 600}],
    ),
    ({"actions": [_finger(_to(5, 6), DOWN, _to(7, 800, 250), UP)]}, [swipe(5, 6, 7, 800, 250)]),
    (
        {"actions": [_finger(_to(5, 6), DOWN, HOLD, _to(7, 800, 250), UP)]},
        [{"type": "drag", "from": at(5, 6), "to": at(7, 800), "duration_ms": 250}],
    ),
    (
        {"actions": [_finger(_to(5, 6), DOWN, _to(7, 8, 100), _to(9, 9, 100), UP)]},
        [{"type": "drag_path", "points": [at(5, 6), at(7, 8), at(9, 9)], "duration_ms": 200}],
    ),
    ({"actions": [_finger(_to(5, 6), DOWN, _to(10, 0, 100, "pointer"), UP)]}, [swipe(5, 6, 15, 6, 100)]),
    (
        {
            "actions": [
                _finger(_to(440, 1200), DOWN, _to(240, 1200, 300), UP),
                _finger(_to(640, 1200), DOWN, _to(840, 1200, 300), UP, name="finger2"),
            ]
        },
        [
            {
                "type": "pinch",
                "cx": 540,
                "cy": 1200,
                "start_radius": 100,
                "end_radius": 300,
                "duration_ms": 300,
            }
        ],
    ),
    (
        {
            "actions": [
                _finger(_to(640, 1200), DOWN, _to(540, 1300, 300), UP),
                _finger(_to(440, 1200), DOWN, _to(540, 1100, 300), UP, name="finger2"),
            ]
        },
        [
            {
                "type": "rotate",
                "cx": 540,
                "cy": 1200,
                "radius": 100,
                "start_angle_deg": 0.0,
                "end_angle_deg": 90.0,
                "duration_ms": 300,
            }
        ],
    ),
    (
        {
            "actions": [
                {
                    "type": "key",
                    "id": "keyboard",
                    "actions": [
                        {"type": "keyDown", "value": "A"},
                        {"type": "keyUp", "value": "A"},
                        {"type": "keyDown", "value": "d"},
                        {"type": "keyUp", "value": "d"},
                        {"type": "keyDown", "value": "\ue007"},
                        {"type": "keyUp", "value": "\ue007"},
                    ],
                }
            ]
        },
        [{"type": "type_text", "text": "Ad"}, key("enter")],
    ),
    (
        {
            "actions": [
                {
                    "type": "key",
                    "id": "keyboard",
                    "actions": [
                        {"type": "keyDown", "value": "\ue009"},
                        {"type": "keyDown", "value": "a"},
                        {"type": "keyUp", "value": "a"},
                        {"type": "keyUp", "value": "\ue009"},
                    ],
                }
            ]
        },
        [{"type": "press_keys", "keys": ["ctrl", "KEYCODE_A"]}],
    ),
    (
        {"actions": [{"type": "none", "id": "n", "actions": [{"type": "pause", "duration": 700}]}]},
        [{"type": "wait", "duration_ms": 700}],
    ),
    (_mobile("clickGesture", x=5, y=6), [tap(5, 6)]),
    (_mobile("doubleClickGesture", x=5, y=6), [{"type": "double_tap", "target": at(5, 6)}]),
    (
        _mobile("longClickGesture", x=5, y=6),
        [{"type": "long_press", "target": at(5, 6), "duration_ms": 500}],
    ),
    (
        _mobile("longClickGesture", x=5, y=6, duration=900),
        [{"type": "long_press", "target": at(5, 6), "duration_ms": 900}],
    ),
    (
        _mobile("dragGesture", startX=0, startY=100, endX=0, endY=1100, speed=2000),
        [{"type": "drag", "from": at(0, 100), "to": at(0, 1100), "duration_ms": 500}],
    ),
    (
        _mobile("swipeGesture", **AREA, direction="up", percent=0.5, speed=1000),
        [swipe(540, 1150, 540, 650, 500)],
    ),
    (
        _mobile("scrollGesture", **AREA, direction="down", percent=0.5, speed=1000),
        [swipe(540, 1150, 540, 650, 500)],
    ),
    (
        _mobile("flingGesture", **AREA, direction="down", speed=10000),
        [swipe(540, 1400, 540, 400, 100)],
    ),
    (
        _mobile("pinchOpenGesture", **AREA, percent=0.5, speed=1000),
        [{"type": "pinch", "cx": 540, "cy": 900, "start_radius": 27, "end_radius": 270, "duration_ms": 243}],
    ),
    (
        _mobile("pinchCloseGesture", **AREA, percent=0.5, speed=1000),
        [{"type": "pinch", "cx": 540, "cy": 900, "start_radius": 270, "end_radius": 27, "duration_ms": 243}],
    ),
]
W3C_REFUSED: list[Any] = [
    {"actions": [_finger({**_to(1, 2), "origin": {"element-6066-11e4-a52e-4f735466cecf": "x"}}, DOWN, UP)]},
    {"actions": [_finger(_to(1, 2), DOWN)]},
    {"actions": [{"type": "wheel", "id": "w", "actions": []}]},
    {
        "actions": [
            _finger(_to(100, 100), DOWN, _to(900, 100, 300), UP),
            _finger(_to(100, 300), DOWN, _to(100, 900, 300), UP, name="finger2"),
        ]
    },
    _mobile("clickGesture", elementId="abc"),
    _mobile("scrollGesture", elementId="abc", direction="down", percent=1.0),
    _mobile("noGesture"),
    {},
]


def _tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


MOBILE_MCP: Rows = [
    (_tool("mobile_list_apps", device="d"), [{"type": "list_apps", "device": "d"}]),
    (
        _tool("mobile_launch_app", device="d", packageName="com.a.b"),
        [{"type": "start_app", "package": "com.a.b", "device": "d"}],
    ),
    (_tool("mobile_terminate_app", packageName="com.a.b"), [{"type": "stop_app", "package": "com.a.b"}]),
    (_tool("mobile_install_app", path="a.apk"), [{"type": "install_app", "path": "a.apk"}]),
    (
        _tool("mobile_uninstall_app", bundle_id="com.a.b"),
        [{"type": "uninstall_app", "package": "com.a.b"}],
    ),
    (_tool("mobile_get_screen_size"), [{"type": "get_state"}]),
    (_tool("mobile_click_on_screen_at_coordinates", x=5, y=6), [tap(5, 6)]),
    (_tool("mobile_double_tap_on_screen", x=5, y=6), [{"type": "double_tap", "target": at(5, 6)}]),
    (
        _tool("mobile_long_press_on_screen_at_coordinates", x=5, y=6),
        [{"type": "long_press", "target": at(5, 6), "duration_ms": 500}],
    ),
    (_tool("mobile_list_elements_on_screen"), [{"type": "get_ui_tree", "format": "outline"}]),
    (_tool("mobile_press_button", button="BACK"), [key("back")]),
    (_tool("mobile_press_button", button="DPAD_CENTER"), [key("center")]),
    (
        _tool("mobile_open_url", url="https://example.org"),
        [{"type": "open_url", "url": "https://example.org"}],
    ),
    (_tool("mobile_swipe_on_screen", direction="up"), [{"type": "swipe", "direction": "up"}]),
    (
        _tool("mobile_swipe_on_screen", direction="up", x=540, y=1800, distance=400),
        [swipe(540, 1800, 540, 1400)],
    ),
    (
        _tool("mobile_type_keys", text="Ada", submit=True),
        [{"type": "type_text", "text": "Ada", "submit": True}],
    ),
    (_tool("mobile_take_screenshot"), [{"type": "screenshot"}]),
    (
        _tool("mobile_set_orientation", orientation="landscape"),
        [{"type": "set_orientation", "orientation": "landscape"}],
    ),
    (_tool("mobile_get_orientation"), [{"type": "get_state"}]),
]
MOBILE_MCP_REFUSED = [
    _tool("mobile_save_screenshot", saveTo="/tmp/a.png"),
    _tool("mobile_start_screen_recording"),
    _tool("mobile_stop_screen_recording"),
    _tool("mobile_list_crashes"),
    _tool("mobile_get_crash", id="1"),
    _tool("mobile_launch_app", packageName="com.a.b", locale="fr-FR"),
    _tool("mobile_fly"),
]

POINT = {"kind": "point", "x": 5, "y": 6}
AGENT_DEVICE: Rows = [
    (_tool("click", target={"kind": "ref", "ref": "@b3"}), [{"type": "tap", "target": {"ref": "@b3"}}]),
    (
        _tool("click", target={"kind": "selector", "selector": "text=Save"}),
        [{"type": "tap", "target": {"text": "Save"}}],
    ),
    (_tool("click", target=POINT), [tap(5, 6)]),
    (_tool("click", target=POINT, count=2), [{"type": "double_tap", "target": at(5, 6)}]),
    (_tool("press", target=POINT), [tap(5, 6)]),
    (
        _tool("fill", target={"kind": "ref", "ref": "@f1"}, text="Ada", delayMs=5),
        [{"type": "type_text", "target": {"ref": "@f1"}, "text": "Ada", "clear": True}],
    ),
    (_tool("type", text="Ada"), [{"type": "type_text", "text": "Ada"}]),
    (
        _tool("longpress", target=POINT, durationMs=700),
        [{"type": "long_press", "target": at(5, 6), "duration_ms": 700}],
    ),
    (
        _tool("swipe", **{"from": {"x": 1, "y": 900}, "to": {"x": 1, "y": 100}}, durationMs=250),
        [swipe(1, 900, 1, 100, 250)],
    ),
    (_tool("scroll", direction="down"), [{"type": "swipe", "direction": "up"}]),
    (_tool("scroll", direction="bottom"), [{"type": "swipe", "direction": "up"}] * 5),
    (_tool("scroll", direction="down", pixels=600), [swipe(540, 1500, 540, 900)]),
    (_tool("focus", x=5, y=6), [tap(5, 6)]),
    (
        _tool("get", format="text", target={"kind": "ref", "ref": "@b3"}),
        [{"type": "get_ui_tree", "within": {"ref": "@b3"}}],
    ),
    (_tool("find", query="Save", locator="text", action="get"), [{"type": "get_ui_tree", "find": "Save"}]),
    (
        _tool("is", predicate="visible", selector="text=Save"),
        [{"type": "expect_visible", "target": {"text": "Save"}, "timeout_ms": 0}],
    ),
    (
        _tool("is", predicate="hidden", selector="text=Save"),
        [{"type": "expect_absent", "target": {"text": "Save"}, "timeout_ms": 0}],
    ),
    (
        _tool("is", predicate="text", selector="id=total", value="12"),
        [{"type": "expect_text", "target": {"id": "total"}, "equals": "12", "timeout_ms": 0}],
    ),
    (
        _tool("is", predicate="selected", selector="id=total"),
        [
            {
                "type": "expect_state",
                "target": {"id": "total"},
                "property": "selected",
                "value": True,
                "timeout_ms": 0,
            }
        ],
    ),
    (
        _tool("gesture", kind="pan", **{"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}}),
        [{"type": "drag", "from": at(1, 2), "to": at(3, 4), "duration_ms": 300}],
    ),
    (
        _tool("gesture", kind="pinch", scale=2),
        [{"type": "pinch", "cx": 540, "cy": 1200, "start_radius": 150, "end_radius": 300}],
    ),
    (
        _tool("gesture", kind="rotate", degrees=90, durationMs=400),
        [
            {
                "type": "rotate",
                "cx": 540,
                "cy": 1200,
                "radius": 300,
                "start_angle_deg": 0.0,
                "end_angle_deg": 90.0,
            }
        ],
    ),
    (_tool("back"), [key("back")]),
    (_tool("home"), [key("home")]),
    (_tool("app-switcher"), [key("recents")]),
    (_tool("keyboard", action="dismiss"), [{"type": "hide_keyboard"}]),
    (_tool("open", app="com.a.b"), [{"type": "start_app", "package": "com.a.b"}]),
    (_tool("open", app="Contacts"), [{"type": "start_app", "name": "Contacts"}]),
    (_tool("open", url="https://example.org"), [{"type": "open_url", "url": "https://example.org"}]),
    (_tool("close", app="com.a.b"), [{"type": "stop_app", "package": "com.a.b"}]),
    (_tool("apps"), [{"type": "list_apps"}]),
    (_tool("appstate"), [{"type": "get_state"}]),
    ({"command": "snapshot"}, [{"type": "get_ui_tree"}]),
    (_tool("screenshot"), [{"type": "screenshot"}]),
    (_tool("diff", kind="snapshot"), [{"type": "what_changed"}]),
    (_tool("wait", ms=300), [{"type": "wait", "duration_ms": 300}]),
    (_tool("rotate", orientation="landscape"), [{"type": "set_orientation", "orientation": "landscape"}]),
    (_tool("clipboard", text="Ada"), [{"type": "set_clipboard", "text": "Ada"}]),
    (_tool("logs", app="com.a.b"), [{"type": "get_logs", "package": "com.a.b"}]),
    (_tool("install", path="a.apk"), [{"type": "install_app", "path": "a.apk"}]),
]
AGENT_DEVICE_REFUSED = [
    *(
        _tool(name)
        for name in (
            "alert",
            "record",
            "perf",
            "push",
            "network",
            "replay",
            "batch",
            "settings",
        )
    ),
    _tool("click", target=POINT, holdMs=500),
    _tool("click", target=POINT, count=7),
    _tool("swipe", **{"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}}, pattern="ping-pong"),
    _tool("gesture", kind="transform"),
]

ROWS: Words = {
    "w3c_actions": (W3C, W3C_REFUSED),
    "mobile_mcp": (MOBILE_MCP, MOBILE_MCP_REFUSED),
    "agent_device": (AGENT_DEVICE, AGENT_DEVICE_REFUSED),
}
