"""Calls of tools that have not ended, or whose end nobody has heard yet, and what they ask people meanwhile.

Knows tasks and questions; how a client is told of them is not its business.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from handrail.clock import Clock
from handrail.errors import ActionRejected
from handrail.mcp.answer import ToolAnswer
from handrail.waiting import Background

if TYPE_CHECKING:
    from mcp_types import ElicitRequestFormParams, ElicitResult

    from handrail.mcp.client import Ticker

MOST_WAITING = 64
"""Calls that may wait at one time."""
KEPT_MS = 600_000.0
"""How long the outcome of a call that nobody came back for can still be asked for."""
TASK_TTL_MS = 600_000
"""A call that became a task can be asked for at least this long after it began, and while it runs."""
MOST_TASKS = 256
"""Tasks that are kept. Calls beyond are answered by their own requests, as for clients that know no tasks."""


class Question(Protocol):
    """What a call asks a person, in a form that clients can show."""

    id: str
    """Random; the answer comes back under it."""
    form: ElicitRequestFormParams
    elsewhere: str
    """For a client that shows no forms: where a person can answer."""

    async def is_open(self) -> bool:
        """Whether anybody may still answer."""
        ...

    async def hear(self, result: ElicitResult, by: str) -> bool:
        """A person's answer to the form; False where it leaves the question as it was."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, with the token that its answer has to bring."""

    question: Question
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def state(self) -> str:
        """For the client to give back, unread."""
        return f"{self.question.id}.{self.token}"


@dataclass(slots=True, eq=False)
class WaitingCall:
    """One call, in a task of its own."""

    key: str
    """Who calls what on which device, with which arguments."""
    owner: str
    task: asyncio.Task[ToolAnswer]
    questions: CallQuestions
    ticker: Ticker | None
    began_ms: int
    """On the wall clock, as clients are told it."""
    changed_ms: int = 0
    """Likewise: when it last asked something, or ended."""
    open: Asked | None = None
    """The last question that was asked."""
    attended: int = 0
    """Requests that wait for it now."""
    ended_ms: float | None = None
    task_id: str | None = None
    """As what the client asks after it; None for a call that is answered by its own request."""
    is_told: bool = False
    """The client has heard how it ended: the same call again is a new one."""

    @property
    def is_joined(self) -> bool:
        """By the same call: it asked a person, or is a task at work. Sooner, two may be meant as two."""
        is_at_work = self.task_id is not None and not self.task.done()
        return not self.is_told and (bool(self.questions.all) or is_at_work)

    def is_token(self, state: str) -> bool:
        return self.open is not None and hmac.compare_digest(self.open.state.encode(), state.encode())

    def changed(self, clock: Clock) -> None:
        self.changed_ms = clock.now_ms()

    async def pending(self) -> list[Question]:
        """All that it asks now; a flow on several devices may ask several things at once."""
        if self.task.done():
            return []
        return [one.question for one in self.questions.all if await one.question.is_open()]


class CallQuestions:
    """What a call asked. Most ask nothing, so the bell is no task."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.asked: list[Asked] = []
        """What nobody has taken up yet."""
        self.all: list[Asked] = []
        self.bell: asyncio.Future[None] = loop.create_future()

    def put(self, question: Question) -> None:
        one = Asked(question)
        self.asked.append(one)
        self.all.append(one)
        if not self.bell.done():
            self.bell.set_result(None)

    def take(self) -> Asked | None:
        """The oldest one, if there is any."""
        if not self.asked:
            return None
        if len(self.asked) == 1:
            self.bell = self._loop.create_future()
        return self.asked.pop(0)


QUESTIONS: ContextVar[CallQuestions | None] = ContextVar("questions", default=None)
"""Set in a call's task and inherited by every task below it, the engine's included."""


@dataclass(slots=True)
class Lot:
    """The calls that wait."""

    clock: Clock
    calls: list[WaitingCall] = field(default_factory=list)
    tasks: Background = field(default_factory=Background)

    def by_key(self, key: str) -> WaitingCall | None:
        """The same call by the same caller, if it is waiting for a person or has not told its end."""
        self._forget_old()
        return next((one for one in self.calls if one.key == key and one.is_joined), None)

    def by_state(self, state: str) -> WaitingCall | None:
        self._forget_old()
        return next((one for one in self.calls if one.is_token(state)), None)

    def by_task(self, task_id: str, owner: str) -> WaitingCall | None:
        """For nobody but who called."""
        self._forget_old()
        found = (
            one
            for one in self.calls
            if one.task_id is not None and hmac.compare_digest(one.task_id.encode(), task_id.encode())
        )
        call = next(found, None)
        return call if call is not None and call.owner == owner else None

    def has_room(self) -> bool:
        """For one more task: none is forgotten before its time to make it."""
        return sum(one.task_id is not None for one in self.calls) < MOST_TASKS

    def add(self, call: WaitingCall) -> None:
        self._forget_old()
        waiting = sum(bool(one.questions.all) and not one.is_told for one in self.calls)
        if waiting >= MOST_WAITING:
            call.task.cancel()
            raise ActionRejected(
                f"{waiting} calls wait for a person already",
                hint="Answer some of them: `handrail approvals` lists what is asked.",
            )
        self.calls.append(call)

    def remove(self, call: WaitingCall) -> None:
        if call in self.calls:
            self.calls.remove(call)

    def _forget_old(self) -> None:
        now = self.clock.monotonic_ms()
        for one in list(self.calls):
            if one.task.done():
                one.ended_ms = now if one.ended_ms is None else one.ended_ms
                if one.attended == 0 and now - one.ended_ms > KEPT_MS and self._is_over(one):
                    self.calls.remove(one)

    def _is_over(self, call: WaitingCall) -> bool:
        return call.task_id is None or self.clock.now_ms() - call.began_ms > TASK_TTL_MS

    async def close(self) -> None:
        """End everything that waits: its questions are withdrawn, its envelopes journalled."""
        await self.tasks.close()
        self.calls.clear()
