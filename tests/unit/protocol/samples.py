"""Good input of every kind that Handrail reads: what the fuzzer damages."""

from __future__ import annotations

import json
from typing import Any

from handrail.protocol.actions import ACTIONS

NATIVE: list[dict[str, Any]] = [cls.example for cls in ACTIONS.values()]

RICH: list[dict[str, Any]] = [
    {
        "type": "tap", "target": {"role": "switch", "right_of": "Wi-Fi", "within": {"id": "l"}, "index": 1},
        "reason": "I turn Wi-Fi on.", "device": "emulator-5554",
        "expect": {"all": [{"visible": "@b1"}, {"any": [{"absent": "B"}, {"app": "x.y"}]}]},
    },
    {"type": "swipe", "from": {"x": 1, "y": 2}, "to": "3,4", "durationMs": 30},
    {"type": "drag", "from": "@i1", "to": {"x": 1, "y": 2}},
    {
        "type": "wait_for",
        "condition": {"state": {"target": "A", "property": "checked", "value": True}},
        "timeoutMs": 5,
    },
    {
        "type": "window.create", "windowId": "w", "title": "T",
        "bounds": {"x": 0, "y": 0, "w": 300, "h": 200},
        "content": {
            "renderer": "component",
            "data": {
                "components": [
                    {"type": "button", "label": "Go", "action": "go", "variant": "ghost", "submitForm": "f"},
                    {"type": "input", "name": "n", "formId": "f", "rows": 3},
                    {"type": "select", "name": "s", "options": [{"value": "1", "label": "One"}]},
                    {"type": "progress", "value": 12.5},
                    {"type": "image", "src": "a.png", "width": "50%", "height": 20},
                ],
                "cols": [8, 2], "gap": "sm",
            },
        },
    },
    {
        "type": "window.updateContent", "windowId": "w",
        "operation": {"op": "insertAt", "data": "a", "position": 0},
    },
]  # fmt: skip

OPENPOCKET: list[Any] = [
    {"type": "tap", "x": 540, "y": 750, "reason": "I open it."},
    {"type": "swipe", "x1": "5", "y1": 1.5, "x2": 3, "y2": 4, "durationMs": 300},
    {"type": "type", "text": "héllo 😀"},
    {"type": "keyevent", "keycode": "KEYCODE_BACK"},
    {"type": "launch_app", "packageName": "com.google.android.contacts"},
    {"type": "shell", "command": "pm list packages"},
    {"type": "run_script", "script": "ls", "timeoutSec": 60},
    {"type": "request_human_auth", "capability": "2fa", "instruction": "Enter the code.", "timeoutSec": 300},
    {"thought": "I look.", "action": {"type": "wait", "durationMs": 1000}},
    {"tool_calls": [{"function": {"name": "finish", "arguments": '{"message": "Done."}'}}]},
    {"type": "tool_use", "id": "t1", "name": "tap", "input": {"x": 1, "y": 2}},
]

AGENTEST: list[dict[str, Any]] = [
    {"action": "tap", "target": {"ref": "@b1"}},
    {"action": "type", "target": {"id": "email", "index": 0}, "value": "a@b.c"},
    {"action": "swipe_coordinates", "x1": 1, "y1": 2, "x2": 3, "y2": 4, "durationMs": 200},
    {
        "action": "scroll_to",
        "target": {"textContains": "About"},
        "scrollTarget": {"id": "l"},
        "maxScrolls": 5,
    },
    {"action": "assert_text_equals", "target": {"className": "TextView"}, "value": "12"},
    {"name": "agentest_run_flow", "arguments": {"steps": [{"action": "wait", "timeoutMs": 5}]}},
    {"name": "agentest_query_db", "arguments": {"packageName": "a.b", "database": "d", "query": "select 1"}},
    {"steps": [{"action": "wait_for_stable"}, {"action": "press_key", "keycode": "KEYCODE_BACK"}]},
]

TOOLS: list[dict[str, Any]] = [
    {"name": "tap", "arguments": {"x": 540, "y": 750, "reason": "I open it."}},
    {"name": "swipe", "arguments": {"startX": 1, "startY": 2, "endX": 3, "endY": 4, "reason": "I scroll."}},
    {"name": "press_key", "arguments": {"key": "back", "reason": "I go back."}},
    {"name": "get_textual_state", "arguments": {}},
    {"name": "tap_element", "arguments": {"elementId": "el_123"}},
    {"name": "start_app", "arguments": {"platform": "android", "appId": "com.example.app"}},
    {"name": "scroll_to_element", "arguments": {"selector": {"resourceId": "a:id/b"}, "direction": "down"}},
    {"name": "adjust_control", "arguments": {"selector": {"text": "V"}, "targetValue": 40, "tolerance": 1.5}},
    {
        "name": "wait_for_ui",
        "arguments": {
            "selector": {"text": "A", "contains": True},
            "condition": "not_exists",
            "match": {"index": 1},
        },
    },
]

FRAMES: list[dict[str, Any]] = [
    {"type": "HELLO", "clientId": "c", "since": 4},
    {"type": "USER_MESSAGE", "messageId": "m", "content": "hi"},
    {"type": "COMPONENT_ACTION", "windowId": "w", "action": "go", "formData": {"n": "1"}},
    {"type": "USER_INTERACTION", "interactions": [{"type": "window.move", "windowId": "w", "x": 1, "y": 2}]},
    {"type": "DIALOG_FEEDBACK", "dialogId": "d", "confirmed": True},
    {
        "type": "RENDERING_FEEDBACK", "requestId": "r", "windowId": "w", "kind": "capture", "success": True,
        "imageData": "aGk=",
    },
    {"type": "SUBSCRIBE_MONITOR", "monitorId": "m", "viewport": {"w": 800, "h": 600}},
    {"type": "PHONE_INPUT", "device": "d", "action": {"type": "tap", "target": {"x": 1, "y": 2}}},
    {"type": "ACTIONS", "seq": 1, "ts": "t", "actions": [{"type": "toast.dismiss", "id": "t"}]},
    {"type": "ERROR", "seq": 1, "ts": "t", "code": "INVALID_ACTION", "path": "a", "message": "b"},
]  # fmt: skip

PROSE: list[str] = [
    'Sure! ```json\n{"type": "tap", "x": 1, "y": 2,}\n``` That is all.',
    "Thought: I tap it. tap(x=540, y=750)",
    "{'type': 'type', 'text': \"it's\"} {type: wait}",
    'I scroll /* down */ swipe(1, 2, 3, 4) // now\n{"type":"finish", "message": "ok',
    "“type”: ‘tap’ {“type”: “wait”, durationMs: 1e3}",
]

DATA: list[Any] = [*NATIVE, *RICH, *OPENPOCKET, *AGENTEST, *TOOLS, *FRAMES]
TEXTS: list[bytes] = [json.dumps(one, ensure_ascii=False).encode() for one in DATA] + [
    one.encode() for one in PROSE
]
