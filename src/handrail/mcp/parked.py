"""Calls that wait for a person longer than their request lived: found again by token, or by the same call.

An act that waits is never started a second time; what came of it is told once, then forgotten.
"""

from __future__ import annotations

import asyncio
import hmac
from contextvars import ContextVar
from dataclasses import dataclass, field

from handrail.clock import Clock
from handrail.engine.approval import Approval
from handrail.errors import ActionRejected
from handrail.mcp.answer import Answer
from handrail.mcp.progress import Ticker

MOST = 64
"""Calls that may wait at one time."""
KEPT_MS = 600_000.0
"""How long the outcome of a call that nobody came back for can still be asked for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, with the token that its answer has to bring."""

    approval: Approval
    token: str

    @property
    def state(self) -> str:
        """For the client to give back, unread."""
        return f"{self.approval.id}.{self.token}"


@dataclass(slots=True, eq=False)
class Waiting:
    """One call, in a task of its own."""

    key: str
    task: asyncio.Task[Answer]
    questions: asyncio.Queue[Asked]
    ticker: Ticker | None
    open: Asked | None = None
    """The last question that was asked."""
    attended: int = 0
    """Requests that wait for it now."""
    ended_ms: float | None = None

    def is_token(self, state: str) -> bool:
        return self.open is not None and hmac.compare_digest(self.open.state.encode(), state.encode())


QUESTIONS: ContextVar[asyncio.Queue[Asked] | None] = ContextVar("questions", default=None)
"""Set in a call's task and inherited by every task below it, the engine's included."""


@dataclass(slots=True)
class Lot:
    """The calls that wait."""

    clock: Clock
    calls: list[Waiting] = field(default_factory=list)

    def by_key(self, key: str) -> Waiting | None:
        """The same call by the same caller, if it is waiting for a person or has not told its end."""
        self._forget_old()
        return next((one for one in self.calls if one.key == key and one.open is not None), None)

    def by_state(self, state: str) -> Waiting | None:
        self._forget_old()
        return next((one for one in self.calls if one.is_token(state)), None)

    def add(self, call: Waiting) -> None:
        self._forget_old()
        if len(self.calls) >= MOST:
            call.task.cancel()
            raise ActionRejected(
                f"{len(self.calls)} calls are under way or wait for a person already",
                hint="Answer some of them: `handrail approvals` lists what is asked.",
            )
        self.calls.append(call)

    def remove(self, call: Waiting) -> None:
        if call in self.calls:
            self.calls.remove(call)

    def _forget_old(self) -> None:
        now = self.clock.monotonic_ms()
        for one in list(self.calls):
            if one.task.done():
                one.ended_ms = now if one.ended_ms is None else one.ended_ms
                if one.attended == 0 and now - one.ended_ms > KEPT_MS:
                    self.calls.remove(one)

    async def close(self) -> None:
        """End everything that waits: its questions are withdrawn, its envelopes journalled."""
        tasks = [one.task for one in self.calls]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self.calls.clear()
