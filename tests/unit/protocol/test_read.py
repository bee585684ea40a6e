"""Whatever comes in, only INVALID_ACTION comes out: with the path, what is wrong, and what was meant."""

import json
from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail.protocol.read import (
    MAX_BYTES,
    action_from,
    join_path,
    nearest,
    nearest_kind,
    read_action,
    read_json,
)
from tests.cases import each

TAP = {"type": "tap", "target": {"text": "Save"}}


def refused(value: Any) -> InvalidAction:
    """The error of bad data, which must be the same for the same data as JSON."""
    with pytest.raises(InvalidAction) as caught:
        action_from(value)
    with pytest.raises(InvalidAction) as again:
        read_action(json.dumps(value))
    assert again.value.details["path"] == caught.value.details["path"]
    return caught.value


@each("data", ['{"type":"wait"}', b'{"type":"wait"}', ' \n{"type":"wait"}\n'])
def test_json_is_read_from_text_and_bytes(data: str | bytes) -> None:
    assert read_action(data).to_dict() == {"type": "wait", "duration_ms": 1000}


@each(
    ("value", "message", "path"),
    [
        ({}, "type: is required", "type"),
        ({"type": "nope"}, 'type: "nope" is not known', "type"),
        ({"type": 5}, 'type: "5" is not known', "type"),
        ({"type": "tap"}, "target: is required", "target"),
        ({"type": "tap", "target": {"x": 1}}, "target.y: is required", "target.y"),
        ({**TAP, "colour": "red"}, "colour: is not a field of tap", "colour"),
        (
            {**TAP, "expect": {"all": [{"absent": {"txt": "a"}}]}},
            "expect.all[0].absent.txt: is not a known field",
            "expect.all[0].absent.txt",
        ),
        (
            {"type": "scroll_to", "target": "a", "direction": "dwon"},
            "direction: must be one of: up, down, left, right",
            "direction",
        ),
        (
            {"type": "wait", "duration_ms": 600_001},
            "duration_ms: should be less than or equal to 600000, not 600001",
            "duration_ms",
        ),
        (
            {"type": "wait", "durationMs": 5, "duration_ms": 6},
            "duration_ms: is given twice, in both spellings",
            "duration_ms",
        ),
        (
            {"type": "rotate", "cx": 1, "cy": 1, "radius": 1, "startAngleDeg": 1},
            "end_angle_deg: is required",
            "end_angle_deg",
        ),
        ({"type": "window.move", "windowId": "w", "x": 1}, "y: is required", "y"),
        ({"type": "window.close"}, "windowId: is required", "windowId"),
        ({"type": "swipe"}, "direction: give either direction, or from and to", "direction"),
    ],
)  # fmt: skip
def test_an_error_has_a_path_and_plain_words(value: Any, message: str, path: str) -> None:
    error = refused(value)
    assert (error.message, error.details["path"]) == (message, path)


@each("value", [None, 5, "tap", [], [TAP], True, 1.5])
def test_what_is_no_object_is_refused_at_the_top(value: Any) -> None:
    assert refused(value).details["path"] == ""


@each(
    ("value", "suggestion"),
    [
        ({"type": "tpa"}, "tap"), ({"type": "doubletap"}, "double_tap"), ({"type": "click"}, "tap"),
        ({"type": "launch_app"}, "start_app"), ({"type": "type"}, "type_text"),
        ({"type": "window.Close"}, "window.close"), ({**TAP, "reson": "a"}, "reason"),
        ({"type": "wait", "duration": 5}, "duration_ms"), ({"type": "tap", "target": {"txt": "a"}}, "text"),
        ({"type": "scroll_to", "target": "a", "direction": "dwon"}, "down"),
        ({"type": "request_human_auth", "capability": "contact"}, "contacts"),
        ({"type": "window.close", "windowid": "w"}, "windowId"),
    ],
)  # fmt: skip
def test_what_was_probably_meant_is_suggested(value: Any, suggestion: str) -> None:
    error = refused(value)
    suggested = [one.get("suggestion", "") for one in error.details["problems"]]
    assert any(suggestion in one.split(" or ") for one in suggested)
    assert suggestion in error.hint or len(suggested) > 1


def test_a_word_like_nothing_has_no_suggestion() -> None:
    assert refused({"type": "zzzzzzzz"}).hint == InvalidAction.hint


def test_the_words_of_other_tools_are_known() -> None:
    assert nearest_kind("press_back", ["press_key", "wait"])[0] == "press_key"
    assert nearest_kind("press_back", ["wait"]) == []
    assert nearest("w" * 1_000_000, ["wait"]) == []


def test_all_problems_are_told() -> None:
    error = refused({"type": "pinch", "cx": "a", "cy": 40_000, "zoom": 1})
    paths = [problem["path"] for problem in error.details["problems"]]
    assert paths == ["cx", "cy", "start_radius", "end_radius", "zoom"]
    assert all(f"{path}: " in error.message for path in paths)


def test_a_field_that_fits_no_kind_says_what_each_kind_wants() -> None:
    error = refused({"type": "set_value", "target": "a", "value": []})
    assert len(error.details["problems"]) == 1
    assert ", or " in error.message


