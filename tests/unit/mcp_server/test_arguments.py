"""Arguments as models send them, in every spelling that a seed has."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.dialects.arguments import action_of_tool, expectation_of
from handrail.errors import InvalidAction
from tests.cases import each

WHY = {"reason": "I try it"}
POINT = {"x": 540, "y": 750}


@each(
    ("tool", "arguments", "expected"),
    [
        ("tap", {"target": "@b1"}, {"target": {"ref": "@b1"}}),
        ("tap", {"target": "540,750"}, {"target": POINT}),
        ("tap", {"target": "Save"}, {"target": {"text": "Save"}}),
        ("tap", {"target": {"id": "save", "index": 1}}, {"target": {"id": "save", "index": 1}}),
        ("tap", {"x": 540, "y": 750}, {"target": POINT}),
        ("tap", {"x": 540.0, "y": 750.0}, {"target": POINT}),
        ("tap", {"elementId": "el_1"}, {"target": {"element_id": "el_1"}}),
        ("tap", {"target": "Save", "index": 1}, {"target": {"text": "Save", "index": 1}}),
        ("tap", {"target": "Save", "expect": "Saved"}, {"expect": {"visible": {"text": "Saved"}}}),
        ("tap", {"target": "Save", "expect": None, "platform": "android"}, {"target": {"text": "Save"}}),
        ("long_press", {"x": 540, "y": 750, "duration": 900}, {"target": POINT, "duration_ms": 900}),
        ("long_press", {"target": "@b1", "durationMs": 900.0}, {"duration_ms": 900}),
        (
            "swipe",
            {"startX": 1, "startY": 2, "endX": 3, "endY": 4, "duration": 50},
            {"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}, "duration_ms": 50},
        ),
        ("swipe", {"x1": 1, "y1": 2, "x2": 3, "y2": 4}, {"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}}),
        ("swipe", {"from": "1,2", "to": "3,4"}, {"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}}),
        ("start_app", {"appId": "com.a.b"}, {"package": "com.a.b"}),
        ("start_app", {"packageName": "com.a.b", "deviceId": "S"}, {"package": "com.a.b", "device": "S"}),
        ("press_key", {"keycode": "KEYCODE_BACK"}, {"key": "KEYCODE_BACK"}),
        ("scroll_to", {"selector": {"text": "Z"}, "maxScrolls": 3}, {"max_scrolls": 3}),
        ("scroll_to", {"target": "Z", "scrollTarget": "@s1"}, {"within": {"ref": "@s1"}}),
        ("type_text", {"text": "Ada", "target": "Name"}, {"text": "Ada", "target": {"text": "Name"}}),
        ("wait_for", {"visible": "Save"}, {"condition": {"visible": {"text": "Save"}}}),
        ("wait_for", {"condition": "Save", "timeoutMs": 5}, {"timeout_ms": 5}),
        (
            "wait_for",
            {"visible": "A", "absent": "B"},
            {"condition": {"all": [{"visible": {"text": "A"}}, {"absent": {"text": "B"}}]}},
        ),
        ("get_ui_tree", {"onlyInteractive": True}, {"only_interactive": True}),
    ],
)
def test_every_spelling_is_the_same_action(
    tool: str, arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    action = action_of_tool(tool, arguments | WHY).to_dict()
    assert {key: action.get(key) for key in expected} == expected


@each(
    ("arguments", "kind", "fields"),
    [
        ({"visible": "Save"}, "expect_visible", {"target": {"text": "Save"}}),
        ({"target": "Save"}, "expect_visible", {"target": {"text": "Save"}}),
        ({"absent": "Save", "timeout_ms": 0}, "expect_absent", {"timeout_ms": 0}),
        ({"app": "com.a.b"}, "expect_app", {"package": "com.a.b"}),
        ({"target": "@f1", "equals": "Ada"}, "expect_text", {"equals": "Ada"}),
        ({"target": "@f1", "contains": "A", "timeoutMs": 9}, "expect_text", {"timeout_ms": 9}),
        ({"target": "Wi-Fi", "property": "checked", "value": "true"}, "expect_state", {"value": True}),
        ({"target": "Volume", "property": "value", "value": "40"}, "expect_state", {"value": "40"}),
        ({"activity": ".Main"}, "expect_screen", {"activity": ".Main"}),
    ],
)
def test_expect_is_one_of_six_checks(arguments: dict[str, Any], kind: str, fields: dict[str, Any]) -> None:
    action = expectation_of(arguments).to_dict()
    assert action["type"] == kind
    assert {key: action.get(key) for key in fields} == fields


@each(
    ("tool", "arguments", "path"),
    [
        ("tap", {"target": "Save"}, "reason"),
        ("tap", {"target": "Save", "reason": "  "}, "reason"),
        ("tap", {"target": "Save", "reason": 7}, "reason"),
        ("tap", WHY, "target"),
        ("tap", {"target": "Save", "times": 2} | WHY, "times"),
        ("swipe", {"direction": "sideways"} | WHY, "direction"),
        ("long_press", {"target": "@b1", "duration_ms": 99_999} | WHY, "duration_ms"),
        ("query_db", {"package": "a.b", "database": "d", "query": "delete from t", "write": True}, "reason"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(tool: str, arguments: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        action_of_tool(tool, arguments)
    assert caught.value.details["path"] == path


def test_a_look_needs_no_reason() -> None:
    assert action_of_tool("get_ui_tree", {}).reason is None


def test_expect_without_anything_to_check_says_what_there_is() -> None:
    with pytest.raises(InvalidAction, match="nothing to check") as caught:
        expectation_of({})
    assert "absent" in caught.value.hint
