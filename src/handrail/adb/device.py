"""One device over its `Link`: shell, files and services.

Files go by `sync:`, streamed in blocks. Version 2 requests are used if the device offers them.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO

from handrail.adb import wire
from handrail.adb.link import Link, Stream
from handrail.adb.shell import DeviceShell
from handrail.clock import Clock, SystemClock
from handrail.errors import AdbCommandError, InvalidAction, Timeout
from handrail.waiting import Deadline, Expired

BLOCK = 4 * wire.SYNC_DATA_MAX
"""Bytes per read of the local file and per write to the stream."""
STALL_MS = 30_000
"""Time that the device may take for one step."""
REGULAR = 0o100000


class Files:
    """Files of one device, as the shell's user sees them."""

    def __init__(self, link: Link, clock: Clock, *, stall_ms: float = STALL_MS) -> None:
        self._link = link
        self._clock = clock
        self._stall_ms = stall_ms

    async def stat(self, remote: str) -> FileStat:
        """Follows links if the device can. Raises if nothing is there."""
        async with self._session(remote) as sync:
            return await sync.stat(remote)

    async def push(self, source: bytes | Path, remote: str, *, mode: int = 0o644) -> int:
        """Writes a file with this mode; its time is that of the local file, or now.

        Returns the bytes sent. The device refuses a folder as `remote`.
        """
        when = self._clock.now_ms() // 1000
        if isinstance(source, Path):
            try:
                when = int(source.stat().st_mtime)
            except OSError as error:
                raise _unusable(source, error) from None
        async with self._session(remote) as sync:
            if "sendrecv_v2" in sync.features:
                await sync.request(
                    b"SND2", encode_path(remote), wire.SYNC_SEND_V2.pack(b"SND2", REGULAR | mode, 0)
                )
            else:
                await sync.request(b"SEND", encode_path(remote) + f",{REGULAR | mode}".encode())
            sent = 0
            async for block in _blocks(source):
                parts = []
                for at in range(0, len(block), wire.SYNC_DATA_MAX):
                    piece = block[at : at + wire.SYNC_DATA_MAX]
                    parts += [wire.SYNC_HEADER.pack(b"DATA", len(piece)), piece]
                await sync.write(b"".join(parts))
                sent += len(block)
            await sync.write(wire.SYNC_HEADER.pack(b"DONE", when))
            await sync.okay()
        return sent

    async def pull(self, remote: str, sink: Path | BinaryIO) -> int:
        """Reads a file into `sink`. A path gets the file's time; a partial file is removed."""
        async with self._session(remote) as sync:
            about = await sync.stat(remote)
            if not isinstance(sink, Path):
                return await _receive(sync, remote, sink, about.size)
            part = sink.with_name(f".{sink.name}.part")
            try:
                with part.open("wb") as file:
                    size = await _receive(sync, remote, file, about.size)
                os.utime(part, (about.mtime, about.mtime))
                part.replace(sink)
            except OSError as error:
                raise _unusable(sink, error) from None
            finally:
                part.unlink(missing_ok=True)
            return size

    @asynccontextmanager
    async def _session(self, remote: str) -> AsyncIterator[SyncSession]:
        stream: Stream | None = None
        limit = partial(Deadline, self._clock, self._stall_ms)
        try:
            async with limit():
                features = await self._link.features()
                stream = await self._link.open("sync:")
            yield SyncSession(stream, features, remote, limit)
        except Expired:
            raise Timeout(
                f"the device did not answer about {remote!r} for {self._stall_ms:g} ms",
                retryable=False,
                delivery="unknown" if stream is not None else "not_delivered",
            ) from None
        finally:
            if stream is not None:
                await stream.close()


def _unusable(path: Path, error: OSError) -> InvalidAction:
    return InvalidAction(f"the local file {path} can't be used: {error.strerror or error}", path="path")


async def _blocks(source: bytes | Path) -> AsyncIterator[bytes]:
    """Reads the file in a thread, only as fast as the device takes it."""
    if isinstance(source, bytes):
        for at in range(0, len(source), BLOCK):
            yield source[at : at + BLOCK]
        return
    with source.open("rb") as file:
        while block := await asyncio.to_thread(file.read, BLOCK):
            yield block


