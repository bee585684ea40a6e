"""One ADB stream: flow control and bounded queues. Knows packets and the link they go by, no service.

Each side may have one WRTE under way; the next goes out when the other side's OKAY is in.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

from handrail_sim.adbd.wire import Command
from handrail_sim.stream import PIPE_SIZE

WRITE_SIZE = 65536
"""Longest WRTE we send, so that a thousand streams nobody reads hold 64 MB at most."""
PART_COST = 64
"""What an unread part costs besides its bytes; a flood of one-byte WRTEs is counted for what it is."""


class Link(Protocol):
    """What a channel needs of its connection."""

    max_payload: int
    writable: bool

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None: ...

    def reserve(self, size: int) -> bool:
        """Take (or give back) memory for unread data; False when too much is held already."""

    def hold(self, size: int) -> None:
        """Count what waits to be sent, and what is sent or lost as negative."""

    def flush_soon(self, channel: Channel) -> None:
        """Call `flush` in the next turn of the loop, or when the peer reads again."""

    def forget(self, channel: Channel) -> None:
        """The channel is over."""


class Channel:
    """The phone's end of one stream; a `Stream` for the service behind it."""

    def __init__(self, link: Link, local: int, remote: int = 0) -> None:
        self.local = local
        self.remote = remote
        self.on_hang_up: Callable[[], object] | None = None
        self._link = link
        self._unread: deque[bytes] = deque()
        self._unread_size = 0
        self._owed = 0
        self._unsent: deque[memoryview] = deque()
        self._unsent_size = 0
        self._credit = remote != 0
        self._closing = False
        self._over = False
        self._awaited = False
        self._changed = asyncio.Event()

    # the service's side

    async def read(self) -> bytes:
        while not self._unread:
            if self._over or self._closing:
                return b""
            self._awaited = True
            await self._wait()
            self._awaited = False
        data = self._unread.popleft()
        self._release(len(data) + PART_COST)
        while self._owed and self._unread_size <= PIPE_SIZE and not self._over:
            self._owed -= 1
            self._link.send(Command.OKAY, self.local, self.remote)
        return data

    async def write(self, data: bytes) -> None:
        """Sent in the next turn of the loop: what a command writes in one go leaves in one packet."""
        if self._over or self._closing:
            raise BrokenPipeError
        if data:
            self._unsent.append(memoryview(data))
            self._unsent_size += len(data)
            self._link.hold(len(data))
            self._link.flush_soon(self)
        while self._unsent_size > PIPE_SIZE:
            await self._wait()
            if self._over:
                raise BrokenPipeError

    def close(self) -> None:
        """The service is done; what it wrote is sent before CLSE."""
        self._drop_unread()
        if not self._closing and not self._over:
            self._closing = True
            self._changed.set()
            self._link.flush_soon(self)

    def abort(self) -> None:
        """End at once, unsent data is lost: a stream reset."""
        self._drop_unread()
        if not self._over:
            if self.remote:
                self._link.send(Command.CLSE, self.local, self.remote)
            self._finish()

    # the connection's side

    def deliver(self, data: bytes) -> None:
        """A WRTE arrived. A peer that doesn't wait for OKAY loses the stream when its share is full."""
        size = len(data) + PART_COST
        too_much = self._unread_size > PIPE_SIZE + self._link.max_payload
        if too_much or not self._link.reserve(size):
            self.abort()
            return
        self._unread_size += size
        if data:
            self._unread.append(data)
        else:
            self._release(size)
        if self._unread_size <= PIPE_SIZE:
            self._link.send(Command.OKAY, self.local, self.remote)
        else:
            self._owed += 1
        self._changed.set()

    def acknowledge(self, remote: int) -> None:
        """An OKAY arrived; the first one of a stream that the phone opened tells the peer's id."""
        self.remote = self.remote or remote
        self._credit = True
        self._changed.set()
        self.flush()

    def hang_up(self) -> None:
        """The peer closed the stream, or the connection is lost; what it sent can still be read."""
        if not self._over:
            then = self.on_hang_up
            self._finish()
            if then is not None:
                then()

    @property
    def over(self) -> bool:
        return self._over

    @property
    def reading(self) -> bool:
        """Whether the service waits for data, or has some left to read."""
        return self._awaited or bool(self._unread)

    async def opened(self) -> bool:
        """For streams that the phone opened: whether the peer took it."""
        while not self.remote and not self._over:
            await self._wait()
        return not self._over

    def flush(self) -> None:
        """Send what may be sent now."""
        if self._over:
            return
        if not self._link.writable:
            self._link.flush_soon(self)
            return
        if self._unsent and self._credit:
            self._credit = False
            self._link.send(Command.WRTE, self.local, self.remote, self._next_payload())
            self._changed.set()
        if self._closing and not self._unsent:
            self.abort()

    # inside

    def _next_payload(self) -> bytes:
        """As much as fits into one WRTE, however it was written."""
        room = min(WRITE_SIZE, self._link.max_payload)
        parts: list[memoryview] = []
        while self._unsent and room:
            part = self._unsent.popleft()
            if len(part) > room:
                self._unsent.appendleft(part[room:])
                part = part[:room]
            parts.append(part)
            room -= len(part)
        payload = b"".join(parts)
        self._unsent_size -= len(payload)
        self._link.hold(-len(payload))
        return payload

    def _release(self, size: int) -> None:
        self._unread_size -= size
        self._link.reserve(-size)

    def _finish(self) -> None:
        self._over = True
        self.on_hang_up = None  # it holds this channel: without the circle both go at once
        self._unsent.clear()
        self._link.hold(-self._unsent_size)
        self._unsent_size = 0
        self._changed.set()
        self._link.forget(self)

    def _drop_unread(self) -> None:
        self._release(self._unread_size)
        self._unread.clear()

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()
