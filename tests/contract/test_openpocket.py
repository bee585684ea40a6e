"""Seed 000: OpenPocket's ten actions, its normalisation, and what of it may be executed."""

from typing import Any, get_args

import pytest

from handrail.dialects.openpocket import SHAPES, normalise, write_action
from handrail.errors import Unsupported
from handrail.protocol.envelope import ScreenSnapshot
from handrail.protocol.observe import HumanCapability
from handrail.protocol.read import action_from
from tests.cases import each

AUTH = "Human authorization is required to continue."

COMPLETE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"type": "tap", "x": 540, "y": 750}, {"type": "tap", "target": {"x": 540, "y": 750}}),
    (
        {"type": "swipe", "x1": 540, "y1": 1800, "x2": 540, "y2": 400, "durationMs": 250},
        {"type": "swipe", "from": {"x": 540, "y": 1800}, "to": {"x": 540, "y": 400}, "duration_ms": 250},
    ),
    ({"type": "type", "text": "Ada"}, {"type": "type_text", "text": "Ada", "clear": False, "submit": False}),
    ({"type": "keyevent", "keycode": "KEYCODE_BACK"}, {"type": "press_key", "key": "KEYCODE_BACK"}),
    (
        {"type": "launch_app", "packageName": "com.google.android.contacts"},
        {"type": "start_app", "package": "com.google.android.contacts"},
    ),
    ({"type": "shell", "command": "pm list"}, {"type": "shell", "command": "pm list", "raw": False}),
    (
        {"type": "run_script", "script": "ls", "timeoutSec": 5},
        {"type": "run_script", "script": "ls", "timeout_sec": 5},
    ),
    (
        {"type": "request_human_auth", "capability": "2fa", "instruction": "Enter it.", "timeoutSec": 30},
        {"type": "request_human_auth", "capability": "2fa", "instruction": "Enter it.", "timeout_sec": 30},
    ),
    ({"type": "wait", "durationMs": 700}, {"type": "wait", "duration_ms": 700}),
    ({"type": "finish", "message": "Saved."}, {"type": "finish", "message": "Saved.", "status": "done"}),
]
KINDS = [given["type"] for given, _ in COMPLETE]

DEFAULTS: dict[str, dict[str, Any]] = {
    "tap": {"x": 0, "y": 0}, "swipe": {"x1": 0, "y1": 0, "x2": 0, "y2": 0, "durationMs": 300},
    "type": {"text": ""}, "keyevent": {"keycode": "KEYCODE_ENTER"}, "launch_app": {"packageName": ""},
    "shell": {"command": ""}, "run_script": {"script": "", "timeoutSec": 60},
    "request_human_auth": {"capability": "unknown", "instruction": AUTH, "timeoutSec": 300},
    "wait": {"durationMs": 1000}, "finish": {"message": "Task finished."},
}  # fmt: skip
FIELDS = [(kind, name) for kind, fields in DEFAULTS.items() for name in fields]
INVALID: dict[type, list[Any]] = {
    int: [None, True, "five", "", [], {}, float("nan"), float("inf"), "nan", "1e999"],
    str: [None, True, 5, 1.5, [], {}],
}


def complete(kind: str) -> dict[str, Any]:
    return dict(COMPLETE[KINDS.index(kind)][0])


def test_the_kinds_are_the_ten_of_the_seed() -> None:
    assert list(SHAPES) == KINDS == list(DEFAULTS)


@each(("given", "native"), COMPLETE, ids=KINDS)
def test_a_complete_action_is_kept_and_has_a_native_form(given: Any, native: Any) -> None:
    found = normalise(given)
    assert found.to_dict() == {"action": given, "defaulted": [], "native": native}


@each(("given", "native"), COMPLETE, ids=KINDS)
def test_a_native_action_is_written_as_the_seed_writes_it(given: Any, native: Any) -> None:
    assert write_action(action_from(native)) == given


@each("kind", [kind for kind in KINDS if kind != "finish"])
def test_a_reason_is_carried_both_ways(kind: str) -> None:
    given = {**complete(kind), "reason": "I need it."}
    found = normalise(given)
    assert found.action == given
    assert found.native.reason == "I need it."
    assert write_action(found.native) == given


