"""A limit of time around a block, on an injected clock."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import cast

from handrail.clock import Clock, SystemClock


class Expired(Exception):
    """The block did not end in time. Whoever set the limit turns it into an error with a name."""


class Deadline:
    """`async with Deadline(clock, ms):` interrupts the block after `ms` and raises `Expired` from it.

    A cancellation from outside wins over the limit: it is passed on.
    """

    def __init__(self, clock: Clock, duration_ms: float) -> None:
        self._clock = clock
        self._duration_ms = duration_ms
        self._struck = False

    async def __aenter__(self) -> None:
        self._task = cast("asyncio.Task[object]", asyncio.current_task())
        self._cancelling = self._task.cancelling()
        self._timer = self._start()

    def _start(self) -> asyncio.TimerHandle | asyncio.Task[None]:
        """The loop's own timer for the loop's own time: a task for each command costs a tenth of it."""
        if isinstance(self._clock, SystemClock):
            loop = asyncio.get_running_loop()
            return loop.call_later(max(0.0, self._duration_ms) / 1000, self._strike)
        return asyncio.ensure_future(self._sleep())

    async def _sleep(self) -> None:
        await self._clock.sleep_ms(self._duration_ms)
        self._strike()

    def _strike(self) -> None:
        self._struck = True
        self._task.cancel()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._struck and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise Expired from error
