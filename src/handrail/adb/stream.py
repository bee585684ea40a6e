"""One service on a direct connection: flow control and its end.

`ByteQueue` holds unread data; the adb server's sockets use it too.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from handrail.adb.wire import Command
from handrail.errors import AdbCommandError, AdbConnectionError

UNREAD_MAX = 256 << 10
"""With more unread bytes the device gets no OKAY, which bounds memory."""
WRITE_SIZE = 256 << 10
"""Largest WRTE, so that streams share the connection."""


class Carrier(Protocol):
    """The part of a connection that a stream needs."""

    max_payload: int

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None: ...

    def answer_soon(self, stream: DirectStream) -> None:
        """Calls the stream's `answer` after all data of the current packets was handled."""

    def forget(self, stream: DirectStream) -> None: ...


class DirectStream:
    """A stream that this side opened. `remote` is 0 until the device has accepted it."""

    def __init__(self, carrier: Carrier, local: int, service: str) -> None:
        self.local = local
        self.remote = 0
        self.service = service
        self.taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._carrier = carrier
        self._inbox = ByteQueue()
        self._owed = False
        self._closed = False
        self._error: Exception | None = None
        self._writing = asyncio.Lock()
        self._credit = asyncio.Event()
        """Set when the device has taken the last WRTE, and when no WRTE will follow."""

    # the user's side

    async def read(self) -> bytes:
        data = await self._inbox.get()
        if self._owed:
            self.answer()
        return data

    async def write(self, data: bytes) -> None:
        """All of it, or an error. Concurrent writers are served in order."""
        view = memoryview(data)
        step = min(self._carrier.max_payload, WRITE_SIZE)
        async with self._writing:
            for at in range(0, len(view), step):
                await self._credit.wait()
                if self._closed:
                    raise self._error or _over(self.service)
                self._credit.clear()
                self._carrier.send(Command.WRTE, self.local, self.remote, bytes(view[at : at + step]))

    async def close(self) -> None:
        if not self._closed:
            self._carrier.send(Command.CLSE, self.local, self.remote)
            self._finish(None)
        self._inbox.drop()

    # the connection's side

    def acknowledge(self, remote: int) -> None:
        """The first OKAY accepts the stream, each one allows the next WRTE."""
        self.remote = self.remote or remote
        if not self.taken.done():
            self.taken.set_result(None)
        self._credit.set()

    def deliver(self, data: bytes) -> None:
        """Handles a WRTE; it is answered once it is known whether the stream goes on.

        A device that keeps writing without an OKAY would fill the memory, so it is cut off.
        """
        if self._owed and self._inbox.size > UNREAD_MAX:
            self._carrier.send(Command.CLSE, self.local, self.remote)
            self.hang_up(
                AdbConnectionError(
                    f"the device sends more of {self.service[:80]!r} than was asked for",
                    hint="What listens there breaks adb's rules: reconnect the phone.",
                    delivery="unknown",
                )
            )
            return
        self._inbox.put(data)
        self._owed = True
        self._carrier.answer_soon(self)

    def answer(self) -> None:
        """Sends the OKAY for a WRTE, unless too much is unread."""
        if self._owed and not self._closed and self._inbox.size <= UNREAD_MAX:
            self._owed = False
            self._carrier.send(Command.OKAY, self.local, self.remote)

    def hang_up(self, error: Exception | None = None) -> None:
        """The device closed the stream, or the connection broke with `error`."""
        if not self.taken.done():
            self.taken.set_exception(
                error
                or AdbCommandError(
                    f"the device refused to open {self.service[:80]!r}",
                    hint="Nothing on the phone serves it: check the service, or start what listens there.",
                    command=self.service[:80],
                    delivery="not_delivered",
                )
            )
            self.taken.exception()  # marks it as retrieved: the caller may have been cancelled
        self._finish(error)

    def _finish(self, error: Exception | None) -> None:
        self._closed = True
        self._error = error
        self._carrier.forget(self)
        self._inbox.end(error)
        self._credit.set()


def _over(service: str) -> AdbCommandError:
    return AdbCommandError(
        f"the device closed {service[:80]!r} and accepts no more input",
        hint="Read its output from before it closed.",
        command=service[:80],
        delivery="unknown",
    )


class ByteQueue:
    """A queue of bytes with an end."""

    __slots__ = ("_error", "_news", "_parts", "ended", "size")

    def __init__(self) -> None:
        self.size = 0
        self.ended = False
        self._parts: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._error: Exception | None = None

    def put(self, data: bytes) -> None:
        if data and not self.ended:
            self._parts.append(data)
            self.size += len(data)
            self._news.set()

    def end(self, error: Exception | None = None) -> None:
        """What is queued can still be read, then `error` is raised."""
        if not self.ended:
            self.ended = True
            self._error = error
            self._news.set()

    def drop(self) -> None:
        self._parts.clear()
        self.size = 0

    async def get(self) -> bytes:
        """The next part; b"" at the end."""
        while not self._parts:
            if self._error is not None:
                raise self._error
            if self.ended:
                return b""
            self._news.clear()
            await self._news.wait()
        data = self._parts.popleft()
        self.size -= len(data)
        return data