@each("reason", [None, 5, "", "  ", ["because"]])
def test_a_reason_that_says_nothing_is_left_out(reason: Any) -> None:
    assert "reason" not in normalise({**complete("tap"), "reason": reason}).action


def test_finish_has_no_reason_in_the_seed() -> None:
    assert normalise({"type": "finish", "message": "Ok.", "reason": "r"}).action == {
        "type": "finish",
        "message": "Ok.",
    }


@each("kind", KINDS)
def test_an_action_without_fields_gets_the_defaults_of_the_seed(kind: str) -> None:
    found = normalise({"type": kind})
    assert found.action == {"type": kind, **DEFAULTS[kind]}
    assert found.defaulted == list(DEFAULTS[kind])


@each(("kind", "name"), FIELDS)
def test_a_missing_field_gets_its_default_and_is_listed(kind: str, name: str) -> None:
    given = complete(kind)
    del given[name]
    found = normalise(given)
    assert found.action[name] == DEFAULTS[kind][name]
    assert found.defaulted == [name]


@each(
    ("kind", "name", "value"),
    [(kind, name, value) for kind, name in FIELDS for value in INVALID[type(DEFAULTS[kind][name])]],
)
def test_an_invalid_field_gets_its_default_and_is_listed(kind: str, name: str, value: Any) -> None:
    found = normalise({**complete(kind), name: value})
    assert found.action[name] == DEFAULTS[kind][name]
    assert found.defaulted == [name]


@each("payload", [{"type": "nope"}, {"type": None}, {"type": []}, {}, None, 5, "tap", []])
def test_an_unknown_type_is_a_wait_of_one_second(payload: Any) -> None:
    found = normalise(payload)
    assert found.action == {"type": "wait", "durationMs": 1000}
    assert found.defaulted == ["type"]
    assert found.native.to_dict() == {"type": "wait", "duration_ms": 1000}


@each(
    "capability",
    ["camera", "sms", "2fa", "location", "biometric", "notification", "contacts", "calendar", "files",
     "oauth", "payment", "permission", "unknown"],
)  # fmt: skip
def test_every_capability_of_the_seed_is_known(capability: str) -> None:
    found = normalise({**complete("request_human_auth"), "capability": capability})
    assert found.action["capability"] == capability
    assert found.defaulted == []


def test_there_are_thirteen_capabilities_and_another_word_is_unknown() -> None:
    assert len(get_args(HumanCapability)) == 13
    assert normalise({**complete("request_human_auth"), "capability": "money"}).defaulted == ["capability"]


@each(
    ("given", "number"),
    [("5", 5), (" 540 ", 540), ("-3", -3), ("1e2", 100), ("2.5", 3), (2.5, 3), (3.5, 4), (-2.5, -2), (2.4, 2),
     (2.6, 3), (0.49999999999999994, 0), (-0.0, 0)],
)  # fmt: skip
def test_numbers_and_numeric_strings_are_rounded_half_up(given: Any, number: int) -> None:
    found = normalise({"type": "tap", "x": given, "y": 1})
    assert found.action == {"type": "tap", "x": number, "y": 1}
    assert isinstance(found.action["x"], int)
    assert found.defaulted == []


@pytest.mark.parametrize("name", ["coordinate", "position"])
def test_a_pair_of_coordinates_is_taken_apart(name: str) -> None:
    assert normalise({"type": "tap", name: [540, "750"]}).action == {"type": "tap", "x": 540, "y": 750}


def test_a_pair_does_not_overrule_coordinates() -> None:
    assert normalise({"type": "tap", "x": 1, "position": [8, 9]}).action == {"type": "tap", "x": 1, "y": 0}


def test_the_name_of_the_seeds_tool_is_the_action_type() -> None:
    assert normalise({"type": "type_text", "text": "a"}).action == {"type": "type", "text": "a"}


