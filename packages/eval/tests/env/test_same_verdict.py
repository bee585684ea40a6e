"""An environment and `handrail eval` judge the same actions alike: the same verdict for the same reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from handrail_agent.model import AgentModel, Prompt, Reply
from handrail_eval.baselines import BASELINES, reference
from handrail_eval.env import PhoneEnv
from handrail_eval.env_task import EvalEnvTask
from handrail_eval.load import load_tasks, load_templates
from handrail_eval.run import EvaluationPlan, episode
from handrail_eval.task import EvalTask
from handrail_eval.virtual_time import run_virtually

Opener = Callable[[EvalTask], AgentModel]
WHO: dict[str, Opener] = {"reference": reference, **{name: BASELINES[name] for name in ("liar", "quitter")}}
QUICK = (
    "adversary-parcel",
    "adversary-task-names",
    "ambiguous-contact",
    "clock-timer",
    "impossible-product",
    "pay-approval",
)
"""A kind each, in all their worlds; one in an app that tells what is on its canvas only when asked."""
TASKS = [
    pytest.param(template.task(1, world), id=f"{template.id}-{world}".strip("-"))
    for template in load_templates(QUICK)
    for world in template.worlds
]
PER_APP = 2


def some_of_every_app() -> list[str]:
    """What verdicts hang on is how an app tells what is on it: `make fuzz` tries all templates."""
    found: dict[str, list[str]] = {}
    for task in load_tasks():
        for app in task.apps:
            found.setdefault(app, []).append(task.id)
    return sorted({name for names in found.values() for name in names[:PER_APP]})


class Overheard:
    """A model whose actions are written down as it gave them: what is kept of a run has no passwords."""

    def __init__(self, model: AgentModel, heard: list[Any]) -> None:
        self._model, self._heard = model, heard
        self.name, self.mode, self.sees = model.name, model.mode, model.sees

    async def step(self, prompt: Prompt) -> Reply:
        reply = await self._model.step(prompt)
        self._heard.append(reply.action)
        return reply

    async def close(self) -> None:
        await self._model.close()


def evaluated(task: EvalTask, opener: Opener) -> tuple[list[Any], bool, str]:
    """What was done, and the verdict of `handrail eval`."""
    heard: list[Any] = []
    result, _, _ = run_virtually(episode(task, EvaluationPlan(lambda one: Overheard(opener(one), heard))))
    return heard, result.success, result.why


def in_environment(task: EvalTask, actions: list[Any]) -> tuple[bool, str]:
    env = PhoneEnv(EvalEnvTask(task))
    try:
        env.reset(seed=task.seed)
        *_, (_, reward, ended, _, info) = [env.step(action) for action in actions]
        assert ended
        assert reward == float(info["solved"])
        return info["solved"], info["why"]
    finally:
        env.close()


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("task", TASKS)
def test_the_same_actions_get_the_same_verdict(task: EvalTask, who: str) -> None:
    actions, solved, why = evaluated(task, WHO[who])
    assert in_environment(task, actions) == (solved, why)
    assert solved == (who == "reference")


@pytest.mark.slow
@pytest.mark.parametrize("name", some_of_every_app())
def test_a_reference_gets_the_same_verdict(name: str) -> None:
    [template] = load_templates([name])
    for world in template.worlds:
        task = template.task(1, world)
        actions, solved, why = evaluated(task, reference)
        assert in_environment(task, actions) == (solved, why)
        assert solved


def test_a_run_without_an_end_is_told_in_the_same_words() -> None:
    [template] = load_templates(["clock-timer"])
    task = template.task(2).model_copy(update={"budget": 3})
    result, _, ran = run_virtually(episode(task, EvaluationPlan(reference)))
    assert ran is not None
    assert not result.success
    env = PhoneEnv(EvalEnvTask(task))
    try:
        env.reset(seed=2)
        *_, (_, reward, ended, cut, info) = [env.step(dict(step.action or {})) for step in ran.steps]
        assert (reward, ended, cut, info["why"]) == (0.0, False, True, result.why)
    finally:
        env.close()
