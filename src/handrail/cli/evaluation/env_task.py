"""A shipped task as an environment takes it: the same phone, the same person, the same checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

from handrail.cli.evaluation.checks import TaskEvidence, problems
from handrail.cli.evaluation.load import load_tasks
from handrail.cli.evaluation.task import EvalTask
from handrail.env.task import EpisodeEvidence, EpisodeVerdict, Question, Shell

if TYPE_CHECKING:
    from handrail_sim.phone import Phone


class EvalEnvTask:
    """Fills `handrail.env.EnvTask`."""

    def __init__(self, task: EvalTask) -> None:
        self.task = task
        self.instruction = task.instruction
        self.steps = task.steps
        self.policy = task.policy
        self.secrets: Mapping[str, str] = task.secrets

    async def set_up(self, phone: Phone, shell: Shell) -> None:
        for command in self.task.setup.shell:
            await shell(command)
        for one in self.task.setup.sms:
            phone.later(one.after_ms, partial(phone.receive_sms, one.sender, one.text))
        phone.faults.load(self.task.setup.faults)
        phone.catch_up()
        phone.systemui.end_heads_up()

    def answer(self, question: Question) -> tuple[bool, str | None]:
        names = [name for name in (question.label, question.action, question.capability) if name]
        for line in self.task.person:
            if any(fnmatchcase(name, line.to) for name in names):
                return line.approve, line.data
        return False, None

    def verdict(self, evidence: EpisodeEvidence) -> EpisodeVerdict:
        """A task that was given up is not solved."""
        finish = evidence.finish
        if finish is None or finish.status != "done":
            return EpisodeVerdict(False, "It was given up.")
        found = problems(
            self.task.check,
            TaskEvidence(
                before=dict(evidence.before),
                after=dict(evidence.after),
                answer=finish.message,
                apps=tuple(evidence.apps),
                asked=evidence.asked,
            ),
        )
        return EpisodeVerdict(not found, "; ".join(found))


def env_task(name: str) -> Callable[[int], EvalEnvTask]:
    """What draws the shipped task of this name from a seed."""
    return lambda seed: EvalEnvTask(load_tasks([name], seed)[0])
