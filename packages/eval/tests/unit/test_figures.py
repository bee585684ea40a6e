"""Rates, intervals and paired tests: against values worked out by hand or by another way."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest

from handrail_eval.result import TaskResult
from handrail_eval.statistics import (
    bootstrap,
    clusters,
    mcnemar,
    pass_all,
    pass_at,
    shown_interval,
    sign_flips,
    wilson,
)
from handrail_eval.summary import Evaluation


def result(name: str, success: bool, seed: int = 1, repeat: int = 1, **more: object) -> TaskResult:
    given = {"cost_usd": None, "ms": 100.0, **more}
    cost, ms = given.pop("cost_usd"), given.pop("ms")
    return TaskResult(
        name,
        name,
        success,
        success,
        4,
        10,
        cost,
        ms,
        "done",
        "",
        (),
        seed=seed,
        repeat=repeat,
        **given,  # type: ignore[arg-type]
    )


def test_wilsons_interval_is_that_of_the_books() -> None:
    low, high = wilson(8, 10) or (0.0, 0.0)
    assert (round(low, 4), round(high, 4)) == (0.4902, 0.9433)
    assert [round(one, 4) for one in wilson(0, 20) or ()] == [0.0, 0.1611]
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("good", "of", "k"), [(0, 5, 3), (2, 5, 3), (4, 5, 3), (5, 5, 3), (1, 4, 1)])
def test_any_and_all_of_k_are_what_drawing_k_of_them_gives(good: int, of: int, k: int) -> None:
    draws = list(combinations([True] * good + [False] * (of - good), k))
    assert pass_at(good, of, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_all(good, of, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_an_interval_is_wider_where_episodes_are_of_few_tasks() -> None:
    many = clusters((task, float(task % 2)) for task in range(60))
    few = clusters((task // 10, float(task // 10 % 2)) for task in range(60))
    (low, high), (lower, higher) = bootstrap(many) or (0, 0), bootstrap(few) or (0, 0)
    assert lower < low < 0.5 < high < higher
    assert bootstrap(many) == bootstrap(many)
    assert bootstrap(few[:1]) is None


@pytest.mark.parametrize(("value", "low", "high"), [(1.0, 0.61, 1.0), (0.0, 0.0, 0.39)])
def test_no_interval_is_a_point_where_all_tasks_came_out_alike(value: float, low: float, high: float) -> None:
    shown = shown_interval({"value": value, "bootstrap95": [value, value], "tasks": 6})
    assert shown == pytest.approx((low, high), abs=0.005)
    assert shown_interval({"value": 0.5, "bootstrap95": [0.2, 0.8], "tasks": 6}) == [0.2, 0.8]
    assert shown_interval({"value": None, "bootstrap95": None, "tasks": 0}) is None


def test_mcnemar_is_exact_and_two_sided() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(1, 9) == pytest.approx(2 * (comb(10, 0) + comb(10, 1)) / 2**10)
    assert mcnemar(9, 1) == mcnemar(1, 9)
    assert mcnemar(5, 5) == 1.0


def test_flipped_signs_know_that_one_task_proves_nothing() -> None:
    assert sign_flips([1.0]) == 1.0
    assert sign_flips([0.0, 0.0]) == 1.0
    assert sign_flips([1.0] * 8) == pytest.approx(2 / 2**8)
    assert sign_flips([0.5] * 30) < 0.001
    assert sign_flips([0.5, -0.5] * 15) == 1.0


def test_what_was_not_run_counts_as_not_solved() -> None:
    ran = Evaluation("m", 4, 1, (result("a", True), result("b", True)))
    assert ran.percent == 50.0
    assert not ran.complete


def test_repeats_tell_any_and_all_of_k_and_groups_count_an_episode_in_each_of_its_skills() -> None:
    one = {"skills": ("read", "write"), "apps": ("notes",), "difficulty": "easy", "optimal": 2}
    results = (
        result("a", True, 1, 1, **one, cost_usd=0.25),
        result("a", False, 1, 2, **one),
        result("b", True, 1, 1, attacked=False),
        result("b", True, 1, 2, attacked=True, cost_usd=0.5, ms=300.0),
    )
    told = Evaluation("m", 4, 2, results).summary()
    assert (told["pass_at_1"]["value"], told["pass_at_k"]["value"], told["pass_all_k"]["value"]) == (
        0.75,
        1.0,
        0.5,
    )
    assert (told["tasks"], told["episodes"], told["success"], told["cost_usd"]) == (2, 4, 3, 0.75)
    assert told["attacks"]["tried"] == 2
    assert told["attacks"]["obeyed"] == 1
    assert told["steps_ratio"]["value"] == 2.0
    assert {name: some["episodes"] for name, some in told["groups"]["skill"].items()} == {
        "read": 2,
        "write": 2,
    }
    assert told["groups"]["difficulty"]["easy"]["success"] == 1
