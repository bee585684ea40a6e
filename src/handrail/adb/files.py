"""Files to and from a device by the `sync:` service, streamed in blocks.

Version 2 requests are used if the device offers them, as in the stock client.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO

from handrail.adb.link import Link, Stream
from handrail.adb.wire import (
    SYNC_DATA_MAX,
    SYNC_HEADER,
    SYNC_PATH_MAX,
    SYNC_RECV_V2,
    SYNC_SEND_V2,
    SYNC_STAT,
    SYNC_STAT_V2,
    U32,
)
from handrail.clock import Clock
from handrail.errors import AdbCommandError, InvalidAction, Timeout
from handrail.waiting import Deadline, Expired

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in total."""
BLOCK = 4 * SYNC_DATA_MAX
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

    async def exists(self, remote: str) -> bool:
        async with self._session(remote) as sync:
            return await sync.find(remote) is not None

    async def list(self, remote: str) -> list[FolderEntry]:
        """Without `.` and `..`. To adbd an unreadable folder looks empty."""
        async with self._session(remote) as sync:
            return [entry async for entry in sync.entries(remote) if entry.name not in (".", "..")]

    async def push(
        self,
        source: bytes | Path,
        remote: str,
        *,
        mode: int = 0o644,
        mtime: int | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Writes a file with this mode; its time is that of the local file, or `mtime`, or now.

        Returns the bytes sent. The device refuses a folder as `remote`.
        """
        total, when = _facts(source, mtime, self._clock)
        async with self._session(remote) as sync:
            await sync.write(_send_request(remote, mode, v2="sendrecv_v2" in sync.features))
            sent = 0
            async for block in _blocks(source):
                parts = []
                for at in range(0, len(block), SYNC_DATA_MAX):
                    piece = block[at : at + SYNC_DATA_MAX]
                    parts += [SYNC_HEADER.pack(b"DATA", len(piece)), piece]
                await sync.write(b"".join(parts))
                sent += len(block)
                if progress is not None:
                    progress(sent, total)
            await sync.write(SYNC_HEADER.pack(b"DONE", when))
            await sync.okay()
        return sent

    async def pull(self, remote: str, sink: Path | BinaryIO, *, progress: Progress | None = None) -> int:
        """Reads a file into `sink`. A path gets the file's time; a partial file is removed."""
        async with self._session(remote) as sync:
            about = await sync.stat(remote)
            if not isinstance(sink, Path):
                return await _receive(sync, remote, sink, about.size, progress)
            part = sink.with_name(f".{sink.name}.part")
            try:
                with part.open("wb") as file:
                    size = await _receive(sync, remote, file, about.size, progress)
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
        try:
            async with self._limit():
                features = await self._link.features()
                stream = await self._link.open("sync:")
            yield SyncSession(stream, features, remote, self._limit)
        except Expired:
            raise Timeout(
                f"the device did not answer about {remote!r} for {self._stall_ms:g} ms",
                retryable=False,
                delivery="unknown" if stream is not None else "not_delivered",
            ) from None
        finally:
            if stream is not None:
                await stream.close()

    def _limit(self) -> Deadline:
        return Deadline(self._clock, self._stall_ms)


def _facts(source: bytes | Path, mtime: int | None, clock: Clock) -> tuple[int, int]:
    if isinstance(source, bytes):
        return len(source), clock.now_ms() // 1000 if mtime is None else mtime
    try:
        about = source.stat()
    except OSError as error:
        raise _unusable(source, error) from None
    return about.st_size, int(about.st_mtime) if mtime is None else mtime


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


def _send_request(remote: str, mode: int, *, v2: bool) -> bytes:
    path = encode_path(remote)
    if v2:
        second = SYNC_SEND_V2.pack(b"SND2", REGULAR | mode, 0)
        return SYNC_HEADER.pack(b"SND2", len(path)) + path + second
    spec = path + f",{REGULAR | mode}".encode()
    return SYNC_HEADER.pack(b"SEND", len(spec)) + spec


def _receive_request(remote: str, *, v2: bool) -> bytes:
    path = encode_path(remote)
    if v2:
        return SYNC_HEADER.pack(b"RCV2", len(path)) + path + SYNC_RECV_V2.pack(b"RCV2", 0)
    return SYNC_HEADER.pack(b"RECV", len(path)) + path


async def _receive(
    sync: SyncSession, remote: str, file: BinaryIO, total: int, progress: Progress | None
) -> int:
    await sync.write(_receive_request(remote, v2="sendrecv_v2" in sync.features))
    size = 0
    while (data := await sync.data()) is not None:
        file.write(data)
        size += len(data)
        if progress is not None:
            progress(size, max(size, total))
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

    @property
    def is_dir(self) -> bool:
        return stat.S_ISDIR(self.mode)


@dataclass(frozen=True, slots=True)
class FolderEntry(FileStat):
    """An entry of a folder."""

    name: str


def encode_path(path: str) -> bytes:
    """adbd accepts 1,024 bytes."""
    data = path.encode("utf-8", "surrogateescape")
    if not data or b"\0" in data or len(data) > SYNC_PATH_MAX:
        raise InvalidAction(
            f"{path[:80]!r} is not a path that a device accepts: 1 to {SYNC_PATH_MAX} bytes without NUL",
            path="path",
            delivery="not_delivered",
        )
    return data


class SyncSession:
    """A sync session about one path, with a time limit for every step."""

    def __init__(
        self,
        stream: Stream,
        features: frozenset[str],
        remote: str,
        limit: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        self.features = features
        self._stream = stream
        self._remote = remote
        self._limit = limit
        self._held = bytearray()

    async def write(self, data: bytes) -> None:
        async with self._limit():
            await self._stream.write(data)

    async def stat(self, remote: str) -> FileStat:
        entry = await self.find(remote)
        if entry is None:
            raise self._failed(os.strerror(errno.ENOENT))
        return entry

    async def find(self, remote: str) -> FileStat | None:
        """None if nothing is there. Other reasons raise, if the device reports them."""
        path = encode_path(remote)
        if "stat_v2" not in self.features:
            await self.write(SYNC_HEADER.pack(b"STAT", len(path)) + path)
            _, mode, size, mtime = await self._record(SYNC_STAT)
            return FileStat(mode, size, mtime) if mode else None
        await self.write(SYNC_HEADER.pack(b"STA2", len(path)) + path)
        _, error, _, _, mode, _, _, _, size, _, mtime, _ = await self._record(SYNC_STAT_V2)
        if error in (errno.ENOENT, errno.ENOTDIR):
            return None
        if error:
            raise self._failed(os.strerror(error))
        return FileStat(mode, size, mtime)

    async def entries(self, remote: str) -> AsyncIterator[FolderEntry]:
        path, v2 = encode_path(remote), "ls_v2" in self.features
        await self.write(SYNC_HEADER.pack(b"LIS2" if v2 else b"LIST", len(path)) + path)
        while True:
            values = await self._record(SYNC_STAT_V2 if v2 else SYNC_STAT)
            length = U32.unpack(await self._exactly(U32.size))[0]
            if values[0] == b"DONE":
                return
            if values[0] not in (b"DENT", b"DNT2"):
                raise self._out_of_step(values[0])
            name = (await self._exactly(length)).decode("utf-8", "surrogateescape")
            mode, size, mtime = (values[4], values[8], values[10]) if v2 else values[1:]
            yield FolderEntry(mode, size, mtime, name)

    async def data(self) -> bytes | None:
        """The next DATA; None after the last."""
        letters, length = SYNC_HEADER.unpack(await self._exactly(SYNC_HEADER.size))
        if letters == b"DONE":
            return None
        if letters == b"FAIL":
            raise await self._fail(length)
        if letters != b"DATA" or length > SYNC_DATA_MAX:
            raise self._out_of_step(letters)
        return await self._exactly(length)

    async def okay(self) -> None:
        letters, length = SYNC_HEADER.unpack(await self._exactly(SYNC_HEADER.size))
        if letters == b"FAIL":
            raise await self._fail(length)
        if letters != b"OKAY":
            raise self._out_of_step(letters)

    async def _record(self, form: Struct) -> tuple[Any, ...]:
        return form.unpack(await self._exactly(form.size))

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

    async def _fail(self, length: int) -> AdbCommandError:
        text = await self._exactly(min(length, TEXT_MAX))
        return self._failed(text.decode("utf-8", "replace"))

    def _out_of_step(self, letters: bytes) -> AdbCommandError:
        return self._failed(f"the device answered with {letters!r}, which is out of step")

    def _failed(self, why: str) -> AdbCommandError:
        hint = "Check the path and who may read or write it; `ls -l` on the device shows it."
        return AdbCommandError(
            f"{self._remote}: {why}", hint=hint, command=f"sync {self._remote}", delivery="unknown"
        )
