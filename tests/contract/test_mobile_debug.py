"""Seed 002: mobile-debug's tools in, its action envelope out."""

from typing import Any

import pytest

from handrail.dialects.mobile_debug import (
    FAILURE_CODES,
    TOOLS,
    failure_code,
    read_tool,
    selector_for_answer,
    wait_tries,
    write_envelope,
    write_tool,
)
from handrail.errors import ERRORS, InvalidAction, Unsupported
from handrail.protocol.envelope import Envelope
from handrail.protocol.read import action_from
from tests.cases import each

SWIPE = {"x1": 1, "y1": 2, "x2": 3, "y2": 4, "duration": 300}
FROM_TO = {"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}, "duration_ms": 300}
APP = {"appId": "com.example.app"}
PACKAGE = {"package": "com.example.app"}

CALLS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("tap", {"x": 100, "y": 200}, {"type": "tap", "target": {"x": 100, "y": 200}}),
    ("tap_element", {"elementId": "el_123"}, {"type": "tap", "target": {"element_id": "el_123"}}),
    ("swipe", SWIPE, {"type": "swipe", **FROM_TO}),
    (
        "scroll_to_element",
        {
            "selector": {"text": "About", "resourceId": "a:id/b"},
            "direction": "up",
            "maxScrolls": 4,
            "scrollAmount": 0.7,
        },
        {
            "type": "scroll_to",
            "target": {"text": "About", "id": "a:id/b"},
            "direction": "up",
            "max_scrolls": 4,
            "amount": 0.7,
        },
    ),
    ("type_text", {"text": "Ada"}, {"type": "type_text", "text": "Ada"}),
    ("press_back", {}, {"type": "press_key", "key": "back"}),
    ("start_app", APP, {"type": "start_app", **PACKAGE}),
    ("restart_app", APP, {"type": "restart_app", **PACKAGE}),
    ("terminate_app", APP, {"type": "stop_app", **PACKAGE}),
    ("reset_app_data", APP, {"type": "reset_app", **PACKAGE}),
    ("install_app", {"appPath": "app.apk"}, {"type": "install_app", "path": "app.apk"}),
    (
        "adjust_control",
        {
            "selector": {"contentDesc": "Volume"},
            "targetValue": 40,
            "property": "value",
            "tolerance": 1.5,
            "maxAttempts": 3,
        },
        {
            "type": "set_value",
            "target": {"description": "Volume"},
            "value": 40,
            "tolerance": 1.5,
            "max_moves": 3,
        },
    ),
    ("get_ui_tree", {}, {"type": "get_ui_tree"}),
    (
        "get_logs",
        {**APP, "level": "warn", "limit": 50},
        {"type": "get_logs", **PACKAGE, "level": "warn", "max_lines": 50},
    ),
    ("capture_screenshot", {}, {"type": "screenshot", "scale": 1.0}),
    (
        "wait_for_screen_change",
        {"timeoutMs": 900},
        {"type": "wait_for", "condition": {"screen_changed": True}, "timeout_ms": 900},
    ),
    ("expect_screen", {"fingerprint": "k3x9qa"}, {"type": "expect_screen", "fingerprint": "k3x9qa"}),
    (
        "expect_element_visible",
        {"selector": {"className": "Button"}, "timeout_ms": 700},
        {"type": "expect_visible", "target": {"class_name": "Button"}, "timeout_ms": 700},
    ),
    (
        "expect_state",
        {"selector": {"text": "Wi-Fi"}, "property": "checked", "expected": True},
        {"type": "expect_state", "target": {"text": "Wi-Fi"}, "property": "checked", "value": True},
    ),
]
NAMES = [name for name, *_ in CALLS]


def native_envelope(kind: str = "tap", *, code: str | None = None, **more: Any) -> Envelope:
    outcome = {
        "lifecycle_state": "failed",
        "success": False,
        "failure_code": code,
        "delivery": "not_delivered",
    }
    good = {"lifecycle_state": "verified", "success": True, "delivery": "delivered"}
    known = {
        "action_id": f"{kind}_1710000000000_1", "timestamp": "2026-04-23T08:00:00.000Z", "action_type": kind,
        "semantic": "selection", "source_module": "server", "ui_fingerprint_before": "fp_before",
        "ui_fingerprint_after": "fp_after",
    }  # fmt: skip
    return Envelope.model_validate({**known, **(outcome if code else good), **more})


