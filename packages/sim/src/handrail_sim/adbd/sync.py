"""The `sync:` service: files in and out, records of version 1 and 2. Knows no packets below and no shell.

Limits are those of adbd: 1,024 bytes of path, 64 KiB a DATA record. A failure is a FAIL with errno's text.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as modes
from collections.abc import Awaitable, Callable

from handrail_sim.adbd import wire
from handrail_sim.disk.files import Files
from handrail_sim.disk.lookup import CAPACITY, Stat, failure
from handrail_sim.stream import Reader, Stream

DEVICE = 0xFD2A
"""st_dev of the data partition, any constant."""


class SyncError(Exception):
    """A request that can't be served; its text goes into FAIL."""


class Sync:
    """One sync session; requests come one after the other until QUIT."""

    def __init__(self, files: Files) -> None:
        self._files = files

    async def serve(self, stream: Stream) -> None:
        self._stream = stream
        self._reader = Reader(stream)
        while True:
            name, length = wire.SYNC_HEADER.unpack(await self._reader.exactly(wire.SYNC_HEADER.size))
            if name == b"QUIT":
                return
            if not await self._request(name, length):
                return

    async def _request(self, name: bytes, length: int) -> bool:
        """Serve one request; False when the session can't go on because records may be out of step."""
        if length > wire.SYNC_PATH_MAX:
            await self._fail("path too long")
            return False
        path = (await self._reader.exactly(length)).decode("utf-8", "surrogateescape")
        handler = _REQUESTS.get(name)
        if handler is None:
            await self._fail(f"unknown command {name.decode('latin-1')}")
            return False
        try:
            await handler(self, path)
        except SyncError as error:
            await self._fail(str(error))
        return True

    async def _fail(self, text: str) -> None:
        data = text.encode("utf-8", "surrogateescape")
        await self._stream.write(wire.SYNC_HEADER.pack(b"FAIL", len(data)) + data)

    # looking

    async def _stat(self, path: str) -> None:
        """Version 1 knows no errors: what can't be seen is all zeros. It does not follow links."""
        try:
            stat = self._files.stat(path, follow=False)
            answer = wire.SYNC_STAT.pack(b"STAT", stat.mode, stat.size & 0xFFFFFFFF, stat.mtime)
        except OSError:
            answer = wire.SYNC_STAT.pack(b"STAT", 0, 0, 0)
        await self._stream.write(answer)

    async def _stat_v2(self, path: str) -> None:
        await self._stream.write(self._stat_record(b"STA2", path, follow=True))

    async def _lstat_v2(self, path: str) -> None:
        await self._stream.write(self._stat_record(b"LST2", path, follow=False))

    def _stat_record(self, name: bytes, path: str, *, follow: bool) -> bytes:
        try:
            return _pack_v2(name, self._files.stat(path, follow=follow))
        except OSError as error:
            return wire.SYNC_STAT_V2.pack(name, error.errno or errno.EIO, *([0] * 10))

    async def _list(self, path: str) -> None:
        for name, stat in self._entries(path):
            record = wire.SYNC_STAT.pack(b"DENT", stat.mode, stat.size & 0xFFFFFFFF, stat.mtime)
            await self._stream.write(record + wire.U32.pack(len(name)) + name)
        await self._stream.write(b"DONE".ljust(wire.SYNC_STAT.size + wire.U32.size, b"\0"))

    async def _list_v2(self, path: str) -> None:
        for name, stat in self._entries(path):
            await self._stream.write(_pack_v2(b"DNT2", stat) + wire.U32.pack(len(name)) + name)
        await self._stream.write(b"DONE".ljust(wire.SYNC_STAT_V2.size + wire.U32.size, b"\0"))

    def _entries(self, path: str) -> list[tuple[bytes, Stat]]:
        """What is in a folder, with the two dots as readdir gives them; nothing when it can't be read."""
        try:
            names = [".", "..", *self._files.list(path)]
            return [
                (name.encode("utf-8", "surrogateescape"), self._files.stat(f"{path}/{name}", follow=False))
                for name in names
            ]
        except OSError:
            return []

    # receiving and sending

    async def _send(self, request: str) -> None:
        path, comma, mode = request.rpartition(",")
        if not comma:
            await self._skip_data()
            raise SyncError("missing , in ID_SEND_V1")
        if not mode.isdecimal():
            await self._skip_data()
            raise SyncError(f"couldn't parse mode '{mode}'")
        await self._store(path, int(mode))

    async def _send_v2(self, path: str) -> None:
        _, mode, flags = wire.SYNC_SEND_V2.unpack(await self._reader.exactly(wire.SYNC_SEND_V2.size))
        if flags & ~_DRY_RUN:
            await self._skip_data()
            raise SyncError(f"unknown flags: {flags}")
        await self._store(path, mode, dry=bool(flags & _DRY_RUN))

    async def _store(self, path: str, mode: int, *, dry: bool = False) -> None:
        """Take DATA records until DONE. After a failure the rest is read and dropped: FAIL must be heard."""
        mode = mode & 0o170777 or modes.S_IFREG | 0o644
        try:
            self._prepare(path, mode)
        except SyncError:
            await self._skip_data()
            raise
        try:
            data, mtime = await self._collect(path)
        except (EOFError, SyncError):
            # Half a file is worse than none.
            with contextlib.suppress(OSError):
                self._files.remove(path)
            raise
        try:
            if not dry:
                self._write(path, data, mode, mtime)
        except OSError as error:
            raise SyncError(_text("write failed", error)) from None
        await self._stream.write(wire.SYNC_HEADER.pack(b"OKAY", 0))

    def _prepare(self, path: str, mode: int) -> None:
        """Fail before the data comes, where it would fail: missing folders are made, the file is opened."""
        try:
            try:
                self._open(path, mode)
            except FileNotFoundError:
                try:
                    self._files.mkdir(path.rpartition("/")[0], 0o775, parents=True)
                except OSError as error:
                    raise SyncError(_text("secure_mkdirs failed", error)) from None
                self._open(path, mode)
        except OSError as error:
            raise SyncError(_text("couldn't create file", error)) from None

    def _open(self, path: str, mode: int) -> None:
        if modes.S_ISLNK(mode):
            self._files.list(path.rpartition("/")[0] or "/")
        elif self._files.exists(path):
            self._files.append(path, b"")
        else:
            self._files.write(path, b"", mode=0o600)

    def _write(self, path: str, data: bytes, mode: int, mtime: int) -> None:
        if modes.S_ISLNK(mode):
            if self._files.exists(path):
                self._files.remove(path)
            self._files.symlink(data.rstrip(b"\0").decode("utf-8", "surrogateescape"), path)
            return
        self._files.write(path, data, mtime=mtime)
        owner = mode & 0o700
        self._files.chmod(path, mode & 0o777 | owner >> 3 | owner >> 6)

    async def _collect(self, path: str) -> tuple[bytes, int]:
        """All DATA until DONE and its mtime."""
        data = bytearray()
        while True:
            name, number = wire.SYNC_HEADER.unpack(await self._reader.exactly(wire.SYNC_HEADER.size))
            if name == b"DONE":
                return bytes(data), number
            if name != b"DATA" or number > wire.SYNC_DATA_MAX:
                await self._fail("invalid data message" if name != b"DATA" else "oversize data message")
                raise EOFError
            data += await self._reader.exactly(number)
            if len(data) + self._files.used > CAPACITY:
                await self._skip_data()
                raise SyncError(_text("write failed", failure(errno.ENOSPC, path)))

    async def _skip_data(self) -> None:
        while True:
            name, number = wire.SYNC_HEADER.unpack(await self._reader.exactly(wire.SYNC_HEADER.size))
            if name == b"DONE":
                return
            if name != b"DATA" or number > wire.SYNC_DATA_MAX:
                raise EOFError
            await self._reader.exactly(number)

    async def _recv(self, path: str) -> None:
        try:
            data = memoryview(self._files.content(path).data)
        except IsADirectoryError as error:
            raise SyncError(_text("read failed", error)) from None
        except OSError as error:
            raise SyncError(_text("open failed", error)) from None
        for at in range(0, len(data), wire.SYNC_DATA_MAX):
            part = data[at : at + wire.SYNC_DATA_MAX]
            await self._stream.write(wire.SYNC_HEADER.pack(b"DATA", len(part)) + part)
        await self._stream.write(wire.SYNC_HEADER.pack(b"DONE", 0))

    async def _recv_v2(self, path: str) -> None:
        _, flags = wire.SYNC_RECV_V2.unpack(await self._reader.exactly(wire.SYNC_RECV_V2.size))
        if flags:
            raise SyncError(f"unknown flags: {flags}")
        await self._recv(path)


_DRY_RUN = 0x80000000

_REQUESTS: dict[bytes, Callable[[Sync, str], Awaitable[None]]] = {
    b"STAT": Sync._stat,
    b"STA2": Sync._stat_v2,
    b"LST2": Sync._lstat_v2,
    b"LIST": Sync._list,
    b"LIS2": Sync._list_v2,
    b"SEND": Sync._send,
    b"SND2": Sync._send_v2,
    b"RECV": Sync._recv,
    b"RCV2": Sync._recv_v2,
}


def _pack_v2(name: bytes, stat: Stat) -> bytes:
    times = (stat.mtime,) * 3
    who = (stat.mode, stat.links, stat.uid, stat.gid)
    return wire.SYNC_STAT_V2.pack(name, 0, DEVICE, stat.inode, *who, stat.size, *times)


def _text(what: str, error: OSError) -> str:
    return f"{what}: {error.strerror or os.strerror(error.errno or errno.EIO)}"
