"""Bytes that have arrived and that nobody has read yet. Knows no sockets."""

from __future__ import annotations

import asyncio
from collections import deque


class Inbox:
    """A queue of bytes with an end. One reader at a time."""

    __slots__ = ("_error", "_parts", "_waiter", "ended", "size")

    def __init__(self) -> None:
        self.size = 0
        self.ended = False
        self._parts: deque[bytes] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._error: Exception | None = None

    def put(self, data: bytes) -> None:
        if data and not self.ended:
            self._parts.append(data)
            self.size += len(data)
            self._wake()

    def end(self, error: Exception | None = None) -> None:
        """Nothing follows; what is there can still be read, then `error` is raised."""
        if not self.ended:
            self.ended = True
            self._error = error
            self._wake()

    def drop(self) -> None:
        """Nobody will read what is left."""
        self._parts.clear()
        self.size = 0

    async def get(self) -> bytes:
        """The next part; b"" at the end."""
        while not self._parts:
            if self._error is not None:
                raise self._error
            if self.ended:
                return b""
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        data = self._parts.popleft()
        self.size -= len(data)
        return data

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