async def _receive(sync: SyncSession, remote: str, file: BinaryIO, total: int) -> int:
    if "sendrecv_v2" in sync.features:
        await sync.request(b"RCV2", encode_path(remote), wire.SYNC_RECV_V2.pack(b"RCV2", 0))
    else:
        await sync.request(b"RECV", encode_path(remote))
    size = 0
    while (data := await sync.data()) is not None:
        file.write(data)
        size += len(data)
    if size < total:
        raise AdbCommandError(
            f"{remote!r} ended after {size} of {total} bytes",
            hint="It changed while it was read; pull it again.",
            command=f"pull {remote}",
            delivery="unknown",
        )
    return size


TEXT_MAX = 1 << 16
"""Longest text of a FAIL; more means that records are out of step."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """Sizes above 4 GiB need version 2."""

    mode: int
    size: int
    mtime: int


def encode_path(path: str) -> bytes:
    """adbd accepts 1,024 bytes."""
    data = path.encode("utf-8", "surrogateescape")
    if not data or b"\0" in data or len(data) > wire.SYNC_PATH_MAX:
        raise InvalidAction(
            f"{path[:80]!r} is not a path that a device accepts: 1 to {wire.SYNC_PATH_MAX} bytes without NUL",
            path="path",
            delivery="not_delivered",
        )
    return data


@dataclass(slots=True, eq=False)
class SyncSession:
    """A sync session about one path, with a time limit for every step."""

    _stream: Stream
    features: frozenset[str]
    _remote: str
    _limit: Callable[[], AbstractAsyncContextManager[None]]
    _held: bytearray = field(default_factory=bytearray)

    async def write(self, data: bytes) -> None:
        async with self._limit():
            await self._stream.write(data)

    async def request(self, letters: bytes, argument: bytes, more: bytes = b"") -> None:
        await self.write(wire.SYNC_HEADER.pack(letters, len(argument)) + argument + more)

    async def stat(self, remote: str) -> FileStat:
        """Raises with the device's reason, as far as it reports one."""
        path = encode_path(remote)
        if "stat_v2" not in self.features:
            await self.request(b"STAT", path)
            _, mode, size, mtime = wire.SYNC_STAT.unpack(await self._exactly(wire.SYNC_STAT.size))
            error = 0 if mode else errno.ENOENT
        else:
            await self.request(b"STA2", path)
            record = wire.SYNC_STAT_V2.unpack(await self._exactly(wire.SYNC_STAT_V2.size))
            _, error, _, _, mode, _, _, _, size, _, mtime, _ = record
        if error:
            raise self._failed(os.strerror(errno.ENOENT if error == errno.ENOTDIR else error))
        return FileStat(mode, size, mtime)

    async def data(self) -> bytes | None:
        """The next DATA; None after the last."""
        letters, length = await self._header(b"DATA", b"DONE")
        return await self._exactly(length) if letters == b"DATA" else None

    async def okay(self) -> None:
        await self._header(b"OKAY")

    async def _header(self, *expected: bytes) -> tuple[bytes, int]:
        """The next record's letters and length. Raises for a FAIL, and for what is out of step."""
        letters, length = wire.SYNC_HEADER.unpack(await self._exactly(wire.SYNC_HEADER.size))
        if letters == b"FAIL":
            text = await self._exactly(min(length, TEXT_MAX))
            raise self._failed(text.decode("utf-8", "replace"))
        if letters not in expected or (letters == b"DATA" and length > wire.SYNC_DATA_MAX):
            raise self._failed(f"the device answered with {letters!r}, which is out of step")
        return letters, length

    async def _exactly(self, size: int) -> bytes:
        while len(self._held) < size:
            async with self._limit():
                data = await self._stream.read()
            if not data:
                raise self._failed("the device closed the stream in the middle of its answer")
            self._held += data
        taken = bytes(memoryview(self._held)[:size])
        del self._held[:size]
        return taken

    def _failed(self, why: str) -> AdbCommandError:
        hint = "Check the path and who may read or write it; `ls -l` on the device shows it."
        return AdbCommandError(
            f"{self._remote}: {why}", hint=hint, command=f"sync {self._remote}", delivery="unknown"
        )


class AdbDevice:
    """One device: shell, files and services over a `Link`."""

    def __init__(self, link: Link, clock: Clock | None = None) -> None:
        clock = clock or SystemClock()
        self.link = link
        self.shell = DeviceShell(link, clock)
        self.files = Files(link, clock)

    @property
    def serial(self) -> str:
        return self.link.serial

    async def open(self, service: str) -> Stream:
        """Any service of adbd: `tcp:9008`, `localabstract:NAME`, `reboot:`."""
        return await self.link.open(service)

    async def close(self) -> None:
        await self.link.close()
