"""One service on a direct connection: flow control and the end of it. Knows no handshake and no sockets.

`ByteQueue` keeps what has arrived and was not read yet; the adb server's sockets use it too.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from handrail.adb.wire import Command
from handrail.errors import AdbCommandError, AdbConnectionError

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
        self._closed = False
        self._error: Exception | None = None
        self._writing = asyncio.Lock()
        self._credit = asyncio.Event()
        """Set when the device has taken the last WRTE, and when no WRTE will go any more."""

    # the user's side

    async def read(self) -> bytes:
        data = await self._inbox.get()
        if self._owed:
            self.answer()
        return data

    async def write(self, data: bytes) -> None:
        """All of it, or an error. Several writers get their turns in the order in which they came."""
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
        """An OKAY: the first one takes the stream, every one lets the next WRTE go."""
        self.remote = self.remote or remote
        if not self.taken.done():
            self.taken.set_result(None)
        self._credit.set()

    def deliver(self, data: bytes) -> None:
        """A WRTE. It is answered when it is known whether the stream goes on.

        A device that writes on while its OKAY is withheld would fill the memory: it is cut off.
        """
        if self._owed and self._inbox.size > UNREAD_MAX:
            self._carrier.send(Command.CLSE, self.local, self.remote)
            self.hang_up(_flood(self.service))
            return
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
        self._error = error
        self._carrier.forget(self)
        self._inbox.end(error)
        self._credit.set()


def _refused(service: str) -> AdbCommandError:
    return AdbCommandError(
        f"the device refused to open {service[:80]!r}",
        hint="Nothing on the phone serves it: check the service, or start what listens there.",
        command=service[:80],
        delivery="not_delivered",
    )


def _over(service: str) -> AdbCommandError:
    return AdbCommandError(
        f"the device closed {service[:80]!r} and takes no more input",
        hint="Read what it said before it closed.",
        command=service[:80],
        delivery="unknown",
    )


def _flood(service: str) -> AdbConnectionError:
    return AdbConnectionError(
        f"the device sends more of {service[:80]!r} than was asked for",
        hint="What listens there breaks adb's rules: reconnect the phone.",
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
        """Nothing follows; what is there can still be read, then `error` is raised."""
        if not self.ended:
            self.ended = True
            self._error = error
            self._news.set()

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
            self._news.clear()
            await self._news.wait()
        data = self._parts.popleft()
        self.size -= len(data)
        return data
