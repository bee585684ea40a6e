"""Byte streams between commands: what a shell reads from and writes to. Knows no command and no phone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

CHUNK = 65536
PIPE_SIZE = 65536


BrokenPipe = BrokenPipeError
"""What writing raises after the reader is closed: SIGPIPE."""


class Source(Protocol):
    """Where bytes come from: at most `n` of them, b"" at the end. `asyncio.StreamReader` is one."""

    async def read(self, n: int = -1, /) -> bytes: ...


class Sink(Protocol):
    """Where bytes go; `write` waits while the other side is slow, BrokenPipeError when it is gone."""

    async def write(self, data: bytes, /) -> None: ...


class Nothing:
    """/dev/null: empty to read, and swallows what is written."""

    async def read(self, n: int = -1, /) -> bytes:  # noqa: ARG002 - the protocol's parameter
        return b""

    async def write(self, data: bytes, /) -> None:
        pass


class Bytes:
    """A source with known content."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    async def read(self, n: int = -1, /) -> bytes:
        start = self._at
        self._at = len(self._data) if n < 0 else min(len(self._data), start + n)
        return self._data[start : self._at]


class BufferSink:
    """A sink that keeps what it gets, up to a limit; more than that is dropped."""

    def __init__(self, limit: int = 1 << 26) -> None:
        self._parts: list[bytes] = []
        self._room = limit

    async def write(self, data: bytes, /) -> None:
        saved = data[: self._room]
        self._room -= len(saved)
        self._parts.append(saved)

    def value(self) -> bytes:
        return b"".join(self._parts)


class FunctionSink:
    """A sink over a function, as adbd hands them in."""

    def __init__(self, send: Callable[[bytes], Awaitable[None]]) -> None:
        self._send = send

    async def write(self, data: bytes, /) -> None:
        await self._send(data)


class Pipe:
    """A bounded pipe: the writer waits when 64 KiB are unread, and breaks when the reader has left."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._ended = False
        self._broken = False
        self._moved = asyncio.Event()

    async def write(self, data: bytes, /) -> None:
        view = memoryview(data)
        while view:
            if self._broken:
                raise BrokenPipeError
            room = PIPE_SIZE - len(self._held)
            if room <= 0:
                await self._wait()
                continue
            self._held += view[:room]
            view = view[room:]
            self._moved.set()
        if self._broken:
            raise BrokenPipeError

    async def read(self, n: int = -1, /) -> bytes:
        while not self._held and not self._ended:
            await self._wait()
        data = bytes(self._held if n < 0 else self._held[:n])
        del self._held[: len(data)]
        self._moved.set()
        return data

    async def _wait(self) -> None:
        self._moved.clear()
        await self._moved.wait()

    def end(self) -> None:
        self._ended = True
        self._moved.set()

    def leave(self) -> None:
        self._broken = True
        self._held.clear()
        self._moved.set()


@dataclass(slots=True)
class ShellIO:
    """The three streams of a shell, and whether a terminal is behind them."""

    stdin: Source
    out: Callable[[bytes], Awaitable[None]]
    err: Callable[[bytes], Awaitable[None]]
    tty: bool = False


@dataclass(slots=True)
class Streams:
    """File descriptors 0, 1 and 2, and whatever else a redirection opened."""

    stdin: Source
    stdout: Sink
    stderr: Sink
    more: dict[int, Sink] = field(default_factory=dict)


async def read_all(source: Source) -> bytes:
    """Everything until the end."""
    parts: list[bytes] = []
    while part := await source.read(CHUNK):
        parts.append(part)
    return b"".join(parts)
