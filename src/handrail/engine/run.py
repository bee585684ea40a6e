"""One action on its way: what is known of it so far. The pipe in `lifecycle` moves it, `execute` fills it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from handrail.clock import Clock
from handrail.engine.caller import Caller
from handrail.engine.resolve import Aim
from handrail.engine.sight import Seen
from handrail.engine.verify import Proof
from handrail.errors import HandrailError
from handrail.protocol.act import Settle
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import (
    Approval,
    Delivery,
    Lifecycle,
    LifecycleEvent,
    LifecycleState,
    SettleReport,
    Verification,
)
from handrail.tree.diff import Diff


@dataclass(slots=True)
class Outcome:
    """What an executed action leaves for the pipe: a proof to look for, or an answer that needs none."""

    proof: Proof | None = None
    details: dict[str, Any] = field(default_factory=dict)
    verification: Verification | None = None
    """Set when the action has verified itself."""
    failure: HandrailError | None = None
    """Delivered and not as it should be; told after the screen was observed."""
    settle: Settle | None = None
    """Overrides how long the screen is watched: what a loop has watched itself needs no more."""


@dataclass(slots=True)
class Run:
    """The record of one action."""

    id: str
    action: AnyAction
    caller: Caller
    clock: Clock
    life: Lifecycle
    announce: Callable[[Run, LifecycleEvent], None]
    settle: Settle
    started_ms: float
    may_dispatch: Callable[[], Awaitable[None]]
    """Raises `DeviceBusy` when somebody else has the device."""
    delivery: Delivery = "not_delivered"
    aims: dict[str, Aim] = field(default_factory=dict)
    before: Seen | None = None
    after: Seen | None = None
    revision_before: str | None = None
    revision_after: str | None = None
    changes: Diff | None = None
    settled: SettleReport | None = None
    verification: Verification | None = None
    approval: Approval | None = None
    details: dict[str, Any] = field(default_factory=dict)
    diagnostics: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    blobs: dict[str, str] = field(default_factory=dict)
    portraits: dict[str, Any] = field(default_factory=dict)
    """What recordings need to name the touched elements later, by the action's field."""
    untold: list[LifecycleEvent] = field(default_factory=list)
    """Events that the journal has not heard of yet."""

    def advance(self, state: LifecycleState) -> None:
        """One step in the action's life; an illegal one raises."""
        self.life = self.life.advance(state, self.clock.now_ms())
        self.announce(self, self.life.events[-1])

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Adds what happens inside to the timings."""
        began = self.clock.monotonic_ms()
        try:
            yield
        finally:
            took = self.clock.monotonic_ms() - began
            self.timings[name] = self.timings.get(name, 0.0) + took

    @asynccontextmanager
    async def dispatching(self) -> AsyncIterator[None]:
        """Around everything that touches the device: from here on the delivery is in doubt until it ends."""
        await self.may_dispatch()
        if self.life.state == "resolved":
            self.advance("dispatched")
        earlier, self.delivery = self.delivery, "unknown"
        with self.phase("dispatch"):
            try:
                yield
            except HandrailError as error:
                told = error.details.pop("delivery", "unknown")
                self.delivery = earlier if told == "not_delivered" else "unknown"
                raise
        self.delivery = "delivered"
