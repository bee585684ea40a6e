"""Time that passes when nothing else can happen: a loop that would wait lets its clock's next sleeper wake.

For programs whose whole world is in this process, such as simulated phones. No step of theirs really waits,
and the same steps take the same time in every run. Work for threads is done at once, in the loop's thread.
"""

from __future__ import annotations

import asyncio
import heapq
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple, Unpack

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

START_MS = 1_710_000_000_000


class VirtualClock:
    """A `Clock` that a `VirtualLoop` moves on."""

    def __init__(self, now_ms: int = START_MS, timer: str = "virtual") -> None:
        self.timer = timer
        self._start_ms = now_ms
        self._passed_ms = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now_ms(self) -> int:
        return self._start_ms + int(self._passed_ms)

    def monotonic_ms(self) -> float:
        return self._passed_ms

    async def sleep_ms(self, duration_ms: float) -> None:
        self._count += 1
        woken = asyncio.get_running_loop().create_future()
        until = self._passed_ms + max(0.0, duration_ms)
        heapq.heappush(self._sleepers, (until, self._count, woken))
        await woken

    def move_on(self) -> bool:
        """To the next moment that somebody waits for; False where nobody does."""
        while self._sleepers:
            until, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                self._passed_ms = until
                woken.set_result(None)
                return True
        return False


class _IdleSelector(selectors.BaseSelector):
    """Asks `idle` before it waits."""

    def __init__(self, idle: Callable[[], bool]) -> None:
        self._inner = selectors.DefaultSelector()
        self._idle = idle

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._inner.select(0)
        if ready or timeout == 0 or self._idle():
            return ready
        return self._inner.select(timeout)

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._inner.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.modify(fileobj, events, data)

    def get_map(self) -> Any:
        return self._inner.get_map()

    def close(self) -> None:
        self._inner.close()


class VirtualLoop(asyncio.SelectorEventLoop):
    """Moves one clock at a time: whoever sleeps by another one sleeps on."""

    def __init__(self) -> None:
        self.clock: VirtualClock | None = None
        super().__init__(_IdleSelector(self._move_on))

    def _move_on(self) -> bool:
        return self.clock is not None and self.clock.move_on()

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        del executor  # a thread's pace is not ours
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done
