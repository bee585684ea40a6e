"""A two-way byte stream between a service inside the phone and its client. It knows no protocol."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from handrail_sim.waiting import Background

PIPE_SIZE = 65536
"""Bytes that may lie unread between two ends before the writer waits, as in a Linux pipe."""


class Stream(Protocol):
    """One end. `read` gives b"" when the other side has ended; `write` raises BrokenPipeError then."""

    async def read(self) -> bytes:
        """What is there, or the next that comes."""

    async def write(self, data: bytes) -> None:
        """Hand data over; waits while the other side is slow."""

    def close(self) -> None: ...


SHELL_UID = 2000


def peer_uid(stream: Stream) -> int:
    """Whose process the kernel names at the other end (SO_PEERCRED). What comes by adb is the shell's."""
    return stream.uid if isinstance(stream, End) else SHELL_UID


class End:
    """One end of a stream inside the phone; `uid` is the user of the process at the other one."""

    def __init__(self, uid: int = SHELL_UID) -> None:
        self.uid = uid
        self._parts: deque[bytes] = deque()
        self._size = 0
        self._ended = False
        self._changed = asyncio.Event()
        self._peer: End = self

    async def read(self) -> bytes:
        while not self._parts:
            if self._ended:
                return b""
            await self._wait()
        data = self._parts.popleft()
        self._size -= len(data)
        self._changed.set()
        return data

    async def write(self, data: bytes) -> None:
        await self._peer.receive(data)

    async def receive(self, data: bytes) -> None:
        if self._ended:
            raise BrokenPipeError
        if data:
            self._parts.append(data)
            self._size += len(data)
            self._changed.set()
        while self._size > PIPE_SIZE and not self._ended:
            await self._wait()

    def close(self) -> None:
        """Ends both directions; what was written before can still be read by the other side."""
        self.end()
        self._peer.end()
        self._parts.clear()
        self._size = 0

    def end(self) -> None:
        self._ended = True
        self._changed.set()

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()


def pair(uid: int = SHELL_UID) -> tuple[End, End]:
    """Two ends of one stream inside the phone; the process at the first is `uid`'s."""
    end, other = End(), End(uid)
    end._peer, other._peer = other, end
    return end, other


async def join(stream: Stream, other: Stream) -> None:
    """Carry bytes both ways until either side ends, then close both."""
    try:
        async with Background() as ways:
            ways.start(_carry(stream, other), "bytes one way")
            ways.start(_carry(other, stream), "bytes the other way")
            await ways.wait()
    finally:
        stream.close()
        other.close()


async def _carry(source: Stream, target: Stream) -> None:
    try:
        while data := await source.read():
            await target.write(data)
    except BrokenPipeError:
        pass
    finally:
        source.close()
        target.close()


class Reader:
    """Exact numbers of bytes from a stream that gives what it has."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._held = bytearray()

    async def exactly(self, size: int) -> bytes:
        """`size` bytes; EOFError when the stream ends before."""
        while len(self._held) < size:
            data = await self._stream.read()
            if not data:
                raise EOFError
            self._held += data
        data = bytes(memoryview(self._held)[:size])
        del self._held[:size]
        return data
