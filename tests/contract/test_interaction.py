"""Seed 001: tools that demand a reason, and answer with a sentence and what changed."""

from typing import Any

import pytest

from handrail.dialects.interaction import (
    NO_CHANGE,
    TOOLS,
    answer,
    read_tool,
    sentence_without_secret,
    write_tool,
)
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from handrail.protocol.read import action_from
from tests.cases import each

WHY = "I open the form because I need the e-mail field."
ENDS = {"startX": 540, "startY": 1800, "endX": 540, "endY": 400}
INTERACTIONS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("tap", {"x": 540, "y": 750}, {"type": "tap", "target": {"x": 540, "y": 750}}),
    (
        "long_press",
        {"x": 540, "y": 750, "duration": 1500},
        {"type": "long_press", "target": {"x": 540, "y": 750}, "duration_ms": 1500},
    ),
    (
        "swipe",
        {**ENDS, "duration": 200},
        {"type": "swipe", "from": {"x": 540, "y": 1800}, "to": {"x": 540, "y": 400}, "duration_ms": 200},
    ),
    ("type_text", {"text": "user@example.com"}, {"type": "type_text", "text": "user@example.com"}),
    ("press_key", {"key": "back"}, {"type": "press_key", "key": "back"}),
]
OBSERVATIONS = [
    ("get_textual_state", {"type": "get_ui_tree", "format": "full"}),
    ("get_visual_state", {"type": "screenshot", "scale": 1.0}),
    ("get_general_state", {"type": "get_state"}),
    ("get_what_changed", {"type": "what_changed"}),
]
NAMES = [name for name, *_ in INTERACTIONS]


def refused_at(path: str, name: str, arguments: dict[str, Any]) -> InvalidAction:
    with pytest.raises(InvalidAction) as caught:
        read_tool(name, arguments)
    assert caught.value.details["path"] == path
    return caught.value


def test_there_are_five_tools_that_act_and_four_that_look() -> None:
    assert list(TOOLS) == [*NAMES, *(name for name, _ in OBSERVATIONS)]


@each(("name", "arguments", "native"), INTERACTIONS, ids=NAMES)
def test_a_tool_call_has_its_native_action_and_back(name: str, arguments: Any, native: Any) -> None:
    action = read_tool(name, {**arguments, "reason": WHY})
    assert action == action_from({**native, "reason": WHY})
    assert write_tool(action) == (name, {**arguments, "reason": WHY})


@each(("name", "native"), OBSERVATIONS)
def test_looking_needs_no_reason(name: str, native: dict[str, Any]) -> None:
    assert read_tool(name, {}) == action_from(native)
    assert read_tool(name, {"reason": WHY}).reason == WHY
    assert write_tool(read_tool(name, {})) == (name, {})


@each("reason", [None, "", "   ", "\n", 5, [], True])
@each(("name", "arguments", "native"), INTERACTIONS, ids=NAMES)
def test_acting_needs_a_reason_that_says_something(
    name: str, arguments: Any, native: Any, reason: Any
) -> None:
    assert "first person" in refused_at("reason", name, {**arguments, "reason": reason}).hint


@each(("name", "arguments", "native"), INTERACTIONS, ids=NAMES)
def test_a_reason_may_not_be_left_out(name: str, arguments: Any, native: Any) -> None:
    refused_at("reason", name, arguments)


@each(
    ("name", "field"),
    [(name, field) for name, arguments, _ in INTERACTIONS for field in arguments if field != "duration"],
)
def test_a_missing_parameter_is_named(name: str, field: str) -> None:
    arguments = dict(INTERACTIONS[NAMES.index(name)][1])
    del arguments[field]
    assert refused_at(field, name, {**arguments, "reason": WHY}).message == f"{field}: is required"


@pytest.mark.parametrize(
    ("name", "arguments", "duration_ms"), [("long_press", {"x": 1, "y": 2}, 1000), ("swipe", ENDS, 300)]
)
def test_durations_have_the_defaults_of_the_seed(name: str, arguments: Any, duration_ms: int) -> None:
    assert read_tool(name, {**arguments, "reason": WHY}).to_dict()["duration_ms"] == duration_ms


@each("key", ["back", "home", "enter", "recents", "66", 66, "KEYCODE_TAB"])
def test_a_key_is_a_name_or_a_number(key: Any) -> None:
    assert read_tool("press_key", {"key": key, "reason": WHY}).to_dict()["key"] == key


