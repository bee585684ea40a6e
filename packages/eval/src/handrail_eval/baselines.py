"""Models that know nothing of the phone, or everything: a check that the first pass is worth nothing.

Each is opened for one task. What every real model has to beat is in `agent/models/__init__.py`, too.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handrail.protocol.observe import Finish, RequestHumanAuth
from handrail.protocol.read import read_as
from handrail.protocol.system import StartApp
from handrail_agent.model import AgentModel, Mode, Prompt, Reply
from handrail_agent.models import Nothing, RandomTaps
from handrail_eval.answers import wrong_answers
from handrail_eval.app_names import package_of
from handrail_eval.reference import Reference
from handrail_eval.task import EvalTask


class FixedActions:
    """Does these, one after the other; the last for ever."""

    mode: Mode = "tools"
    sees = False

    def __init__(self, name: str, *actions: Mapping[str, Any]) -> None:
        self.name = name
        self._actions = actions

    async def step(self, prompt: Prompt) -> Reply:
        return Reply("", self._actions[min(prompt.step, len(self._actions)) - 1], "")

    async def close(self) -> None:
        """Nothing is open."""


def finish(
    status: str = "done", answer: str | None = None, message: str = "Everything is done."
) -> dict[str, Any]:
    """The end of a run, in the model's words."""
    return read_as(Finish, {"status": status, "message": message, "answer": answer}).to_dict()


def invented(task: EvalTask) -> str:
    """An answer of the right kind, from nowhere."""
    return wrong_answers(task.answer, "")[0] if task.answer else ""


def every_answer(task: EvalTask) -> str:
    """All that could be right, at once."""
    if task.answer is None:
        return ", ".join(map(str, range(1, 61)))
    many = {
        "time": [f"{hour:02d}:{minute:02d}" for hour in range(24) for minute in range(0, 60, 5)],
        "date": [f"{task.values['today'][:8]}{day:02d}" for day in range(1, 29)],
        "choice": list(task.answer.options),
        "list": list(task.answer.options) or [str(one) for one in task.values.values()],
        "text": [str(one) for one in task.values.values()],
    }
    return "\n".join(many.get(task.answer.form, [str(number) for number in range(1, 2000)]))


def ask(words: str = "What shall I do?") -> dict[str, Any]:
    """A question to the person."""
    return RequestHumanAuth(instruction=words).to_dict()


def _opened(task: EvalTask) -> dict[str, Any]:
    return StartApp(package=package_of(task.apps[0])).to_dict()


ModelOpener = Callable[[EvalTask], AgentModel]
AT_ONCE: dict[str, ModelOpener] = {
    "nothing": lambda _: Nothing(),
    "liar": lambda task: FixedActions("liar", finish(answer=invented(task))),
    "quitter": lambda _: FixedActions("quitter", finish("infeasible", message="It can't be done.")),
    "enumerator": lambda task: FixedActions("enumerator", finish(answer=every_answer(task))),
}
"""They end with their first step: no phone is touched."""
BASELINES: dict[str, ModelOpener] = {
    **AT_ONCE,
    "quitter-opens": lambda task: FixedActions(
        "quitter-opens", _opened(task), finish("infeasible", message="It can't be done.")
    ),
    "asker": lambda task: FixedActions("asker", ask(), finish(answer=invented(task))),
    "random": lambda task: RandomTaps(
        zlib.crc32(f"{task.seed} {task.repeat} {task.id}".encode()) % 1_000_000
    ),
}
"""Those that must fail; the memoriser is made of a run with another seed, by `memory`."""


def reference(task: EvalTask) -> AgentModel:
    """Follows the task's own solution."""
    return Reference(task.reference)


def second_reference(task: EvalTask) -> AgentModel:
    """The first where there is no second way."""
    return Reference(task.second or task.reference)


def memoriser(actions: Sequence[Mapping[str, Any]]) -> AgentModel:
    """Does again what solved the task with another seed, and says the same."""
    return FixedActions("memoriser", *(actions or [finish()]))


def baseline_of(name: str, task: Any) -> AgentModel | None:
    """By the name that `handrail eval --model` takes; None for another model."""
    openers: dict[str, ModelOpener] = {**BASELINES, "second-reference": second_reference}
    return openers[name](task) if name in openers else None
