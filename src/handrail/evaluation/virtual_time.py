"""Time that passes only when everybody waits for it: what takes seconds on a phone takes none here.

For models that are programs. While a thread works or a record is written, time stands still.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from typing import Any

from handrail.clock import ManualClock
from handrail.waiting import beside

BREATH_SEC = 0.0002
"""Between two looks at whether a thread is done."""


class VirtualTime:
    """Clocks of one event loop. Each goes on by itself: runs beside one another do not share their time."""

    def __init__(self) -> None:
        self._clocks: list[ManualClock] = []
        self._threads = 0
        self.busy: list[Callable[[], bool]] = []
        """Who else may be working out of the loop's sight."""

    def clock(self, now_ms: int) -> ManualClock:
        made = ManualClock(now_ms)
        self._clocks.append(made)
        return made

    def forget(self, clock: ManualClock) -> None:
        self._clocks.remove(clock)

    async def drive(self) -> None:
        """Until it is cancelled."""
        loop = asyncio.get_running_loop()
        loop.run_in_executor = self._counted(loop.run_in_executor)  # type: ignore[assignment]
        while True:
            moved = False
            for clock in list(self._clocks):
                if self._is_held():
                    break
                moved = await clock.advance_to_next(self._is_held) or moved
            await asyncio.sleep(0 if moved else BREATH_SEC)

    def _is_held(self) -> bool:
        return bool(self._threads) or any(is_busy() for is_busy in self.busy)

    def _counted(self, run: Callable[..., asyncio.Future[Any]]) -> Callable[..., asyncio.Future[Any]]:
        def counting(executor: Executor | None, work: Callable[..., Any], *given: Any) -> asyncio.Future[Any]:
            self._threads += 1
            future = run(executor, work, *given)
            future.add_done_callback(self._done)
            return future

        return counting

    def _done(self, _: asyncio.Future[Any]) -> None:
        self._threads -= 1


@asynccontextmanager
async def virtual_time() -> AsyncIterator[VirtualTime]:
    """For the length of a block."""
    time = VirtualTime()
    async with beside(time.drive(), "virtual time"):
        yield time
