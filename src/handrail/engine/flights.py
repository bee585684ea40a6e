"""Actions under way: each can be stopped, and each tells its end whatever happens to whoever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from handrail.errors import HandrailError

T = TypeVar("T")
Work = asyncio.Task[HandrailError | None]
"""What is done; its failure, if it failed."""


class Flights:
    """Two tasks for every action: one does it and can be stopped, the other tells how it ended and can't."""

    def __init__(self) -> None:
        self._flights: dict[asyncio.Task[Any], Work] = {}

    def __len__(self) -> int:
        return len(self._flights)

    async def fly(
        self,
        name: str,
        work: Coroutine[Any, Any, HandrailError | None],
        land: Callable[[Work], Coroutine[Any, Any, T]],
    ) -> T:
        """A caller that goes away stops the work; `land` waits for its end and tells it all the same."""
        task: Work = asyncio.create_task(work, name=name)
        flight = asyncio.create_task(land(task), name=f"end of {name}")
        self._flights[flight] = task
        flight.add_done_callback(self._flights.pop)
        try:
            return await asyncio.shield(flight)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({flight})
            raise

    async def stop(self) -> int:
        """End everything under way; how much that was."""
        flights = dict(self._flights)
        for work in flights.values():
            work.cancel()
        if flights:
            await asyncio.wait(flights)
        return len(flights)
