"""One alarm for everything that ends by itself: it rings at the earliest moment, and is set anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from handrail.clock import Clock


class Alarm:
    """Calls `ring` once a moment is reached; `ring` says when to call next."""

    def __init__(self, clock: Clock, ring: Callable[[], int | None]) -> None:
        self._clock = clock
        self._ring = ring
        self._at_ms: int | None = None
        self._task: asyncio.Task[None] | None = None

    def set(self, at_ms: int | None) -> None:
        """No later than this; an alarm that is set to an earlier moment stays."""
        if at_ms is None or (self._at_ms is not None and self._at_ms <= at_ms):
            return
        self.cancel()
        self._at_ms = at_ms
        self._task = asyncio.ensure_future(self._run())

    def cancel(self) -> None:
        self._at_ms = None
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        while self._at_ms is not None:
            await self._clock.sleep_ms(self._at_ms - self._clock.now_ms())
            self._at_ms = self._ring() if self._clock.now_ms() >= self._at_ms else self._at_ms
        self._task = None
