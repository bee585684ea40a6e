"""What phone models write: every word in, the vocabulary out, and back; and the frames of their numbers."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.dialects.frame import Conversation, CoordinateFrame, smart_resize
from handrail.dialects.registry import dialect
from handrail.dialects.table import ActionOutcome
from handrail.errors import InvalidAction
from tests.cases import each
from tests.contract.dialect_words import (
    comes_back_as_it_was,
    has_an_example_of_every_word,
    reads_as_said,
    refuses_with_a_hint,
    talk,
)
from tests.contract.makers import ROWS
from tests.fuzz.dialects import run


def test_words_mean_these_actions() -> None:
    reads_as_said(ROWS)


def test_what_has_no_meaning_is_refused_with_a_hint() -> None:
    refuses_with_a_hint(ROWS)


def test_every_word_of_the_table_is_read_or_refused_by_an_example() -> None:
    has_an_example_of_every_word(ROWS)


def test_what_a_dialect_can_say_comes_back_as_it_was() -> None:
    comes_back_as_it_was(ROWS, silent=frozenset({"autoglm"}))


def test_damaged_words_are_read_or_refused_and_nothing_else_happens() -> None:
    """A short run; the long one is `make fuzz`."""
    outcomes, slowest = run(ROWS, count=300, seed=7)
    assert {word.split()[0] for word in outcomes if word.endswith("read")} == ROWS.keys()
    assert slowest < 2_000


def test_of_several_actions_of_ui_tars_the_last_counts_and_that_is_told() -> None:
    answer = "Thought: a\nAction: click(point='<point>1 2</point>')\n\nAction: type(content='Ada')"
    reading = dialect("ui_tars").read(answer, talk("ui_tars"))
    assert [action.type for action in reading.actions] == ["type_text"]
    assert reading.repairs == ("1 earlier actions, the last Action was taken",)


def test_a_right_click_says_that_it_was_a_long_press() -> None:
    for name, given in (("ui_tars", "Action: right_single(point='<point>1 2</point>')"),):
        own = dialect(name)
        reading = own.read(given, talk(name))
        assert "long press" in " ".join(reading.notes)
        assert "long press" in str(own.answer(reading, ActionOutcome(True, "Done.")))


@each(
    ("frame", "place"),
    [
        (CoordinateFrame("device"), (540, 1200)),
        (CoordinateFrame("device", (1080, 2400)), (540, 1200)),
        (CoordinateFrame("picture", (1080, 2400), (720, 1600)), (360, 800)),
        (CoordinateFrame("resized", (1080, 2400), (1080, 2400)), (546, 1204)),
        (CoordinateFrame("thousand", (1080, 2400)), (500, 500)),
        (CoordinateFrame("unit", (1080, 2400)), (0.5, 0.5)),
        (CoordinateFrame("percent", (1080, 2400)), (50, 50)),
    ],
)
def test_one_place_in_every_frame(frame: CoordinateFrame, place: tuple[float, float]) -> None:
    assert frame.to_device(*place) == {"x": 540, "y": 1200}
    assert frame.from_device(540, 1200) == place


def test_the_far_edge_is_the_last_pixel() -> None:
    assert CoordinateFrame("thousand", (1080, 2400)).to_device(1000, 1000) == {"x": 1079, "y": 2399}


@each(
    ("name", "given"),
    [
        ("autoglm", '<answer>do(action="Tap", element=[540,1200])</answer>'),
        ("mobile_use", {"action": "click", "coordinate": [-5, 3]}),
        ("ui_tars", "Action: click(point='<point>9999 602</point>')"),
    ],
)
def test_numbers_of_another_frame_are_told_and_not_touched(name: str, given: Any) -> None:
    with pytest.raises(InvalidAction, match="outside"):
        dialect(name).read(given, talk(name))


def test_a_picture_is_resized_as_qwen_does_it() -> None:
    assert smart_resize(1080, 2400) == (1092, 2408)
    assert smart_resize(100, 100) == (280, 280)
    wide, high = smart_resize(20_000, 10_000)
    assert wide * high <= 16_384 * 28 * 28
    assert wide % 28 == high % 28 == 0


def test_a_call_without_an_end_is_told_and_an_unread_answer_is_no_end_of_the_task() -> None:
    with pytest.raises(InvalidAction):
        dialect("autoglm").read("I think the task is over.", talk("autoglm"))
    reading = dialect("ui_tars").read("Action: type(content='Ada'", talk("ui_tars"))
    assert "a missing end" in reading.repairs


@pytest.mark.parametrize(
    ("name", "output", "native", "note"),
    [
        (
            "ui_tars",
            "Action: long_press(start_box='(100,200)', time='2')",
            {"type": "long_press", "duration_ms": 2000},
            "",
        ),
        ("ui_tars", "Action: scroll(start_box='(100,200)', end_box='(100,800)')", {"type": "swipe"}, ""),
        (
            "ui_tars",
            "Action: type(content='hi', point='<point>10 20</point>')",
            {"type": "type_text", "text": "hi", "target": {"x": 10, "y": 20}},
            "",
        ),
        ("ui_tars", "Action: click(start_box='(100,200)', sure='yes')", {"type": "tap"}, "sure of click"),
        (
            "androidworld",
            {"action_type": "status", "goal_status": "complete", "text": "42"},
            {"type": "finish", "message": "42"},
            "",
        ),
        (
            "androidworld",
            {"action_type": "navigate_back", "index": 3},
            {"type": "press_key", "key": "back"},
            "index of navigate_back",
        ),
        ("anthropic_computer", {"action": "wait"}, {"type": "wait", "duration_ms": 1000}, ""),
        (
            "mobile_use",
            {"name": "mobile_use", "arguments": {"action": "click", "coordinate": [0.5, 0.2]}},
            {"type": "tap"},
            "looks like shares",
        ),
    ],
)
def test_further_fields_are_left_out_with_a_note(
    name: str, output: Any, native: dict[str, Any], note: str
) -> None:
    talk = Conversation(CoordinateFrame(dialect(name).unit, (1080, 2400), (1080, 2400)))
    reading = dialect(name).read(output, talk)
    [action] = reading.actions
    assert native.items() <= action.to_dict().items()
    assert note in " ".join(reading.notes)
    assert bool(reading.notes) == bool(note)


def test_a_seed_refuses_a_field_that_it_does_not_have() -> None:
    talk = Conversation(CoordinateFrame("device"))
    with pytest.raises(InvalidAction, match="is not a field of tap"):
        dialect("interaction").read(
            {"name": "tap", "arguments": {"x": 1, "y": 2, "reason": "r", "z": 3}}, talk
        )
