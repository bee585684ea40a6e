"""The queue of a session's actions: whose turn it is, and how each is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from handrail.errors import HandrailError

T = TypeVar("T")
Work = asyncio.Task[HandrailError | None]
"""Returns the failure of the action, if any."""


class ActionQueue:
    """Runs each action in two tasks: one does the work and can be cancelled, the other reports its end and
    can't."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Task[Any], tuple[Work, Turn | None]] = {}

    def __len__(self) -> int:
        return len(self._running)

    async def run(
        self,
        name: str,
        work: Coroutine[Any, Any, HandrailError | None],
        finish: Callable[[Work], Coroutine[Any, Any, T]],
        turn: Turn | None = None,
    ) -> T:
        """Runs `work`. A cancelled caller cancels it; `finish` waits for its end and always reports it."""
        task: Work = asyncio.create_task(work, name=name)
        end = asyncio.create_task(finish(task), name=f"end of {name}")
        self._running[end] = task, turn
        end.add_done_callback(self._running.pop)
        try:
            return await asyncio.shield(end)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({end})
            raise

    async def stop(self) -> int:
        """Stops all actions and returns their number."""
        return await self._end(list(self._running), "")

    async def stop_active(self, why: str) -> int:
        """Stops the actions that hold the turn, not those that wait for it or for a person."""
        acting = [end for end, (_, turn) in self._running.items() if turn is not None and turn.is_held]
        return await self._end(acting, why)

    async def _end(self, ends: list[asyncio.Task[Any]], why: str) -> int:
        for end in ends:
            self._running[end][0].cancel(why or None)
        if ends:
            await asyncio.wait(ends)
        return len(ends)


class Turn:
    """One action's place in the queue of its session."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self.is_held = False

    async def acquire(self) -> None:
        """Waits for the turn. Raises if this action has it already, since it would deadlock."""
        if self.is_held:
            raise RuntimeError("this action already has its turn")
        await self._lock.acquire()
        self.is_held = True

    def release(self) -> None:
        """May be called repeatedly."""
        if self.is_held:
            self.is_held = False
            self._lock.release()

    @asynccontextmanager
    async def released(self) -> AsyncIterator[None]:
        """Lets others act while a person is asked. If the block fails the turn is not taken back."""
        self.release()
        yield
        await self.acquire()
