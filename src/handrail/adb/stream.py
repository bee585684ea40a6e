"""One service on a direct connection: flow control and the end of it. Knows no handshake and no sockets."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from handrail.adb.wire import Command
from handrail.errors import AdbCommandError

UNREAD_MAX = 256 << 10
"""Unread bytes above which the device gets no OKAY: a reader that never reads fills no memory."""
WRITE_SIZE = 256 << 10
"""Most bytes of one WRTE, so that streams take turns on the connection."""


class Carrier(Protocol):
    """What a stream needs of its connection."""

    max_payload: int

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None: ...

    def answer_soon(self, stream: DirectStream) -> None:
        """Calls the stream's `answer` when all that came with a packet has been handled."""

    def forget(self, stream: DirectStream) -> None: ...


class DirectStream:
    """A stream that this side opened. `remote` is 0 until the device has taken it."""

    def __init__(self, carrier: Carrier, local: int, service: str) -> None:
        self.local = local
        self.remote = 0
        self.service = service
        self.taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._carrier = carrier
        self._inbox = ByteQueue()
        self._owed = False
        self._credit = False
        self._closed = False
        self._error: Exception | None = None
        self._credited: asyncio.Future[None] | None = None

    # the user's side

    async def read(self) -> bytes:
        data = await self._inbox.get()
        if self._owed:
            self.answer()
        return data

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        step = min(self._carrier.max_payload, WRITE_SIZE)
        for at in range(0, len(view), step):
            await self._may_write()
            self._credit = False
            self._carrier.send(Command.WRTE, self.local, self.remote, bytes(view[at : at + step]))

    async def close(self) -> None:
        if not self._closed:
            self._carrier.send(Command.CLSE, self.local, self.remote)
            self._finish(None)
        self._inbox.drop()

    async def _may_write(self) -> None:
        while not self._credit:
            if self._closed:
                raise self._error or AdbCommandError(
                    f"the device closed {self.service[:80]!r} and takes no more input",
                    hint="Read what it said before it closed.",
                    command=self.service[:80],
                    delivery="unknown",
                )
            self._credited = asyncio.get_running_loop().create_future()
            await self._credited

    # the connection's side

    def acknowledge(self, remote: int) -> None:
        """An OKAY: the first one takes the stream, every one lets the next WRTE go."""
        self.remote = self.remote or remote
        self._credit = True
        if not self.taken.done():
            self.taken.set_result(None)
        self._wake_writer()

    def deliver(self, data: bytes) -> None:
        """A WRTE. It is answered when it is known whether the stream goes on."""
        self._inbox.put(data)
        self._owed = True
        self._carrier.answer_soon(self)

    def answer(self) -> None:
        """The OKAY for a WRTE; it waits while too much lies unread."""
        if self._owed and not self._closed and self._inbox.size <= UNREAD_MAX:
            self._owed = False
            self._carrier.send(Command.OKAY, self.local, self.remote)

    def hang_up(self, error: Exception | None = None) -> None:
        """The device closed it, or the line broke with `error`."""
        if not self.taken.done():
            self.taken.set_exception(error or _refused(self.service))
            self.taken.exception()  # whoever opened it may have been cancelled
        self._finish(error)

    def _finish(self, error: Exception | None) -> None:
        self._closed = True
        self._credit = False
        self._error = error
        self._carrier.forget(self)
        self._inbox.end(error)
        self._wake_writer()

    def _wake_writer(self) -> None:
        if self._credited is not None and not self._credited.done():
            self._credited.set_result(None)


def _refused(service: str) -> AdbCommandError:
    return AdbCommandError(
        f"the device refused to open {service[:80]!r}",
        hint="Nothing on the phone serves it: check the service, or start what listens there.",
        command=service[:80],
        delivery="not_delivered",
    )


class ByteQueue:
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
