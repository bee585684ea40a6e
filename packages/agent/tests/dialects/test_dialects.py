"""What computer-use models and other programs write: every word in, the vocabulary out, and back."""

from __future__ import annotations

from typing import Any

import pytest
from packages.agent.tests.dialects import computer_words, model_words, program_words

from handrail.dialects.frame import Conversation, CoordinateFrame
from handrail.dialects.registry import dialect
from handrail.dialects.table import ActionOutcome, ReadActions
from handrail.errors import InvalidAction
from tests.cases import each
from tests.contract.dialect_words import (
    comes_back_as_it_was,
    has_an_example_of_every_word,
    reads_as_said,
    refuses_with_a_hint,
    talk,
)
from tests.fuzz.dialects import run

ROWS = {**computer_words.ROWS, **program_words.ROWS, **model_words.ROWS}


def test_words_mean_these_actions() -> None:
    reads_as_said(ROWS)


def test_what_has_no_meaning_is_refused_with_a_hint() -> None:
    refuses_with_a_hint(ROWS)


def test_every_word_of_the_table_is_read_or_refused_by_an_example() -> None:
    has_an_example_of_every_word(ROWS, later=frozenset({"left_mouse_down", "left_mouse_up"}))


def test_what_a_dialect_can_say_comes_back_as_it_was() -> None:
    comes_back_as_it_was(ROWS, silent=frozenset({"agent_device", "w3c_actions", "openai_computer"}))


def test_damaged_words_are_read_or_refused_and_nothing_else_happens() -> None:
    """A short run; the long one is `make fuzz`."""
    outcomes, slowest = run(ROWS, count=500, seed=7)
    assert {word.split()[0] for word in outcomes if word.endswith("read")} == ROWS.keys()
    assert slowest < 2_000


def test_a_right_click_says_that_it_was_a_long_press() -> None:
    for name, given in (
        ("anthropic_computer", {"action": "right_click", "coordinate": [1, 2]}),
        ("openai_computer", {"type": "click", "x": 1, "y": 2, "button": "right"}),
    ):
        own = dialect(name)
        reading = own.read(given, talk(name))
        assert "long press" in " ".join(reading.notes)
        assert "long press" in str(own.answer(reading, ActionOutcome(True, "Done.")))


def test_a_mouse_that_is_held_and_moved_is_one_drag_when_it_is_let_go() -> None:
    own, state = dialect("anthropic_computer"), talk("anthropic_computer")
    words: list[dict[str, Any]] = [
        {"action": "mouse_move", "coordinate": [10, 10]},
        {"action": "left_mouse_down"},
        {"action": "mouse_move", "coordinate": [20, 20]},
        {"action": "mouse_move", "coordinate": [30, 10]},
    ]
    assert [own.read(one, state).actions for one in words] == [()] * 4
    [path] = own.read({"action": "left_mouse_up"}, state).actions
    assert path.to_dict()["points"] == [{"x": 20, "y": 20}, {"x": 40, "y": 40}, {"x": 60, "y": 20}]
    [tap] = own.read({"action": "left_click"}, state).actions
    assert tap.to_dict()["target"] == {"x": 60, "y": 20}
    assert own.read({"action": "cursor_position"}, state).reply == "X=30,Y=10"


def test_a_click_at_no_place_is_refused() -> None:
    with pytest.raises(InvalidAction, match="nothing was pointed at"):
        dialect("anthropic_computer").read({"action": "left_click"}, talk("anthropic_computer"))


def test_frames_are_given_and_never_guessed() -> None:
    own = dialect("anthropic_computer")
    click = {"action": "left_click", "coordinate": [1, 2]}
    with pytest.raises(InvalidAction) as no_picture:
        own.read(click, Conversation(CoordinateFrame("picture", (1080, 2400))))
    assert no_picture.value.details["path"] == "picture"
    with pytest.raises(InvalidAction) as no_screen:
        own.read(click, Conversation(CoordinateFrame("picture", None, (540, 1200))))
    assert no_screen.value.details["path"] == "screen"


@each(
    ("name", "given"),
    [
        ("anthropic_computer", {"action": "left_click", "coordinate": [900, 20]}),
        ("openai_computer", {"type": "click", "x": 10, "y": 2000, "button": "left"}),
    ],
)
def test_numbers_of_another_frame_are_told_and_not_touched(name: str, given: Any) -> None:
    with pytest.raises(InvalidAction, match="outside"):
        dialect(name).read(given, talk(name))


def test_each_maker_is_answered_in_its_own_form() -> None:
    good, bad = (
        ActionOutcome(True, "Tapped.", picture="UE5H"),
        ActionOutcome(False, "no such element", "ELEMENT_NOT_FOUND", "Look."),
    )
    call = {"type": "tool_use", "id": "toolu_1", "name": "computer", "input": {"action": "screenshot"}}
    own = dialect("anthropic_computer")
    answer = own.answer(own.read(call, talk(own.name)), good)
    assert (answer["type"], answer["tool_use_id"], answer["is_error"]) == ("tool_result", "toolu_1", False)
    assert answer["content"][1]["source"] == {"type": "base64", "media_type": "image/png", "data": "UE5H"}
    own = dialect("openai_computer")
    item = {
        "type": "computer_call", "call_id": "call_1", "action": {"type": "screenshot"},
        "pending_safety_checks": [{"id": "sc_1", "code": "c", "message": "m"}],
    }  # fmt: skip
    answer = own.answer(own.read(item, talk(own.name)), good)
    assert answer["type"] == "computer_call_output"
    assert answer["call_id"] == "call_1"
    assert answer["output"] == {"type": "computer_screenshot", "image_url": "data:image/png;base64,UE5H"}
    assert answer["acknowledged_safety_checks"] == [{"id": "sc_1", "code": "c", "message": "m"}]
    refused = own.answer(own.read(item, talk(own.name)), bad)
    assert "acknowledged_safety_checks" not in refused[0]
    assert dialect("w3c_actions").answer(ReadActions(()), good) == {"value": None}
    assert dialect("w3c_actions").answer(ReadActions(()), bad)["value"]["error"] == "unknown error"


def test_a_refused_word_says_so_in_the_table() -> None:
    assert dialect("anthropic_computer").rows["middle_click"].says.startswith("refused")
