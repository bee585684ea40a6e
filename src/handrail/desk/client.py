"""One browser's way to its frames: a cursor in the shared ring, a few frames of its own, the newest picture.

Nothing waits for it: it holds no queue that could grow, and one that falls behind gets a snapshot instead.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from handrail.desk.ring import Ring
from handrail.desk.state import FIRST_MONITOR

MOST_BEHIND = 500
"""Frames; further back a snapshot is less to send than what was missed."""
MOST_OWN = 200


class Source(Protocol):
    """What a client asks of its hub."""

    ring: Ring

    def snapshot_frame(self) -> str: ...

    def leave(self, client: Client) -> None: ...


class Client:
    """An async iterator over text frames (str) and pictures (bytes), until it is closed."""

    def __init__(self, client_id: str, source: Source, since: int | None) -> None:
        self.id = client_id
        self.monitor = FIRST_MONITOR
        self.draws = False
        """Told its viewport: a browser, and not a program that only follows."""
        self.touched = 0
        """When its person last did something here, as a count over all clients: the highest is in use."""
        self._source = source
        self._joined = source.ring.last
        self._next: int | None = None if since is None else since + 1
        self._own: deque[tuple[int, str]] = deque(maxlen=MOST_OWN)
        self._pictures: dict[str, bytes] = {}
        self._wake = asyncio.Event()
        self._wake.set()
        self._closed = False

    @property
    def focused(self) -> bool:
        """Ever used by its person."""
        return self.touched > 0

    @property
    def is_closed(self) -> bool:
        return self._closed

    def __aiter__(self) -> Client:
        return self

    async def __anext__(self) -> str | bytes:
        while True:
            if self._closed:
                raise StopAsyncIteration
            frame = self._ready()
            if frame is not None:
                return frame
            self._wake.clear()
            await self._wake.wait()

    def wake(self) -> None:
        self._wake.set()

    def send(self, frame: str) -> None:
        """A frame for this browser alone, after everything that was told to all so far."""
        self._own.append((self._source.ring.last, frame))
        self._wake.set()

    def offer_binary(self, picture: bytes, key: str = "") -> None:
        """A picture of `key`; one that was not fetched yet is replaced."""
        self._pictures[key] = picture
        self._wake.set()

    def close(self) -> None:
        """The iterator ends; what waits for an answer of this browser is told."""
        if not self._closed:
            self._closed = True
            self._wake.set()
            self._source.leave(self)

    def _ready(self) -> str | bytes | None:
        ring = self._source.ring
        if self._next is None or self._is_lost(ring, self._next - 1):
            frame = self._source.snapshot_frame()
            self._next = ring.last + 1
            return frame
        if self._own and self._own[0][0] < self._next:
            return self._own.popleft()[1]
        if self._next <= ring.last:
            self._next += 1
            return ring.get(self._next - 1)
        if self._pictures:
            return self._pictures.pop(next(iter(self._pictures)))
        return None

    def _is_lost(self, ring: Ring, sent: int) -> bool:
        """Out of the ring, or too far behind; what was missed before it joined does not count as slowness."""
        return not ring.covers(sent) or ring.last - max(sent, self._joined) > MOST_BEHIND
