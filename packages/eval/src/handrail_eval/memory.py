"""What a memoriser knows: the actions that solved the same task, in the same world, with another seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail_agent.model import AgentModel
from handrail_agent.run_data import RunResult
from handrail_eval.baselines import memoriser, reference
from handrail_eval.result import EpisodeKey, key_of
from handrail_eval.run import EvaluationPlan, episode
from handrail_eval.task import EvalTask

Solutions = dict[tuple[int, str], list[Mapping[str, Any]]]
"""What references did, by seed and world."""


async def known_by_heart(task: EvalTask, solutions: Solutions | None = None) -> list[Mapping[str, Any]]:
    """The actions of the reference with the next seed that has this world, as they were carried out.

    Whoever has run references anyway says what they did, and gets what is added.
    """
    if task.twin is None:
        return []
    known, twin = {} if solutions is None else solutions, task.twin()
    if place(twin) not in known:
        _, _, ran = await episode(twin, EvaluationPlan(reference))
        known[place(twin)] = actions_of(ran)
    return known[place(twin)]


def place(task: EvalTask) -> tuple[int, str]:
    """Under which a task's solution is known."""
    return task.seed, task.world_name


def actions_of(ran: RunResult | None) -> list[Mapping[str, Any]]:
    """As they were carried out."""
    return [step.action for step in ran.steps if step.action is not None] if ran is not None else []


class Memorisers:
    """A memoriser for every task, once it has learned it."""

    def __init__(self) -> None:
        self._known: dict[EpisodeKey, list[Mapping[str, Any]]] = {}

    async def learn(self, task: EvalTask) -> None:
        self._known[key_of(task)] = await known_by_heart(task)

    def open(self, task: EvalTask) -> AgentModel:
        return memoriser(self._known[key_of(task)])
