"""Actions under way: whose turn it is, how each is stopped, and that each tells its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from handrail.errors import HandrailError

T = TypeVar("T")
Work = asyncio.Task[HandrailError | None]
"""What is done; its failure, if it failed."""


class Queue:
    """Two tasks for every action: one does it and can be stopped, the other tells how it ended and can't."""

    def __init__(self) -> None:
        self._queue: dict[asyncio.Task[Any], tuple[Work, Turn | None]] = {}

    def __len__(self) -> int:
        return len(self._queue)

    async def fly(
        self,
        name: str,
        work: Coroutine[Any, Any, HandrailError | None],
        land: Callable[[Work], Coroutine[Any, Any, T]],
        turn: Turn | None = None,
    ) -> T:
        """A caller that goes away stops the work; `land` waits for its end and tells it all the same."""
        task: Work = asyncio.create_task(work, name=name)
        flight = asyncio.create_task(land(task), name=f"end of {name}")
        self._queue[flight] = task, turn
        flight.add_done_callback(self._queue.pop)
        try:
            return await asyncio.shield(flight)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({flight})
            raise

    async def stop(self) -> int:
        """End everything under way; how much that was."""
        return await self._end(list(self._queue), "")

    async def stop_those_that_act(self, why: str) -> int:
        """End what has its turn, and leave alone what waits for one or for a person's answer."""
        acting = [flight for flight, (_, turn) in self._queue.items() if turn is not None and turn.is_mine]
        return await self._end(acting, why)

    async def _end(self, flights: list[asyncio.Task[Any]], why: str) -> int:
        for flight in flights:
            self._queue[flight][0].cancel(why or None)
        if flights:
            await asyncio.wait(flights)
        return len(flights)


class Turn:
    """One action's place in the queue of a session."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self._mine = False

    @property
    def is_mine(self) -> bool:
        """True while everybody else waits for this action."""
        return self._mine

    async def take(self) -> None:
        """Wait for it. Refused to one who has it: it would wait for itself."""
        if self._mine:
            raise RuntimeError("this action has its turn already")
        await self._lock.acquire()
        self._mine = True

    def give(self) -> None:
        """To the next one; as often as one likes."""
        if self._mine:
            self._mine = False
            self._lock.release()

    @asynccontextmanager
    async def yielded(self) -> AsyncIterator[None]:
        """Others may act while a person thinks; a failure in here leaves the turn with them."""
        self.give()
        yield
        await self.take()