def test_the_tools_are_those_of_the_table() -> None:
    assert list(TOOLS) == NAMES


@each(("name", "arguments", "native"), CALLS, ids=NAMES)
def test_a_tool_has_its_native_action_and_back(name: str, arguments: Any, native: Any) -> None:
    assert read_tool(name, arguments) == action_from(native)
    again, written = write_tool(read_tool(name, arguments))
    assert read_tool(again, written) == action_from(native)
    assert again == name


@each(("name", "arguments", "native"), CALLS, ids=NAMES)
def test_every_tool_takes_a_platform_and_a_device(name: str, arguments: Any, native: Any) -> None:
    action = read_tool(name, {**arguments, "platform": "android", "deviceId": "emulator-5554"})
    assert action == action_from({**native, "device": "emulator-5554"})


@each("name", [*NAMES, "wait_for_ui"])
@each("platform", ["tvos", "", None, 5, []])
def test_another_platform_is_refused(name: str, platform: Any) -> None:
    with pytest.raises(Unsupported) as caught:
        read_tool(name, {"platform": platform})
    assert caught.value.details["path"] == "platform"


@each(("name", "field"), [(name, field) for name in NAMES for field in TOOLS[name].required])
def test_a_missing_field_is_named(name: str, field: str) -> None:
    arguments = dict(CALLS[NAMES.index(name)][1])
    del arguments[field]
    with pytest.raises(InvalidAction) as caught:
        read_tool(name, arguments)
    assert caught.value.details["path"] == field


