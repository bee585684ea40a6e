"""The head file: how many entries there are and the hash of the last one, kept outside the database.

Written after the commit and before the answer, under a lock, and only ever forwards: it may lag behind the
entries after a `kill -9`, it never runs ahead of them. So a head that is ahead means that some were cut off.
"""

from __future__ import annotations

import fcntl
import os
import re
from dataclasses import dataclass
from pathlib import Path

from handrail.engine.journal.query import GENESIS

WIDTH = 20
"""Digits of the count: every head has the same length, so one write replaces it whole."""
LENGTH = WIDTH + 66
LINE = re.compile(rb"([0-9]{%d}) ([0-9a-f]{64})\n" % WIDTH)


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry's number and hash; `str` is what a person may keep elsewhere."""

    count: int
    hash: str

    def __str__(self) -> str:
        return f"{self.count}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head | None:
        """What `str` wrote."""
        found = re.fullmatch(r"(\d{1,18}):([0-9a-f]{64})", text.strip())
        return cls(int(found[1]), found[2]) if found else None


EMPTY = Head(0, GENESIS)


def read_head(path: Path) -> Head | None:
    """The head, or None where there is none that can be read."""
    file = HeadFile(path)
    try:
        return file.read()
    finally:
        file.close()


def create_head(path: Path) -> None:
    """The head of an empty journal, if there is none. It appears whole: half a head would look damaged."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, _line(EMPTY))
        os.fsync(file)
        os.link(fresh, path)
    except FileExistsError:
        pass  # another process was faster
    finally:
        os.close(file)
        fresh.unlink()


class HeadFile:
    """The file at a path, kept open between looks, and opened again when another file has taken its place."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._file = -1
        self._inode = 0

    def read(self) -> Head | None:
        """What it says; None if it is missing or damaged."""
        try:
            file = self._lock(fcntl.LOCK_SH, create=False)
        except OSError:
            return None
        try:
            return _stored(file)
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def advance(self, head: Head, *, force: bool = False) -> None:
        """Move forwards: a process that comes late does not move it back, unless told to."""
        file = self._lock(fcntl.LOCK_EX, create=True)
        try:
            now = _stored(file)
            if force or now is None or now.count < head.count:
                line = _line(head)
                os.pwrite(file, line, 0)
                if now is None:
                    os.ftruncate(file, len(line))
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _lock(self, how: int, *, create: bool) -> int:
        if self._file < 0 or not self._is_same():
            self.close()
            self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o600)
            self._inode = os.fstat(self._file).st_ino
        fcntl.flock(self._file, how)
        return self._file

    def _is_same(self) -> bool:
        try:
            return os.stat(self._path).st_ino == self._inode
        except FileNotFoundError:
            return False


def _stored(file: int) -> Head | None:
    data = os.pread(file, LENGTH + 1, 0)
    found = LINE.fullmatch(data)
    return Head(int(found[1]), found[2].decode()) if found else None


def _line(head: Head) -> bytes:
    return b"%0*d %s\n" % (WIDTH, head.count, head.hash.encode())