@each(
    ("name", "arguments", "path"),
    [
        ("tap", {"x": "left", "y": 1}, "x"), ("tap", {"x": 1, "y": 99_999}, "y"),
        ("tap", {"x": 1, "y": 2, "z": 3}, "z"),
        ("long_press", {"x": 1, "y": 2, "duration": 60_001}, "duration"),
        ("swipe", {**ENDS, "endX": None}, "endX"), ("swipe", {**ENDS, "end_x": 5}, "end_x"),
        ("type_text", {"text": 5}, "text"), ("press_key", {"key": "bak"}, "key"), ("tapp", {}, "type"),
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_named_in_the_words_of_the_tool(name: str, arguments: Any, path: str) -> None:
    refused_at(path, name, {**arguments, "reason": WHY})


def test_parameters_may_be_fractions_and_snake_case() -> None:
    given = {"start_x": 1.5, "start_y": 2.4, "end_x": 3, "end_y": 4, "reason": WHY}
    assert read_tool("swipe", given).to_dict()["from"] == {"x": 2, "y": 2}


@each(
    "native",
    [
        {"type": "tap", "target": "1,2"},
        {"type": "tap", "target": "Save", "reason": WHY},
        {"type": "swipe", "direction": "up", "reason": WHY},
        {"type": "type_text", "text": "a", "submit": True, "reason": WHY},
        {"type": "get_ui_tree"},
        {"type": "pinch", "cx": 1, "cy": 1, "start_radius": 1, "end_radius": 2, "reason": WHY},
    ],
)
def test_what_the_dialect_has_no_tool_for_is_not_written(native: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        write_tool(action_from(native))


@each(
    ("native", "said"),
    [
        ({"type": "tap", "target": "540,750"}, "Tapped at (540, 750)."),
        ({"type": "swipe", "from": "540,1800", "to": "540,400"}, "Swiped from (540, 1800) to (540, 400)."),
        ({"type": "type_text", "text": "user@example.com"}, 'Typed "user@example.com".'),
        ({"type": "press_key", "key": "back"}, "Pressed key: back."),
        ({"type": "long_press", "target": "540,750"}, "Long-pressed at (540, 750) for 1000 ms."),
        ({"type": "tap", "target": "Save"}, 'Tapped "Save".'),
        ({"type": "tap", "target": "@b1"}, 'Tapped "@b1".'),
        ({"type": "tap", "target": {"role": "button"}}, "Tapped an element."),
        ({"type": "swipe", "direction": "up"}, "Swiped up."),
        ({"type": "swipe", "direction": "left", "target": "Card"}, 'Swiped left on "Card".'),
        ({"type": "drag", "from": "A", "to": "1,2"}, 'Dragged from "A" to (1, 2).'),
        ({"type": "type_text", "text": "Ada", "target": "Name"}, 'Typed "Ada" into "Name".'),
        ({"type": "set_network", "wifi": False, "preset": "lte"}, "Set the network: preset lte, wifi off."),
        ({"type": "shell", "command": ["ls", "-l"]}, "Ran: ls -l."),
        ({"type": "set_clipboard", "text": "hunter2"}, "Put 7 characters on the clipboard."),
        ({"type": "finish", "message": "All saved."}, "All saved."),
    ],
)
def test_an_action_is_told_in_one_sentence(native: dict[str, Any], said: str) -> None:
    assert sentence_without_secret(action_from(native)) == said


def test_the_name_of_the_element_that_was_found_is_said() -> None:
    assert (
        sentence_without_secret(action_from({"type": "tap", "target": "@b1"}), label="Save")
        == 'Tapped "Save".'
    )


@each("kind", [kind for kind in ACTIONS if kind not in DESK_ACTIONS])
def test_every_action_of_a_device_has_its_own_sentence(kind: str) -> None:
    assert ACTIONS[kind].traits.says
    said = sentence_without_secret(action_from(ACTIONS[kind].example))
    assert said[0].isupper()
    assert said.endswith(".")
    assert "\n" not in said
    assert "None" not in said


def test_a_secret_is_told_by_its_length() -> None:
    action = action_from({"type": "type_text", "text": "correcthorse", "target": "Password"})
    assert sentence_without_secret(action, secret=True) == "Typed 12 characters."


def test_an_answer_is_the_sentence_a_blank_line_and_the_changes() -> None:
    changes = 'Elements changed:\nEditText "Email" focused=false -> focused=true\nKeyboard appeared\n'
    assert answer("Tapped at (540, 750).", changes) == (
        "Tapped at (540, 750).\n\n"
        'Elements changed:\nEditText "Email" focused=false -> focused=true\nKeyboard appeared'
    )


@pytest.mark.parametrize("changes", ["", "  \n"])
def test_an_empty_diff_says_that_nothing_changed(changes: str) -> None:
    assert answer("Pressed key: back.", changes) == "Pressed key: back.\n\nNo change on screen."
    assert NO_CHANGE == "No change on screen."