@each(
    ("name", "arguments", "path"),
    [
        ("tap", {"x": 1, "y": 99_999}, "y"),
        ("tap_element", {"elementId": "123"}, "elementId"),
        ("swipe", {**SWIPE, "duration": -1}, "duration"),
        ("start_app", {"appId": "a; reboot"}, "appId"),
        ("start_app", {**APP, "activty": ".Main"}, "activty"),
        ("scroll_to_element", {"selector": {"txt": "a"}}, "selector.txt"),
        ("scroll_to_element", {"selector": {"text": "a"}, "direction": "in"}, "direction"),
        ("wait_for_ui", {"selector": {"text": "a"}, "condition": "gone"}, "condition"),
        ("wait_for_ui", {"selector": {"text": "a"}, "condition": ["exists"]}, "condition"),
        ("wait_for_ui", {"selector": {"text": "a"}, "match": {"index": -1}}, "selector.index"),
        ("wait_for_ui", {}, "selector"),
        ("wait_for_ui", {"selector": {"text": "a"}, "match": 2}, "match"),
        ("wait_for_ui", {"selector": {"text": "a"}, "match": {"nth": 2}}, "match.nth"),
        ("wait_for_ui", {"selector": {"text": "a"}, "retry": 3}, "retry"),
        ("wait_for_ui", {"selector": {"text": "a"}, "retry": {"attempts": 3}}, "retry.attempts"),
        ("wait_for_ui", {"selector": {"text": "a"}, "retry": {"max_attempts": 0}}, "retry.max_attempts"),
        ("wait_for_ui", {"selector": {"text": "a"}, "poll_interval_ms": 5}, "poll_interval_ms"),
        ("wait_for_ui", {"selector": {"text": "a", "contains": "yes"}}, "selector.contains"),
        ("wait_for_ui", {"selector": {"resource_id": "a", "contains": True}}, "selector.contains"),
        ("scroll_to_element", {"selector": {"text": "a"}, "scrollAmount": 3}, "scrollAmount"),
        ("adjust_control", {"selector": {"text": "a"}, "targetValue": 1, "property": "text"}, "property"),
        ("adjust_control", {"selector": {"text": "a"}, "targetValue": 1, "maxAttempts": 0}, "maxAttempts"),
        ("tap", {"x": 1, "y": 2, "element_id": "el_1"}, "element_id"),
        ("tap_elment", {}, "type"),
    ],
)
def test_a_wrong_field_is_named_in_the_words_of_the_tool(name: str, arguments: Any, path: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        read_tool(name, arguments)
    assert caught.value.details["path"] == path


TARGET = {"id": "a:id/b", "description": "c", "text_contains": "d", "index": 2}


@each(
    ("condition", "native"),
    [
        ("exists", {"state": {"target": TARGET, "property": "exists", "value": True}}),
        ("not_exists", {"state": {"target": TARGET, "property": "exists", "value": False}}),
        ("visible", {"visible": TARGET}),
        ("clickable", {"state": {"target": TARGET, "property": "interactable", "value": True}}),
    ],
)
def test_a_wait_for_an_element_becomes_one_condition(condition: str, native: dict[str, Any]) -> None:
    arguments = {
        "selector": {"resource_id": "a:id/b", "accessibility_id": "c", "text": "d", "contains": True},
        "condition": condition, "match": {"index": 2}, "poll_interval_ms": 300, "timeout_ms": 900,
        "retry": {"max_attempts": 2, "backoff_ms": 5},
    }  # fmt: skip
    expected = {"type": "wait_for", "condition": native, "timeout_ms": 900, "every_ms": 300}
    assert read_tool("wait_for_ui", arguments) == action_from(expected)
    assert wait_tries(arguments["retry"]) == (2, 5)


@each("name", ["adjust_control", "expect_state", "expect_element_visible"])
def test_an_element_id_beside_a_selector_decides_alone(name: str) -> None:
    arguments = CALLS[NAMES.index(name)][1]
    assert read_tool(name, {**arguments, "element_id": "el_9"}).to_dict()["target"] == {"element_id": "el_9"}


def test_the_envelope_of_a_tap_is_the_seeds_json() -> None:
    assert write_envelope(native_envelope(), "tap", {"x": 100, "y": 200}) == {
        "action_id": "tap_1710000000000_1", "timestamp": "2026-04-23T08:00:00.000Z", "action_type": "tap",
        "lifecycle_state": "pending_verification", "source_module": "server",
        "target": {"selector": {"x": 100, "y": 200}, "resolved": None}, "success": True,
        "ui_fingerprint_before": "fp_before", "ui_fingerprint_after": "fp_after",
    }  # fmt: skip


READY = {
    "elementId": "el_ready", "text": "Ready", "resource_id": None, "accessibility_id": None,
    "class": "Button", "bounds": [0, 0, 10, 10], "index": 0,
}  # fmt: skip
NATIVE_READY = {
    "element_id": "el_ready", "ref": "@b1", "text": "Ready", "class": "Button", "bounds": [0, 0, 10, 10],
    "index": 0,
}  # fmt: skip


def test_the_envelope_of_tap_element_is_the_seeds_json() -> None:
    envelope = native_envelope(target={"selector": {"element_id": "el_ready"}, "resolved": NATIVE_READY})
    assert write_envelope(envelope, "tap_element", {"elementId": "el_ready"}) == {
        "action_id": "tap_element_1710000000000_1", "timestamp": "2026-04-23T08:00:00.000Z",
        "action_type": "tap_element", "lifecycle_state": "pending_verification",
        "source_module": "interact", "target": {"selector": {"elementId": "el_ready"}, "resolved": READY},
        "success": True, "ui_fingerprint_before": "fp_before", "ui_fingerprint_after": "fp_after",
    }  # fmt: skip


def test_the_envelope_of_start_app_has_device_and_details() -> None:
    envelope = native_envelope("start_app", device={"id": "emulator-5554"}, details={"launchTimeMs": 40})
    written = write_envelope(envelope, "start_app", APP)
    assert written["action_type"] == "start_app"
    assert written["action_id"] == "start_app_1710000000000_1"
    assert written["device"] == {"id": "emulator-5554"}
    assert written["target"] == {"selector": {"appId": "com.example.app"}, "resolved": None}
    assert written["details"] == {"launchTimeMs": 40}


@each(
    ("code", "retryable", "resolved", "after"),
    [
        ("STALE_REFERENCE", True, None, None),
        ("ELEMENT_NOT_INTERACTABLE", True, NATIVE_READY, None),
        ("UNKNOWN", False, NATIVE_READY, "fp_after"),
    ],
)
def test_a_tap_element_that_failed_says_why(
    code: str, retryable: bool, resolved: Any, after: str | None
) -> None:
    envelope = native_envelope(
        code=code, retryable=retryable, ui_fingerprint_after=after, target={"resolved": resolved}
    )
    written = write_envelope(envelope, "tap_element", {"elementId": "el_ready"})
    assert written["lifecycle_state"] == "failed"
    assert written["success"] is False
    assert (written["failure_code"], written["retryable"]) == (code, retryable)
    assert written["target"] == {"selector": {"elementId": "el_ready"}, "resolved": resolved and READY}
    assert written["ui_fingerprint_before"] == "fp_before"
    assert written["ui_fingerprint_after"] == after


@each("tool", [name for name in NAMES if name != "scroll_to_element"])
def test_success_means_delivered_even_where_the_outcome_is_not_the_expected_one(tool: str) -> None:
    envelope = native_envelope(code="VERIFICATION_FAILED", delivery="delivered")
    written = write_envelope(envelope, tool, {})
    assert (written["success"], written["lifecycle_state"]) == (True, "pending_verification")
    assert "failure_code" not in written


def test_scrolling_succeeds_only_when_the_target_became_visible() -> None:
    envelope = native_envelope("scroll_to", code="ELEMENT_NOT_FOUND", delivery="delivered")
    written = write_envelope(envelope, "scroll_to_element", {"selector": {"text": "a"}})
    assert (written["success"], written["failure_code"]) == (False, "ELEMENT_NOT_FOUND")


@each("tool", NAMES)
@each("code", [None, "TIMEOUT"])
def test_only_two_lifecycle_states_leave_this_dialect(tool: str, code: str | None) -> None:
    written = write_envelope(native_envelope(code=code), tool, {})
    assert written["lifecycle_state"] == ("failed" if code else "pending_verification")
    assert written["success"] is (code is None)
    assert written["action_type"] == tool
    assert written["source_module"] == ("interact" if tool == "tap_element" else "server")


@each(
    ("tool", "arguments", "selector"),
    [
        ("tap", {"x": 1, "y": 2}, {"x": 1, "y": 2}),
        ("tap_element", {"elementId": "el_1"}, {"elementId": "el_1"}),
        ("swipe", {**SWIPE, "deviceId": "d"}, SWIPE),
        ("scroll_to_element", {"selector": {"resourceId": "a"}}, {"resourceId": "a"}),
        ("scroll_to_element", {}, None),
        ("type_text", {"text": "Ada"}, {"text": "Ada"}),
        ("press_back", {}, {"key": "back"}),
        ("start_app", {**APP, "platform": "android"}, APP),
        ("restart_app", APP, APP),
        ("get_ui_tree", {}, None),
    ],
)
def test_the_selector_is_what_the_caller_gave(tool: str, arguments: Any, selector: Any) -> None:
    assert selector_for_answer(tool, arguments) == selector


def test_a_secret_is_never_in_the_envelope() -> None:
    written = write_envelope(native_envelope("type_text"), "type_text", {"text": "hunter2"}, secret=True)
    assert written["target"]["selector"] == {"text": "[secret]"}
    assert "hunter2" not in str(written)


@each(
    ("code", "known"),
    [
        ("ASSERTION_FAILED", "VERIFICATION_FAILED"),
        ("IDLE_TIMEOUT", "TIMEOUT"),
        ("DEVICE_BUSY", "ACTION_REJECTED"),
        ("ADB_COMMAND_ERROR", "UNKNOWN"),
        (None, "UNKNOWN"),
        *((code, code) for code in sorted(FAILURE_CODES)),
    ],
)
def test_a_code_becomes_the_nearest_one_that_is_known(code: str | None, known: str) -> None:
    assert failure_code(code) == known


def test_every_code_of_ours_has_one_that_is_known() -> None:
    assert {failure_code(code) for code in ERRORS} <= FAILURE_CODES <= ERRORS.keys()


@each(
    "native",
    [
        {"type": "double_tap", "target": "1,2"},
        {"type": "tap", "target": "Save"},
        {"type": "scroll_to", "target": {"role": "button"}},
        {"type": "press_key", "key": "home"},
    ],
)
def test_what_mobile_debug_has_no_tool_for_is_not_written(native: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        write_tool(action_from(native))
