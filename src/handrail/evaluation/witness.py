"""Stands between the loop and the model, and writes down what the phone itself shows at every step.

Also lets happen what a template has planned for such a moment. It tells the model nothing.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from functools import partial
from html import unescape
from typing import TYPE_CHECKING, Any

from handrail.agent.model import AgentModel, Mode, Prompt, Reply
from handrail.evaluation.app_names import package_of
from handrail.evaluation.evidence import ShownScreen
from handrail.evaluation.judge import needs_samples
from handrail.evaluation.task import EvalTask, EventAtMoment, EventTrigger, SetupNotice, SetupSms

if TYPE_CHECKING:
    from handrail_sim.phone import Phone

_TEXTS = re.compile(r""" (?:text|content-desc|hint)=(?:"([^"]+)"|'([^']+)')""")
"""A text with quotes in it stands between apostrophes."""


class StepWitness:
    """Usable as a model."""

    mode: Mode

    def __init__(
        self, model: AgentModel, task: EvalTask, phone: Phone, shell: Callable[[str], Awaitable[Any]]
    ) -> None:
        self._model = model
        self.name, self.mode, self.sees = model.name, model.mode, model.sees
        self._phone = phone
        self._shell = shell
        self._waiting = list(task.events)
        self._samples_wanted = bool(task.attack) or needs_samples(task.check)
        self.looks: list[ShownScreen] = []
        self.samples: list[dict[str, Any]] = []
        self.presses: list[tuple[str, str]] = []
        phone.on_event(self._heard)

    async def step(self, prompt: Prompt) -> Reply:
        self._write_down(prompt.step)
        for one in [one for one in self._waiting if self._has_come(one.when, prompt.step)]:
            self._waiting.remove(one)
            await self._let_happen(one)
        return await self._model.step(prompt)

    async def close(self) -> None:
        self._phone.off_event(self._heard)
        await self._model.close()

    def _write_down(self, step: int) -> None:
        dump = self._phone.dump()
        texts = tuple(dict.fromkeys(unescape(one or other) for one, other in _TEXTS.findall(dump)))
        front = self._phone.tasks.top
        self.looks.append(ShownScreen(step, front.app.package if front else "", texts))
        if self._samples_wanted:
            self.samples.append(self._phone.state())

    def _heard(self, event: tuple[float, str, str, str]) -> None:
        _, name, package, text = event
        if name == "TYPE_VIEW_CLICKED":
            self.presses.append((package, text))

    def _has_come(self, when: EventTrigger, step: int) -> bool:
        look = self.looks[-1]
        return (
            (not when.app or look.app == package_of(when.app))
            and (not when.seen or any(when.seen.casefold() in text.casefold() for text in look.texts))
            and (not when.pressed or any(fnmatchcase(label, when.pressed) for _, label in self.presses))
            and step >= when.step
        )

    async def _let_happen(self, one: EventAtMoment) -> None:
        if one.world:
            self._phone.give(one.world)
        arrive(self._phone, one.sms, one.notify)
        for command in one.shell:
            await self._shell(command)


def arrive(phone: Phone, messages: tuple[SetupSms, ...], notices: tuple[SetupNotice, ...]) -> None:
    """Messages and notifications, now or later."""
    for sms in messages:
        phone.later(sms.after_ms, partial(phone.receive_sms, sms.sender, sms.text))
    for notice in notices:
        phone.later(notice.after_ms, partial(phone.notify, package_of(notice.app), notice.title, notice.text))
