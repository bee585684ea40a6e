"""Seed 003: AgenTest's twenty steps, ten tools, traces and error codes."""

from typing import Any

import pytest

from handrail.dialects.agentest import STEPS, TOOLS, error_answer, read_step, read_tool, write_step
from handrail.errors import (
    AdbCommandError,
    AssertionFailed,
    ElementNotFound,
    ExpectStateMismatch,
    GrpcRpcError,
    IdleTimeout,
    InvalidAction,
    StaleReference,
    Unsupported,
)
from handrail.protocol.flow import FlowTrace, Step, StepResult
from handrail.protocol.read import action_from
from tests.cases import each

SELECTOR = {"id": "com.example:id/email"}
POINT = {"x": 10, "y": 20}
ENDS = {"x1": 1, "y1": 2, "x2": 3, "y2": 4}
PINCH = {"cx": 5, "cy": 6, "startRadius": 10, "endRadius": 40}
ROTATE = {"cx": 5, "cy": 6, "radius": 10, "startAngleDeg": 0.0, "endAngleDeg": 90.5}

# One row of the seed's table each: required fields, optional fields, the Idle column, and the native action.
Row = tuple[str, dict[str, Any], dict[str, Any], str, dict[str, Any]]
TABLE: list[Row] = [
    ("tap", {"target": SELECTOR}, {}, "full", {"type": "tap", "target": SELECTOR}),
    ("tap_coordinates", POINT, {}, "light", {"type": "tap", "target": POINT}),
    ("type", {"target": SELECTOR, "value": "Ada"}, {}, "light",
     {"type": "type_text", "target": SELECTOR, "text": "Ada"}),
    ("clear_text", {"target": SELECTOR}, {}, "light", {"type": "clear_text", "target": SELECTOR}),
    ("swipe", {"direction": "up"}, {"target": SELECTOR, "durationMs": 250}, "full",
     {"type": "swipe", "direction": "up", "target": SELECTOR, "duration_ms": 250}),
    ("swipe_coordinates", ENDS, {"durationMs": 250}, "light",
     {"type": "swipe", "from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}, "duration_ms": 250}),
    ("long_press", {"target": SELECTOR}, {"durationMs": 900}, "full",
     {"type": "long_press", "target": SELECTOR, "duration_ms": 900}),
    ("long_press_coordinates", POINT, {"durationMs": 900}, "light",
     {"type": "long_press", "target": POINT, "duration_ms": 900}),
    ("double_tap", {"target": SELECTOR}, {}, "full", {"type": "double_tap", "target": SELECTOR}),
    ("double_tap_coordinates", POINT, {}, "light", {"type": "double_tap", "target": POINT}),
    ("press_key", {"keycode": "KEYCODE_BACK"}, {}, "light", {"type": "press_key", "key": "KEYCODE_BACK"}),
    ("pinch", PINCH, {"durationMs": 250}, "full",
     {"type": "pinch", "cx": 5, "cy": 6, "start_radius": 10, "end_radius": 40, "duration_ms": 250}),
    ("rotate", ROTATE, {"durationMs": 250}, "full",
     {"type": "rotate", "cx": 5, "cy": 6, "radius": 10, "start_angle_deg": 0.0, "end_angle_deg": 90.5,
      "duration_ms": 250}),
    ("scroll_to", {"target": SELECTOR},
     {"scrollTarget": {"ref": "@s1"}, "direction": "up", "maxScrolls": 3}, "none",
     {"type": "scroll_to", "target": SELECTOR, "within": {"ref": "@s1"}, "direction": "up",
      "max_scrolls": 3}),
    ("wait", {"timeoutMs": 700}, {}, "light", {"type": "wait", "duration_ms": 700}),
    ("wait_for_stable", {}, {"timeoutMs": 900}, "full", {"type": "wait_for_stable", "timeout_ms": 900}),
    ("assert_visible", {"target": SELECTOR}, {}, "light",
     {"type": "expect_visible", "target": SELECTOR, "timeout_ms": 0}),
    ("assert_not_visible", {"target": SELECTOR}, {}, "light",
     {"type": "expect_absent", "target": SELECTOR, "timeout_ms": 0}),
    ("assert_text_equals", {"target": SELECTOR, "value": "12"}, {}, "light",
     {"type": "expect_text", "target": SELECTOR, "equals": "12", "timeout_ms": 0}),
    ("assert_text_contains", {"target": SELECTOR, "value": "12"}, {}, "light",
     {"type": "expect_text", "target": SELECTOR, "contains": "12", "timeout_ms": 0}),
]  # fmt: skip
NAMES = [row[0] for row in TABLE]
REQUIRED = [(name, required, field) for name, required, *_ in TABLE for field in required]


def refused_at(path: str, step: dict[str, Any]) -> InvalidAction:
    with pytest.raises(InvalidAction) as caught:
        read_step(step)
    assert caught.value.details["path"] == path
    assert caught.value.message.startswith(f"{path}: ")
    return caught.value


def test_the_steps_are_the_twenty_of_the_seed() -> None:
    assert list(STEPS) == NAMES
    assert len(STEPS) == 20


@each(("name", "required", "optional", "settle", "native"), TABLE, ids=NAMES)
def test_a_step_has_its_native_form_and_the_idle_of_its_row(
    name: str, required: Any, optional: Any, settle: str, native: Any
) -> None:
    step = read_step({"action": name, **required, **optional})
    assert step.action == action_from(native)
    assert step.settle == settle


@each(("name", "required", "optional", "settle", "native"), TABLE, ids=NAMES)
def test_a_step_survives_the_way_there_and_back(
    name: str, required: Any, optional: Any, settle: str, native: Any
) -> None:
    given = {"action": name, **required, **optional}
    assert write_step(read_step(given)) == given


@each(("name", "required", "optional", "settle", "native"), TABLE, ids=NAMES)
def test_a_step_needs_only_its_required_fields(
    name: str, required: Any, optional: Any, settle: str, native: Any
) -> None:
    step = read_step({"action": name, **required})
    assert read_step(write_step(step)) == step


@each(("name", "required", "field"), REQUIRED)
def test_a_missing_required_field_is_named(name: str, required: dict[str, Any], field: str) -> None:
    rest = {key: value for key, value in required.items() if key != field}
    refused_at(field, {"action": name, **rest})
    refused_at(field, {"action": name, **rest, field: []})


@each(("name", "required", "optional", "settle", "native"), TABLE, ids=NAMES)
def test_a_field_of_another_step_is_refused(
    name: str, required: Any, optional: Any, settle: str, native: Any
) -> None:
    refused_at("scrollAmount", {"action": name, **required, "scrollAmount": 1})


@each(
    ("step", "path", "hint"),
    [
        ({"action": "swipe", "direction": "dwon"}, "direction", "down"),
        ({"action": "tap", "target": {"txt": "Save"}}, "target.txt", "text"),
        ({"action": "tap", "target": {"near": "Save"}}, "target.near", ""),
        ({"action": "scroll_to", "target": SELECTOR, "scrollTarget": {"idd": "a"}}, "scrollTarget.idd", "id"),
        ({"action": "scroll_to", "target": SELECTOR, "maxScrolls": 0}, "maxScrolls", ""),
        ({"action": "tap", "target": {"text": "a", "index": -1}}, "target.index", ""),
        ({"action": "tap", "taget": SELECTOR}, "taget", "target"),
        ({"action": "tap_coordinates", "x": "left", "y": 1}, "x", ""),
        ({"action": "tap_coordinates", "x": 1, "y": 40_000}, "y", ""),
        ({"action": "swipe_coordinates", **ENDS, "durationMs": 60_001}, "durationMs", ""),
        ({"action": "pinch", **PINCH, "startRadius": 0}, "startRadius", ""),
        ({"action": "press_key", "keycode": "BAK"}, "keycode", ""),
        ({"action": "wait", "timeoutMs": 600_001}, "timeoutMs", ""),
        ({"action": "tapp", "target": SELECTOR}, "action", "tap"),
        ({"action": None}, "action", "tap"),
        ({"action": ["tap"]}, "action", ""),
        ({}, "action", "tap"),
    ],
)
def test_a_wrong_field_is_named_in_the_words_of_the_dialect(step: Any, path: str, hint: str) -> None:
    assert hint in refused_at(path, step).hint


def test_numbers_of_the_seed_may_be_fractions_of_a_pixel() -> None:
    step = read_step({"action": "tap_coordinates", "x": 10.5, "y": 20.4})
    assert step.action.to_dict()["target"] == {"x": 11, "y": 20}


@each(
    "selector",
    [
        {"ref": "@b1"}, {"id": "com.example:id/email"}, {"text": "Save"}, {"textContains": "Sa"},
        {"className": "android.widget.Button"}, {"description": "Save the note"},
        {"text": "Save", "index": 2}, {"ref": "@b1", "text": "Save", "index": 0},
    ],
)  # fmt: skip
def test_every_field_of_a_selector_survives(selector: dict[str, Any]) -> None:
    given = {"action": "tap", "target": selector}
    assert write_step(read_step(given)) == given


def test_a_ref_takes_priority_over_the_other_fields() -> None:
    action: Any = read_step({"action": "tap", "target": {"text": "Save", "ref": "@b1"}}).action
    assert action.target.handle == "@b1"


@each(
    "native",
    [
        {"type": "tap", "target": {"role": "button"}},
        {"type": "tap", "target": {"text": "a", "within": {"text": "b"}}},
        {"type": "tap", "target": {"text": "a"}, "expect": {"visible": {"text": "b"}}},
        {"type": "type_text", "text": "a"},
        {"type": "type_text", "text": "a", "target": {"text": "b"}, "submit": True},
        {"type": "expect_visible", "target": {"text": "a"}, "timeout_ms": 5000},
        {"type": "expect_text", "target": {"x": 1, "y": 2}, "equals": "a", "timeout_ms": 0},
        {"type": "start_app", "package": "a.b"},
        {"type": "window.close", "windowId": "w"},
    ],
)
def test_what_agentest_has_no_step_for_is_not_written(native: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        write_step(Step(action=action_from(native)))


@each(
    ("tool", "arguments", "native"),
    [
        ("connect", {"packageName": "a.b", "deviceId": "emulator-5554", "backend": "adb", "verbose": True},
         {"type": "start_app", "package": "a.b", "device": "emulator-5554"}),
        ("get_ui_tree", {"format": "full", "depth": 3, "onlyInteractive": True},
         {"type": "get_ui_tree", "format": "full", "depth": 3, "only_interactive": True}),
        ("run_flow", {"steps": [{"action": "wait", "timeoutMs": 5}]}, {"type": "wait", "duration_ms": 5}),
        ("reset_app", {"packageName": "a.b"}, {"type": "restart_app", "package": "a.b"}),
        ("get_logs", {"packageName": "a.b", "maxLines": 50},
         {"type": "get_logs", "package": "a.b", "max_lines": 50}),
        ("screenshot", {}, {"type": "screenshot", "scale": 1.0}),
        ("device_info", {}, {"type": "get_state"}),
        ("get_shared_prefs", {"packageName": "a.b", "file": "settings"},
         {"type": "get_shared_prefs", "package": "a.b", "file": "settings"}),
        ("query_db", {"packageName": "a.b", "database": "n.db", "query": "select 1"},
         {"type": "query_db", "package": "a.b", "database": "n.db", "query": "select 1"}),
        ("set_network",
         {"preset": "lte", "speed": "10:20", "delay": "none", "wifi": True, "airplaneMode": False},
         {"type": "set_network", "preset": "lte", "speed": "10:20", "delay": "none", "wifi": True,
          "airplane_mode": False}),
    ],
)  # fmt: skip
def test_a_tool_has_its_native_action(tool: str, arguments: Any, native: Any) -> None:
    assert [step.action for step in read_tool(tool, arguments)] == [action_from(native)]
    assert read_tool(f"agentest_{tool}", arguments) == read_tool(tool, arguments)


def test_there_are_ten_tools() -> None:
    assert len({*TOOLS, "run_flow"}) == 10


@each("tool", ["reset_app", "get_logs", "get_shared_prefs", "query_db"])
def test_a_tool_without_a_package_means_the_connected_app(tool: str) -> None:
    fields = {"get_shared_prefs": {"file": "a"}, "query_db": {"database": "d", "query": "q"}}.get(tool, {})
    assert read_tool(tool, fields, package="a.b")[0].action.to_dict()["package"] == "a.b"
    other = read_tool(tool, {**fields, "packageName": "c.d"}, package="a.b")
    assert other[0].action.to_dict()["package"] == "c.d"


@each(
    ("query", "writes"),
    [
        ("select * from notes", False), (" SELECT 1", False), ("explain select 1", False),
        ("pragma user_version", False), ("delete from notes", True),
        ("with a as (select 1) select * from a", False), ("with a as (select 1) delete from notes", True),
        ("select 1; drop table notes", True), ("select 1;", False), ("pragma table_info(notes)", False),
        ("pragma user_version(3)", True), ("/* select */ delete from a", True),
        ("pragma user_version = 3", True), ("insert into a values (1)", True), ("drop table a", True),
        ("selection", True),
    ],
)  # fmt: skip
def test_sql_that_changes_data_is_known_as_such(query: str, writes: bool) -> None:
    action: Any = read_tool("query_db", {"packageName": "a.b", "database": "d", "query": query})[0].action
    assert action.write is writes


@each(
    ("tool", "arguments", "path"),
    [
        ("connect", {}, "packageName"),
        ("get_shared_prefs", {"packageName": "a.b"}, "file"),
        ("query_db", {"packageName": "a.b", "database": "d"}, "query"),
        ("query_db", {"packageName": "a.b", "database": "../d", "query": "q"}, "database"),
        ("get_ui_tree", {"format": "xml"}, "format"),
        ("set_network", {"preset": "5g"}, "preset"),
        ("screenshot", {"quality": 5}, "quality"),
        ("run_flow", {}, "steps"),
        ("run_flow", {"steps": []}, "steps"),
        ("run_flow", {"steps": "tap"}, "steps"),
        ("run_flow", {"steps": [{"action": "wait", "timeoutMs": 1}, 5]}, "steps[1]"),
        ("run_flow", {"steps": [{"action": "wait", "timeoutMs": 1}, {"action": "tap"}]}, "steps[1].target"),
        ("run_flow", {"steps": [{"action": "tap", "target": {"idd": "a"}}]}, "steps[0].target.idd"),
        ("run_flo", {}, "type"),
    ],
)
def test_a_bad_tool_call_is_refused_at_its_field(tool: str, arguments: Any, path: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        read_tool(tool, arguments)
    assert caught.value.details["path"] == path


@each(
    ("error", "told"),
    [
        (StaleReference("@b1 is gone", selector={"ref": "@b1"}),
         {"error": "@b1 is gone. Call agentest_get_ui_tree for fresh refs.", "code": "ELEMENT_NOT_FOUND",
          "selector": {"ref": "@b1"}}),
        (ElementNotFound("No 'get_ui_tree'", hint="scroll_to it.", selector={"text": "Save"}),
         {"error": "No 'get_ui_tree'. scroll_to it.", "code": "ELEMENT_NOT_FOUND",
          "selector": {"text": "Save"}}),
        (AdbCommandError("Exit 1", hint="Look.", command=["ls", "-l"]),
         {"error": "Exit 1. Look.", "code": "ADB_COMMAND_ERROR", "command": "ls -l"}),
        (AssertionFailed("Differs", hint="expect_visible it.", expected="a", actual="b"),
         {"error": "Differs. assert_visible it.", "code": "ASSERTION_FAILED", "expected": "a",
          "actual": "b"}),
        (GrpcRpcError("Broke", hint="Raise max_scrolls.", rpc_method="sendTouch"),
         {"error": "Broke. Raise maxScrolls.", "code": "GRPC_RPC_ERROR", "rpcMethod": "sendTouch"}),
        (IdleTimeout("Moving", hint="start_app again."),
         {"error": "Moving. agentest_connect again.", "code": "IDLE_TIMEOUT"}),
    ],
)  # fmt: skip
def test_an_error_is_told_in_the_words_of_the_dialect_with_what_its_class_adds(
    error: Any, told: dict[str, Any]
) -> None:
    assert error_answer(error) == told


def test_what_an_error_class_adds_is_an_attribute() -> None:
    assert AdbCommandError("", command="ls").command == "ls"
    assert ElementNotFound("", selector={"text": "a"}).selector == {"text": "a"}
    assert (AssertionFailed("", expected=1, actual=2).expected, AssertionFailed("").actual) == (1, None)
    assert GrpcRpcError("", rpc_method="sendKey").rpc_method == "sendKey"
    assert ExpectStateMismatch("", expected=1, actual=2).actual == 2


@each("speed", ["gsm", "hscsd", "gprs", "edge", "umts", "hsdpa", "lte", "evdo", "full"])
def test_every_speed_of_an_emulator_is_taken_by_its_name(speed: str) -> None:
    assert read_tool("set_network", {"speed": speed})[0].action.to_dict()["speed"] == speed


@each(("field", "value"), [("speed", "fast"), ("delay", "gsm"), ("delay", "1:2;kill")])
def test_another_word_is_no_speed_and_no_delay(field: str, value: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        read_tool("set_network", {field: value})
    assert caught.value.details["path"] == field


RESULT = {
    "stepIndex": 0,
    "action": {"action": "tap", "target": {"ref": "@b1"}},
    "success": True,
    "durationMs": 12.5,
}
TRACE = {
    "success": True, "stepsCompleted": 1, "totalSteps": 1, "results": [RESULT], "screenFingerprint": "k3x9qa",
    "screenChanged": False,
}  # fmt: skip


@each("more", [{}, {"error": "not found"}, {"loadingDetected": "ProgressBar"}, {"durationMs": 3}])
def test_a_step_result_is_the_seeds_json_and_omits_what_does_not_apply(more: dict[str, Any]) -> None:
    assert StepResult.model_validate({**RESULT, **more}).to_dict() == {**RESULT, **more}


@each(
    "more",
    [
        {},
        {"screenChanged": True, "finalUiTree": "@b1 Save"},
        {"success": False, "error": "step 0 failed", "finalUiTree": "…"},
        {"systemDialogs": [{"packageName": "android", "title": "Allow?", "buttons": ["Yes", "No"]}]},
        {"appCrashDetected": True},
    ],
)
def test_a_flow_trace_is_the_seeds_json_and_omits_what_does_not_apply(more: dict[str, Any]) -> None:
    assert FlowTrace.model_validate({**TRACE, **more}).to_dict() == {**TRACE, **more}


@each("name", TRACE)
def test_what_the_seed_always_has_in_a_trace_is_required(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        FlowTrace.model_validate({key: value for key, value in TRACE.items() if key != name})


@each("name", RESULT)
def test_what_the_seed_always_has_in_a_result_is_required(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        StepResult.model_validate({key: value for key, value in RESULT.items() if key != name})


def test_a_required_field_that_is_null_is_missing() -> None:
    with pytest.raises(InvalidAction, match="target: is required"):
        read_step({"action": "type", "target": None, "value": "Ada"})
