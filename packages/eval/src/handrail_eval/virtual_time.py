"""Time that passes when nothing else can happen: a loop that would wait lets its clocks' next sleepers wake.

For programs whose whole world is in this process, such as simulated phones. No step of theirs really waits,
and the same steps take the same time in every run. Work for threads is done at once, in the loop's thread.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, TypeVar, TypeVarTuple, Unpack

from handrail_sim.clock import ManualClock

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class _IdleSelector(selectors.DefaultSelector):
    """Asks `idle` before it waits."""

    def __init__(self, idle: Callable[[], bool]) -> None:
        super().__init__()
        self._idle = idle

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0 or self._idle():
            return ready
        return super().select(timeout)


class VirtualLoop(asyncio.SelectorEventLoop):
    """Moves the clocks that are running, each by itself; without one it is a loop like any other."""

    def __init__(self) -> None:
        self._running: list[ManualClock] = []
        self.busy: list[Callable[[], bool]] = []
        """Who may be working out of the loop's sight, and will wake it: meanwhile time stands still."""
        super().__init__(_IdleSelector(self._move_on))

    @classmethod
    def current(cls) -> VirtualLoop:
        """The one that runs here."""
        loop = asyncio.get_running_loop()
        if not isinstance(loop, cls):
            raise RuntimeError("Time can't be virtual in this loop: run it with loop_factory=VirtualLoop")
        return loop

    @contextmanager
    def moving(self, clock: ManualClock) -> Iterator[None]:
        """Lets this clock advance by itself in a block. Sleeps on a clock that does not advance never end."""
        self._running.append(clock)
        try:
            yield
        finally:
            self._running.remove(clock)

    def _move_on(self) -> bool:
        if any(is_busy() for is_busy in self.busy):
            return False
        moved = [clock.wake_next() for clock in self._running]
        return any(moved)

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        if not self._running:
            return super().run_in_executor(executor, func, *args)
        done: asyncio.Future[T] = self.create_future()  # a thread's pace is not ours
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, in a loop whose clocks can be moved."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
