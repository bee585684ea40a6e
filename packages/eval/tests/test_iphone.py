"""Templates on the simulated iPhone, by their references: the same tasks, worlds and checks as on Android."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handrail_eval.load import load_tasks
from handrail_eval.reference import Reference
from handrail_eval.run import EvaluationPlan, episode
from handrail_eval.task import EvalTask
from handrail_eval.virtual_time import run_virtually
from handrail_sim.iphone.phone import BUNDLES

NAMES = (
    "adversary-web-secret",
    "ambiguous-contact",
    "bank-balance",
    "bank-transfer",
    "browser-book",
    "browser-hours",
    "calendar-add",
    "calendar-move",
    "camera-series",
    "clock-delete",
    "clock-switch",
    "clock-timer",
    "compose-controls",
    "contacts-create",
    "contacts-delete",
    "contacts-edit",
    "cross-code-note",
    "cross-contact-message",
    "dialer-call-back",
    "fault-double-taps",
)


def on_ios(task: EvalTask) -> Reference:
    """The same steps; apps are started by their bundle identifiers."""
    text = json.dumps(list(task.reference))
    for package, bundle in BUNDLES.items():
        text = text.replace(f'"{package}"', f'"{bundle}"')
    steps: list[Any] = json.loads(text)
    return Reference(steps)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_solved_on_the_iphone(name: str) -> None:
    plan = EvaluationPlan(on_ios, platform="ios")
    result, _, _ = run_virtually(episode(load_tasks([name])[0], plan))
    assert result.success, (result.ended, result.why)


def test_twenty_templates_are_tried() -> None:
    assert len(set(NAMES)) == 20


def test_an_iphone_takes_no_commands_of_android() -> None:
    task = next(task for task in load_tasks() if task.setup.shell)
    result, _, _ = run_virtually(episode(task, EvaluationPlan(on_ios, platform="ios")))
    assert not result.success
