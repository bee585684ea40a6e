"""Writes down what the phone itself shows at every step: the evidence that a verdict is based on.

Also lets happen what a template has planned for such a moment. It tells whoever acts nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from html import unescape
from typing import TYPE_CHECKING, Any

from handrail.protocol.actions import ACTIONS
from handrail.protocol.observe import Finish, GiveAnswer
from handrail_agent.model import AgentModel, Mode, Prompt, Reply
from handrail_agent.run_data import GOOD, AgentStep
from handrail_eval.app_names import package_of
from handrail_eval.evidence import PersonQuestion, RunDeed, ShownScreen, TaskEvidence
from handrail_eval.judge import needs_samples
from handrail_eval.task import EvalTask, EventAtMoment, EventTrigger, SetupNotice, SetupSms

if TYPE_CHECKING:
    from handrail_sim.phone import Phone

_TEXTS = re.compile(r""" (?:text|content-desc|hint)=(?:"([^"]+)"|'([^']+)')""")
"""A text with quotes in it stands between apostrophes."""


class EpisodeWitness:
    """Of a phone that is ready, for as long as it lives."""

    def __init__(self, task: EvalTask, phone: Phone, shell: Callable[[str], Awaitable[Any]]) -> None:
        self.before = phone.state()
        self._phone = phone
        self._shell = shell
        self._waiting = list(task.events)
        self._samples_wanted = bool(task.attack) or needs_samples(task.check)
        self.looks: list[ShownScreen] = []
        self.samples: list[dict[str, Any]] = []
        self.presses: list[tuple[str, str]] = []
        phone.on_event(self._heard)

    async def step(self, number: int) -> None:
        """Whoever acts has looked, and has not yet chosen."""
        self._write_down(number)
        for one in [one for one in self._waiting if self._has_come(one.when, number)]:
            self._waiting.remove(one)
            await self._let_happen(one)

    def evidence(self, steps: Sequence[AgentStep], questions: Sequence[PersonQuestion]) -> TaskEvidence:
        """As everything is now."""
        actions = [(step, step.action) for step in steps if step.action is not None]
        done = [(one, action) for one, action in actions if one.outcome in GOOD or one.outcome == "unchanged"]
        answers = [str(action["text"]) for _, action in done if ACTIONS.get(action["type"]) is GiveAnswer]
        last = steps[-1].action if steps else None
        ended = last if last is not None and _ends(last) and steps[-1].outcome in GOOD else None
        message = str(ended.get("message", "")) if ended else ""
        return TaskEvidence(
            before=self.before,
            after=self._phone.state(),
            samples=tuple(self.samples),
            looks=tuple(self.looks),
            deeds=tuple(
                RunDeed(step.number, str(action["type"]), _told(action))
                for step, action in done
                if not _ends(action)
            ),
            presses=tuple(self.presses),
            questions=tuple(questions),
            status=str(ended.get("status", "done")) if ended else "",
            answer=str(ended.get("answer") or (answers[-1] if answers else message)) if ended else "",
            message=message,
        )

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


class WitnessedModel:
    """A model whose every step is witnessed; it is told nothing of it."""

    mode: Mode

    def __init__(self, model: AgentModel, witness: EpisodeWitness) -> None:
        self._model = model
        self._witness = witness
        self.name, self.mode, self.sees = model.name, model.mode, model.sees

    async def step(self, prompt: Prompt) -> Reply:
        await self._witness.step(prompt.step)
        return await self._model.step(prompt)

    async def close(self) -> None:
        await self._model.close()


def _ends(action: Mapping[str, Any]) -> bool:
    return ACTIONS.get(action["type"]) is Finish


PAYLOAD = ("text", "value", "url", "command", "script", "instruction")
"""Fields of an action that hold what the model knows; a target is only where it acts."""


def _told(action: Mapping[str, object]) -> str:
    return json.dumps([action[name] for name in PAYLOAD if name in action], ensure_ascii=False)


def arrive(phone: Phone, messages: tuple[SetupSms, ...], notices: tuple[SetupNotice, ...]) -> None:
    """Messages and notifications, now or later."""
    for sms in messages:
        phone.later(sms.after_ms, partial(phone.receive_sms, sms.sender, sms.text))
    for notice in notices:
        phone.later(notice.after_ms, partial(phone.notify, package_of(notice.app), notice.title, notice.text))
