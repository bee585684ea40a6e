"""Tasks, their conditions, and what they may cost."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail_agent.budget import Budget, Spend, reached, says
from handrail_agent.model import Usage
from handrail_agent.task import Task
from tests.cases import each


@each(
    ("written", "meant"),
    [
        ("Saved", {"visible": {"text": "Saved"}}),
        ("Note: all is well", {"visible": {"text": "Note: all is well"}}),
        ("app: com.android.settings", {"app": "com.android.settings"}),
        ('{"absent": "Loading"}', {"absent": {"text": "Loading"}}),
        (
            "state: {target: Wi-Fi, property: checked, value: false}",
            {"state": {"target": {"text": "Wi-Fi"}, "property": "checked", "value": False}},
        ),
        ({"visible": "@b1"}, {"visible": {"ref": "@b1"}}),
    ],
)
def test_a_condition_is_written_as_in_flows(written: Any, meant: dict[str, Any]) -> None:
    until = Task.of("Do it", written).until
    assert until is not None
    assert until.to_dict() == meant


@each("written", ["app: [", '{"visible": "a", "absent": "b"}', '{"nothing": 1}', "{}"])
def test_a_condition_that_can_not_be_read_is_told_at_once(written: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        Task.of("Do it", written)
    assert "until" in caught.value.message


@each("text", ["", "  \n", "x" * 20_001])
def test_a_task_says_something_and_is_no_book(text: str) -> None:
    with pytest.raises(InvalidAction):
        Task.of(text)


def test_a_cost_is_unknown_until_one_call_has_a_price() -> None:
    spend = Spend().plus(Usage(10, 5))
    assert (spend.cost_usd, spend.tokens, spend.calls) == (None, 15, 1)
    assert spend.plus(Usage(1, 1, 0.25)).plus(Usage(1, 1)).cost_usd == 0.25


def test_the_first_limit_that_is_reached_is_told() -> None:
    budget = Budget(steps=3, tokens=100, cost_usd=0.5)
    assert reached(budget, Spend(steps=2, input_tokens=99)) is None
    assert reached(budget, Spend(steps=3)) == "out_of_steps"
    assert reached(budget, Spend(input_tokens=60, output_tokens=40)) == "out_of_tokens"
    assert reached(budget, Spend(cost_usd=0.5)) == "out_of_cost"
    assert says("out_of_steps", budget) == "All 3 steps were used."


@each("limit", [{"steps": 0}, {"seconds": -1.0}, {"tokens": 0}, {"cost_usd": 0.0}])
def test_a_limit_of_nothing_is_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(InvalidAction):
        Budget(**limit)
