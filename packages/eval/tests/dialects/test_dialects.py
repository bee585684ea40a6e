"""What data sets and benchmarks write: every word in, the vocabulary out, and back."""

from __future__ import annotations

import pytest
from packages.eval.tests.dialects.dataset_words import ROWS

from handrail.dialects.registry import dialect
from handrail.dialects.table import ActionOutcome, ReadActions, RefusedWord
from handrail.errors import InvalidAction
from tests.contract.dialect_words import (
    comes_back_as_it_was,
    has_an_example_of_every_word,
    reads_as_said,
    refuses_with_a_hint,
    talk,
)
from tests.fuzz.dialects import run


def test_words_mean_these_actions() -> None:
    reads_as_said(ROWS)


def test_what_has_no_meaning_is_refused_with_a_hint() -> None:
    refuses_with_a_hint(ROWS)


def test_every_word_of_the_table_is_read_or_refused_by_an_example() -> None:
    has_an_example_of_every_word(ROWS)


def test_what_a_dialect_can_say_comes_back_as_it_was() -> None:
    comes_back_as_it_was(ROWS)


def test_damaged_words_are_read_or_refused_and_nothing_else_happens() -> None:
    """A short run; the long one is `make fuzz`."""
    outcomes, slowest = run(ROWS, count=300, seed=7)
    assert {word.split()[0] for word in outcomes if word.endswith("read")} == ROWS.keys()
    assert slowest < 2_000


def test_what_was_answered_is_said_again_at_the_end() -> None:
    own, state = dialect("androidworld"), talk("androidworld")
    own.read({"action_type": "answer", "text": "482913"}, state)
    [end] = own.read({"action_type": "status", "goal_status": "complete"}, state).actions
    assert end.to_dict()["message"] == "482913"


def test_numbers_of_another_frame_are_told_and_not_touched() -> None:
    outside = {"results/action_type": 4, "results/yx_touch": [2, 0.5], "results/yx_lift": [2, 0.5]}
    with pytest.raises(InvalidAction, match="outside"):
        dialect("aitw").read(outside, talk("aitw"))


def test_elements_are_listed_with_their_refs() -> None:
    elements = [{"text": "Save", "ref": "@b1"}]
    outcome = ActionOutcome(True, "", elements=elements)
    listed = dialect("androidworld").answer(ReadActions(()), outcome)
    assert listed["ui_elements"] == [{"index": 0, "text": "Save", "ref": "@b1"}]


def test_a_refused_word_is_in_the_table() -> None:
    assert isinstance(dialect("androidworld").rows["unknown"], RefusedWord)
