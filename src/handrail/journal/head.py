"""The head file: how many entries there are and the hash of the last one, kept outside the database.

Written after the commit and before the answer, under a lock, and only ever forwards: it may lag behind the
entries after a `kill -9`, it never runs ahead of them. So a head that is ahead means that some were cut off.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from handrail.journal.query import GENESIS

WIDTH = 20
"""Digits of the count: every head has the same length, so one write replaces it whole."""
ENOUGH = 200
"""Bytes to read: more than a head has, so that a longer one is noticed."""
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
        """Reads what `str` wrote; None for anything else."""
        match = re.fullmatch(r"(\d{1,18}):([0-9a-f]{64})", text.strip())
        return cls(int(match[1]), match[2]) if match else None


EMPTY = Head(0, GENESIS)


def read_head(path: Path) -> Head | None:
    """What the head file says; None if it is missing or damaged."""
    with suppress(OSError), locked(path, os.O_RDONLY, fcntl.LOCK_SH) as file:
        return _read_head_of_file(file)
    return None


def advance_head(path: Path, head: Head, *, force: bool) -> None:
    """Moves the head forward. A process that comes late does not move it back, unless it asks for that."""
    with locked(path, os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX) as file:
        now = _read_head_of_file(file)
        if force or now is None or now.count < head.count:
            line = _head_line(head)
            os.pwrite(file, line, 0)
            if now is None:  # a damaged one may be longer
                os.ftruncate(file, len(line))


def create_head(path: Path) -> None:
    """The head of an empty journal, if there is none. It appears whole: half a head would look damaged."""
    file, fresh = tempfile.mkstemp(dir=path.parent)
    try:
        os.write(file, _head_line(EMPTY))
        os.fsync(file)
        with suppress(FileExistsError):  # there is one, or another process was faster
            os.link(fresh, path)
    finally:
        os.close(file)
        os.unlink(fresh)


@contextmanager
def locked(path: Path, flags: int, how: int) -> Iterator[int]:
    """The file, open and locked against other processes; its owner alone may read it."""
    file = os.open(path, flags, 0o600)
    try:
        fcntl.flock(file, how)
        yield file
    finally:
        os.close(file)  # which unlocks it, too


def _read_head_of_file(file: int) -> Head | None:
    line = LINE.fullmatch(os.pread(file, ENOUGH, 0))
    return Head(int(line[1]), line[2].decode()) if line else None


def _head_line(head: Head) -> bytes:
    return b"%0*d %s\n" % (WIDTH, head.count, head.hash.encode())