@each(
    ("given", "word"),
    [
        ({"type": "tap"}, "x, y"),
        ({"type": "tap", "x": 5}, "y"),
        ({"type": "tap", "x": "left", "y": 5}, "x"),
        ({"type": "swipe", "x1": "5"}, "y1, x2, y2"),
        ({"type": "launch_app"}, "packageName"),
        ({"type": "launch_app", "packageName": "  "}, "packageName"),
        ({"type": "shell", "command": ""}, "command"),
        ({"type": "run_script"}, "script"),
        ({"type": "keyevent", "keycode": 4}, "keycode"),
        ({"type": "keyevent", "keycode": "KEYCODE NOPE"}, "key"),
        ({"type": "type", "text": 123456}, "text"),
        ({"type": "tap", "x": 99_999, "y": 1}, "target.x"),
        ({"type": "tap", "x": 10**30, "y": 1}, "target.x"),
        ({"type": "swipe", "x1": 1, "y1": 1, "x2": 1, "y2": 1, "durationMs": 60_001}, "duration_ms"),
        ({"type": "wait", "durationMs": -1}, "duration_ms"),
        ({"type": "shell", "command": "echo 'open"}, "command"),
        ({"type": "launch_app", "packageName": "a; reboot"}, "package"),
    ],
)
def test_what_was_invented_empty_or_out_of_range_is_not_executable(given: Any, word: str) -> None:
    found = normalise(given)
    assert found.native is None
    assert found.not_executable is not None
    assert word in found.not_executable
    assert "native" not in found.to_dict()


@each(
    ("given", "native"),
    [
        ({"type": "keyevent"}, {"type": "press_key", "key": "KEYCODE_ENTER"}),
        ({"type": "wait"}, {"type": "wait", "duration_ms": 1000}),
        ({"type": "finish"}, {"type": "finish", "message": "Task finished.", "status": "done"}),
        ({"type": "keyevent", "keycode": "BACK"}, {"type": "press_key", "key": "back"}),
        (
            {"type": "request_human_auth"},
            {"type": "request_human_auth", "capability": "unknown", "instruction": AUTH, "timeout_sec": 300},
        ),
    ],
)
def test_a_harmless_default_is_executable(given: Any, native: Any) -> None:
    assert normalise(given).to_dict()["native"] == native


@each(
    "native",
    [
        {"type": "tap", "target": {"text": "Save"}},
        {"type": "tap", "target": "1,2", "expect": "Saved"},
        {"type": "tap", "target": "1,2", "device": "emulator-5554"},
        {"type": "swipe", "direction": "up"},
        {"type": "swipe", "from": "1,2", "to": "3,4", "expect": {"screen_changed": True}},
        {"type": "type_text", "text": "a", "target": "Name"},
        {"type": "type_text", "text": "a", "submit": True},
        {"type": "start_app", "package": "a.b", "activity": ".Main"},
        {"type": "shell", "command": "a | b", "raw": True},
        {"type": "pinch", "cx": 1, "cy": 1, "start_radius": 1, "end_radius": 2},
        {"type": "window.close", "windowId": "w"},
    ],
)
def test_what_the_seed_has_no_words_for_is_not_written(native: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        write_action(action_from(native))


@each(
    ("native", "written"),
    [
        ({"type": "press_key", "key": "back"}, {"type": "keyevent", "keycode": "KEYCODE_BACK"}),
        ({"type": "press_key", "key": 66}, {"type": "keyevent", "keycode": "66"}),
        ({"type": "shell", "command": ["ls", "a b"]}, {"type": "shell", "command": "ls 'a b'"}),
    ],
)
def test_native_words_become_the_words_of_the_seed(native: dict[str, Any], written: dict[str, Any]) -> None:
    assert write_action(action_from(native)) == written


def test_a_screen_snapshot_is_the_seeds_own_json() -> None:
    snapshot = {
        "deviceId": "emulator-5554", "currentApp": "com.google.android.contacts",
        "width": 1080, "height": 2400, "screenshotBase64": "aGk=", "capturedAt": "2026-04-23T08:00:00.000Z",
    }  # fmt: skip
    assert ScreenSnapshot.model_validate(snapshot).to_dict() == snapshot


@each("name", ["deviceId", "currentApp", "width", "height", "screenshotBase64", "capturedAt"])
def test_no_field_of_a_screen_snapshot_is_optional(name: str) -> None:
    snapshot: dict[str, Any] = {
        "deviceId": "d", "currentApp": "a", "width": 1, "height": 2, "screenshotBase64": "",
        "capturedAt": "t",
    }  # fmt: skip
    del snapshot[name]
    with pytest.raises(ValueError, match=name):
        ScreenSnapshot.model_validate(snapshot)
