"""A template's task as an environment takes it: the same phone, the same person, the same judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from handrail.clock import Clock
from handrail.errors import InvalidAction
from handrail_agent.run_data import AgentStep
from handrail_eval.env.task import EnvQuestion, EpisodeVerdict, Shell
from handrail_eval.load import load_templates
from handrail_eval.run import settled, why_not
from handrail_eval.stage import Person, set_up
from handrail_eval.task import EvalTask
from handrail_eval.witness import EpisodeWitness

if TYPE_CHECKING:
    from handrail_sim.phone import Phone


class EvalEnvTask:
    """Fills `handrail_eval.env.EnvTask`."""

    def __init__(self, task: EvalTask) -> None:
        self.task = task
        self.instruction = task.wording
        self.steps = task.steps
        self.policy = task.policy
        self.secrets: Mapping[str, str] = task.secrets
        self.world: Mapping[str, Any] = task.world
        self.now_ms = task.now_ms

    async def begin(self, phone: Phone, shell: Shell, clock: Clock) -> EvalEpisode:
        await set_up(self.task, phone, shell)
        return EvalEpisode(self.task, EpisodeWitness(self.task, phone, shell), clock)


class EvalEpisode:
    """Fills `handrail_eval.env.EnvEpisode`."""

    def __init__(self, task: EvalTask, witness: EpisodeWitness, clock: Clock) -> None:
        self._task = task
        self._witness = witness
        self._clock = clock
        self._person = Person(task.person)

    async def step(self, number: int) -> None:
        await self._witness.step(number)

    def answer(self, question: EnvQuestion) -> tuple[bool, str | None]:
        return self._person.answer(question.label, question.action, question.capability)

    async def verdict(self, steps: Sequence[AgentStep], ending: str) -> EpisodeVerdict:
        evidence = await settled(self._task, self._witness, steps, self._person.questions, self._clock)
        found = why_not(self._task, evidence, ending)
        return EpisodeVerdict(not found, "; ".join(found))


def env_task(name: str) -> Callable[[int], EvalEnvTask]:
    """What draws the task of a seed from the template of this name, or of this file."""
    template, *others = load_templates([name])
    if others:
        raise InvalidAction(
            f"{name!r} are {len(others) + 1} templates", path="task", hint="Name one, or give a file."
        )
    return lambda seed: EvalEnvTask(template.task(seed))
