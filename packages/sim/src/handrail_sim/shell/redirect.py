"""Redirections: files, devices and descriptors as sources and sinks. Knows no grammar."""

from __future__ import annotations

import posixpath
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from handrail_sim.disk.files import Files
from handrail_sim.shell.io import CHUNK, Bytes, Nothing, Sink, Source, Streams
from handrail_sim.shell.parse import Redirect
from handrail_sim.shell.session import Session

_DESCRIPTOR = re.compile(r"/dev/(?:fd/|std)(0|1|2|in|out|err)|/proc/self/fd/([012])")
WRITE_THROUGH = 1 << 16


class RedirectFailed(Exception):
    """A file could not be opened; the message is mksh's."""


class FileSink:
    """Writes to a file. Small ones are stored at every write; large ones when they doubled and at the end."""

    def __init__(self, files: Files, path: str, *, append: bool) -> None:
        self._files = files
        self._path = path
        self._data = bytearray(files.read(path) if append and files.exists(path) else b"")
        self._stored = len(self._data)
        files.write(path, bytes(self._data))

    async def write(self, data: bytes, /) -> None:
        self._data += data
        if len(self._data) < WRITE_THROUGH or len(self._data) > 2 * self._stored:
            self.store()

    def store(self) -> None:
        if self._stored != len(self._data):
            self._files.write(self._path, bytes(self._data))
            self._stored = len(self._data)


class Endless:
    """/dev/zero and /dev/urandom; the latter repeats with the phone's seed."""

    def __init__(self, session: Session, *, zero: bool) -> None:
        self._random = session.phone.random
        self._zero = zero

    async def read(self, n: int = -1, /) -> bytes:
        size = CHUNK if n < 0 else n
        return bytes(size) if self._zero else self._random.randbytes(size)


@asynccontextmanager
async def redirected(
    session: Session, streams: Streams, targets: list[tuple[Redirect, str]]
) -> AsyncIterator[Streams]:
    """The streams with these redirections, files stored when the block ends."""
    opened: list[FileSink] = []
    try:
        for redirect, target in targets:
            streams = _apply(session, streams, redirect, target, opened)
        yield streams
    finally:
        for file in opened:
            file.store()


def _apply(
    session: Session, streams: Streams, redirect: Redirect, target: str, opened: list[FileSink]
) -> Streams:
    if redirect.operator == "<<":
        return replace(streams, stdin=Bytes(target.encode("utf-8", "surrogateescape")))
    if redirect.operator in {">&", "<&"} and (target.isdigit() or target == "-"):
        return _set(streams, redirect.fd, _descriptor(streams, target))
    path = posixpath.join(session.cwd, target)
    if redirect.operator.startswith("<"):
        return replace(streams, stdin=open_source(session, path, streams))
    sink = open_sink(session, path, streams, append=redirect.operator == ">>")
    if isinstance(sink, FileSink):
        opened.append(sink)
    streams = _set(streams, redirect.fd, sink)
    return _set(streams, 2, sink) if redirect.operator == ">&" else streams


def _descriptor(streams: Streams, target: str) -> Sink | Source:
    if target == "-":
        return Nothing()
    existing: dict[int, Sink | Source] = {
        0: streams.stdin,
        1: streams.stdout,
        2: streams.stderr,
        **streams.more,
    }
    if int(target) not in existing:
        raise RedirectFailed(f"{target}: bad file descriptor")
    return existing[int(target)]


def _set(streams: Streams, fd: int, end: Sink | Source) -> Streams:
    if fd == 0:
        return replace(streams, stdin=end)  # type: ignore[arg-type] # 0<&N: N was opened for reading
    if fd == 1:
        return replace(streams, stdout=end)  # type: ignore[arg-type]
    if fd == 2:
        return replace(streams, stderr=end)  # type: ignore[arg-type]
    return replace(streams, more={**streams.more, fd: end})  # type: ignore[dict-item]


def open_source(session: Session, path: str, streams: Streams) -> Source:
    if path in {"/dev/zero", "/dev/urandom", "/dev/random"}:
        return Endless(session, zero=path == "/dev/zero")
    if path in {"/dev/null", "/dev/tty"}:
        return Nothing() if path == "/dev/null" else streams.stdin
    match = _DESCRIPTOR.fullmatch(path)
    if match and (match[1] or match[2]) in {"0", "in"}:
        return streams.stdin
    try:
        return Bytes(session.files.read(path))
    except OSError as problem:
        raise RedirectFailed(f"can't open {path}: {problem.strerror}") from None


def open_sink(session: Session, path: str, streams: Streams, *, append: bool = False) -> Sink:
    """A file or device to write to; a new file is there at once, even if nothing is ever written."""
    if path in {"/dev/null", "/dev/tty"}:
        return Nothing() if path == "/dev/null" else streams.stdout
    match = _DESCRIPTOR.fullmatch(path)
    if match and (match[1] or match[2]) not in {"0", "in"}:
        return streams.stderr if (match[1] or match[2]) in {"2", "err"} else streams.stdout
    try:
        return FileSink(session.files, path, append=append)
    except OSError as problem:
        raise RedirectFailed(f"can't create {path}: {problem.strerror}") from None
