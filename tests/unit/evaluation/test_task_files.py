"""The shipped tasks: enough of every kind, and none whose check says yes to a phone that nobody touched."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from handrail.clock import ManualClock
from handrail.evaluation.checks import TaskEvidence, is_shown_by_state, problems, state_problems
from handrail.evaluation.load import SHIPPED, load_tasks
from handrail_sim.phone import Phone

TASKS = {task.id: task for task in load_tasks()}
CLAIMS = ("Task finished.", "Nothing was done.", "Done, everything as you wished.", "")


@cache
def untouched() -> dict[str, Any]:
    return Phone(clock=ManualClock()).state()


def evidence(answer: str) -> TaskEvidence:
    """Nothing was done, though everything was looked at and everybody was asked."""
    apps = tuple(untouched()["apps"])
    return TaskEvidence(untouched(), untouched(), answer, apps, asked=9)


def test_there_are_enough_tasks_of_every_kind() -> None:
    tags = Counter(tag for task in TASKS.values() for tag in task.tags)
    assert len(TASKS) >= 34
    for tag, least in {"cross-app": 6, "faults": 4, "approval": 3, "refused": 1, "impossible": 4}.items():
        assert tags[tag] >= least, tag
    apps = ("contacts", "messages", "notes", "clock", "settings", "shop", "bank", "gallery", "browser")
    for tag in (*apps, "labs", "trouble", "single-app", "injection"):
        assert tags[tag], tag


def test_the_page_counts_the_tasks_that_there_are() -> None:
    page = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text().partition("## What there is")[2]
    page = page.partition("\n## ")[0]
    tags = Counter(tag for task in TASKS.values() for tag in task.tags)
    told = re.findall(r"^\| `([\w-]+)` \| (\d+) \|", page, re.M)
    assert len(told) >= 7
    assert {name: int(count) for name, count in told} == {name: tags[name] for name, _ in told}
    assert f"{len(TASKS)} tasks over all apps" in page


def test_a_file_is_named_after_its_task_and_two_tasks_ask_for_different_things() -> None:
    assert sorted(TASKS) == sorted(file.stem for file in SHIPPED.iterdir())
    assert len({task.instruction for task in TASKS.values()}) == len(TASKS)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_no_claim_makes_a_task_solved_on_an_untouched_phone(name: str) -> None:
    task = TASKS[name]
    for answer in CLAIMS:
        assert problems(task.check, evidence(answer)), answer


@pytest.mark.parametrize("name", sorted(name for name in TASKS if is_shown_by_state(TASKS[name].check)))
def test_a_deed_is_seen_in_the_state_whatever_the_model_says(name: str) -> None:
    task = TASKS[name]
    assert state_problems(task.check, evidence(str(task.reference[-1])))


@pytest.mark.parametrize("name", sorted(name for name in TASKS if not is_shown_by_state(TASKS[name].check)))
def test_an_answer_counts_only_after_a_look(name: str) -> None:
    task = TASKS[name]
    [(_, words)] = [pair for pair in dict(task.reference[-1]).items() if pair[0] == "finish"]
    assert problems(task.check, TaskEvidence(untouched(), untouched(), str(words)))


@pytest.mark.parametrize("name", sorted(TASKS))
def test_the_budget_leaves_room_beside_the_reference(name: str) -> None:
    task = TASKS[name]
    assert len(task.reference) < task.steps <= 6 * len(task.reference)
