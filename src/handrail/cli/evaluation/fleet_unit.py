"""A task of an evaluation as a unit of a fleet: its id, a seed and the name of a model. Both ends are here.

Every task makes a phone of its own, as on one machine; on its host it takes the place of one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from handrail.agent.model import AgentModel
from handrail.agent.models import open_model
from handrail.cli.evaluation.load import load_tasks
from handrail.cli.evaluation.reference import Reference
from handrail.cli.evaluation.result import TaskResult
from handrail.cli.evaluation.run import EvaluationPlan, run_one
from handrail.cli.evaluation.task import EvalTask
from handrail.clock import Clock
from handrail.errors import InvalidAction
from handrail.fleet.ledger import UnitSpec
from handrail.fleet.unit_kind import UnitResult, UnitStage

SHIPPED = frozenset(one.id for one in load_tasks([], 1))


def task_units(
    tasks: Sequence[EvalTask],
    model_of: Callable[[EvalTask], Mapping[str, Any]],
    max_steps: int | None,
    where: str,
) -> list[UnitSpec]:
    """Only tasks that are shipped: a host has them itself. An evaluation may always be repeated."""
    for task in tasks:
        if task.id not in SHIPPED:
            raise InvalidAction(f"{task.id} is no shipped task, and hosts have no other", path="tasks")
    return [
        UnitSpec(
            "task",
            task.id,
            {"task": task.id, "seed": task.seed, "model": dict(model_of(task)), "max_steps": max_steps},
            where=where,
            attempts=3,
            retry_lost=True,
        )
        for task in tasks
    ]


class TaskKind:
    """Runs one as `handrail eval` does."""

    async def run(self, body: Mapping[str, Any], stage: UnitStage) -> UnitResult:
        [task] = load_tasks([str(body["task"])], int(body["seed"]))
        opener = _opener(dict(body.get("model") or {}), stage.clock)
        stage.said = f"task {task.id}"
        plan = EvaluationPlan(opener, stage.clock, None, body.get("max_steps"))
        result = await run_one(task, plan)
        return UnitResult("passed" if result.success else "failed", result.why, {"task": result.to_dict()})


def _opener(model: dict[str, Any], clock: Clock) -> Callable[[EvalTask], AgentModel]:
    """The model's key and address are the host's own: a caller could send the key to an address of theirs."""
    name = str(model.get("name", "reference"))
    if name == "reference":
        return lambda task: Reference(task.reference)
    if name.partition(":")[0] == "scripted":
        raise InvalidAction("scripted:FILE names a file of another machine", path="model")
    mode, sees = model.get("mode"), model.get("sees")
    return lambda _: open_model(name, env=os.environ, clock=clock, mode=mode, sees=sees)


_FIELDS = frozenset(one.name for one in fields(TaskResult))


def task_result(unit: Mapping[str, Any], task: EvalTask) -> TaskResult:
    """What a unit brought, or why it brought nothing."""
    told = (unit["result"] or {}).get("task")
    if told is None:
        why = (unit["result"] or {}).get("message") or unit["why"] or unit["state"]
        return TaskResult(
            task.id, task.title, False, False, 0, 0, None, 0.0, unit["state"], why, task.tags, seed=task.seed
        )
    return TaskResult(**{**{key: told[key] for key in told if key in _FIELDS}, "tags": tuple(told["tags"])})
