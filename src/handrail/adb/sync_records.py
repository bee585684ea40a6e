"""Records of the `sync:` service on one stream: what is asked, what comes back. Knows no local files."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from struct import Struct
from typing import Any

from handrail.adb.link import Stream
from handrail.adb.wire import (
    SYNC_DATA_MAX,
    SYNC_HEADER,
    SYNC_PATH_MAX,
    SYNC_STAT,
    SYNC_STAT_V2,
    U32,
)
from handrail.errors import AdbCommandError, InvalidAction

TEXT_MAX = 1 << 16
"""A FAIL's text; a longer one means that records are out of step."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """What is known of a file. Sizes above 4 GiB are right with version 2 only."""

    mode: int
    size: int
    mtime: int

    @property
    def is_dir(self) -> bool:
        return stat.S_ISDIR(self.mode)


@dataclass(frozen=True, slots=True)
class Named(FileStat):
    """An entry of a folder."""

    name: str


def encode_path(path: str) -> bytes:
    """A path as it goes over the wire; adbd takes 1,024 bytes."""
    data = path.encode("utf-8", "surrogateescape")
    if not data or b"\0" in data or len(data) > SYNC_PATH_MAX:
        raise InvalidAction(
            f"{path[:80]!r} is no path that a device takes: 1 to {SYNC_PATH_MAX} bytes without NUL",
            path="path",
            delivery="not_delivered",
        )
    return data


class SyncSession:
    """A sync session about one path. Every step has a limit of time."""

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
        found = await self.find(remote)
        if found is None:
            raise self._failed(os.strerror(errno.ENOENT))
        return found

    async def find(self, remote: str) -> FileStat | None:
        """None when nothing is there. Other reasons raise, where the device tells them."""
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

    async def entries(self, remote: str) -> AsyncIterator[Named]:
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
            yield Named(mode, size, mtime, name)

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
        """The device's word that the file is whole."""
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
        found = bytes(memoryview(self._held)[:size])
        del self._held[:size]
        return found

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