@each(
    ("path", "text"),
    [([], ""), (["a"], "a"), (["a", 0], "a[0]"), ([1, "b"], "[1].b"), (["a", 0, 1, "b"], "a[0][1].b")],
)
def test_a_path_is_written_as_programs_write_it(path: Any, text: str) -> None:
    assert join_path(path) == text


@each(
    ("data", "line", "column"),
    [("", 1, 0), ("{", 1, 1), ('{"type":\n  tap}', 2, 4), ("{'type': 'tap'}", 1, 2), ('{"a": 1,}', 1, 9),
     ('{"a": NaN}', 1, 7)],
)  # fmt: skip
def test_what_is_no_json_is_refused_with_its_place(data: str, line: int, column: int) -> None:
    with pytest.raises(InvalidAction, match="not valid JSON") as caught:
        read_json(data)
    assert caught.value.details["line"] == line
    assert abs(caught.value.details["column"] - column) <= 1
    with pytest.raises(InvalidAction):
        read_action(data)


@each(
    "data",
    [
        '{"a":' * 10_000 + "1" + "}" * 10_000, '{"within":' * 10_000, "[" * 1_000_000,
        '{"type":"tap","target":' + '{"within":' * 10_000 + '"a"' + "}" * 10_001,
        '{"type":"tap","target":{"text":"a"},"expect":' + '{"all":[' * 5_000 + '"a"' + "]}" * 5_000 + "}",
        '{"type":"tap","target":{"x":' + "9" * 100_000 + ',"y":1}}', '{"type":"tap","target":"\\ud800"}',
        '{"type":"tap","target":"\ud800"}', b'{"type":"tap","target":"\xff"}', b"\x00" * 1_000,
        '{"type":"wait"} {"type":"wait"}',
    ],
    ids=lambda data: repr(data[:30]),
)  # fmt: skip
def test_deep_broken_and_endless_json_is_refused(data: str | bytes) -> None:
    with pytest.raises(InvalidAction) as caught:
        read_action(data)
    assert caught.value.details["path"] == ""
    assert len(caught.value.message) < 200


def test_too_much_is_refused_unread() -> None:
    for read in (read_action, read_json):
        with pytest.raises(InvalidAction, match="8,000,001 bytes are too many"):
            read(b" " * (MAX_BYTES + 1))


def test_data_that_is_too_deep_is_refused() -> None:
    deep: Any = "a"
    for _ in range(5_000):
        deep = {"text": "a", "within": deep}
    with pytest.raises(InvalidAction):
        action_from({"type": "tap", "target": deep})


def test_a_hundred_thousand_unknown_fields_give_one_short_error() -> None:
    flood = {f"field{number}": number for number in range(100_000)}
    error = refused({**TAP, **flood})
    assert error.message.startswith("field0: is not a field of tap; field1: is not")
    assert len(json.dumps(error.to_dict())) < 10_000


@each("value", [True, "9" * 1_001, "", [], {}, None, float("inf")])
def test_a_value_is_a_number_or_a_label_and_nothing_like_it(value: Any) -> None:
    with pytest.raises(InvalidAction) as caught:
        action_from({"type": "set_value", "target": "a", "value": value})
    assert caught.value.details["path"] == "value"


@each("value", [40, 0.5, "40", "true", "Monday"])
def test_a_value_keeps_its_type(value: Any) -> None:
    written = action_from({"type": "set_value", "target": "a", "value": value}).to_dict()["value"]
    assert (written, type(written)) == (value, type(value))


@pytest.mark.parametrize("size", [100_001, 1_000_000])
def test_a_text_that_is_too_long_is_not_repeated(size: int) -> None:
    error = refused({"type": "type_text", "text": "x" * size})
    assert error.details["path"] == "text"
    assert len(error.message) < 200


def test_a_number_with_thousands_of_digits_is_refused() -> None:
    with pytest.raises(InvalidAction) as caught:
        action_from({"type": "tap", "target": {"x": 10**5_000, "y": 1}})
    assert caught.value.details["path"] == "target.x"


@each(
    "value",
    [
        {"type": "type_text", "text": 7355608},
        {"type": "type_text", "text": "7355608" * 20_000},
        {"type": "type_text", "text": ["7355608"]},
        {"type": "type_text", "text": {"secret": "7355608"}},
        {"type": "type_text", "txt": "7355608"},
        {"type": "set_clipboard", "text": 7355608},
        {"type": "set_value", "target": "PIN", "value": "7355608" * 500},
        {"type": "shell", "command": ["echo", 7355608]},
        {"type": "shell", "command": "echo '7355608"},
        {"type": "run_script", "script": 7355608},
        {"type": "expect_text", "target": "a", "equals": 7355608},
        {"type": "window.setContent", "windowId": "w", "content": {"renderer": "text", "data": 7355608}},
    ],
)
def test_what_a_person_types_is_never_in_the_error(value: dict[str, Any]) -> None:
    assert "7355608" not in json.dumps(refused(value).to_dict())
