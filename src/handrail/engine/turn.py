"""Whose turn it is on one device: one action at a time, in order; a wait for a person yields it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


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
