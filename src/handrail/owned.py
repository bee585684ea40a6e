"""Files that decide what may be done: only a plain file of its owner's own is believed.

Whatever is wrong with such a file is `PolicyUnusable`, with the command that mends it. Nothing here waits: a
pipe, a device or a socket under the name is refused, not opened and read.
"""

from __future__ import annotations

import os
import shlex
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from handrail.errors import PolicyUnusable

OTHERS_WRITE = 0o022
_TICK_NS = 100_000_000
_Mark = tuple[int, ...]
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class OwnedFile:
    """One such file. It is read again whenever it, its folder or `inside` may have changed."""

    def __init__(self, path: Path, most_bytes: int, *, inside: Path | None = None) -> None:
        self.path = path
        self._most_bytes = most_bytes
        self._folders = [path.parent] if inside is None else [path.parent, inside]
        self._marks: list[_Mark] | None = None
        self._data: bytes | None = None

    def read(self) -> bytes | None:
        """What the file holds; None only where nothing has this name. Raises `PolicyUnusable`."""
        now_ns = time.time_ns()
        try:
            marks = self._look()
            if marks is None or marks != self._marks:
                self._data = self._read()
                # What changes again within one tick of the file system's clock looks the same.
                is_old = marks is not None and now_ns - max(mark[-1] for mark in marks) > _TICK_NS
                self._marks = marks if is_old else None
            return self._data
        except OSError as error:
            why = f"can't be read: {error.strerror or error}"
            hint = "Mend it, or remove it to get the defaults at the next start."
            raise unusable(self.path, why, hint) from None

    def _look(self) -> list[_Mark] | None:
        """How the file and its folders look from outside; None where that does not tell everything.

        A file that is not there looks like the nearest folder that is: it changes when one comes.
        """
        try:
            seen = [_nearest(self.path), *_there(self._folders)]
        except OSError:
            return None
        if stat.S_ISLNK(seen[0].st_mode):
            return None
        return [
            (one.st_dev, one.st_ino, one.st_mode, one.st_uid, one.st_size, one.st_mtime_ns, one.st_ctime_ns)
            for one in seen
        ]

    def _read(self) -> bytes | None:
        for folder in self._folders[1:]:
            check_folder(folder)
        return None if _is_absent(self.path) else _read(self.path, self._most_bytes)


def _nearest(path: Path) -> os.stat_result:
    """Of the path itself, or of the first folder above it that is there."""
    try:
        return os.lstat(path)
    except FileNotFoundError:
        if path == path.parent:
            raise
        return _nearest(path.parent)


def _there(folders: Iterable[Path]) -> Iterator[os.stat_result]:
    for folder in folders:
        with suppress(FileNotFoundError):
            yield os.stat(folder)


def check_folder(path: Path, *, mend: str = "700") -> None:
    """A folder that others can write to is theirs as much as its owner's. Raises `PolicyUnusable`."""
    try:
        facts = path.stat()
    except OSError as error:
        raise unusable(path, f"can't be used: {error.strerror or error}", "Mend it.") from None
    _check_owner(path, facts)
    if facts.st_mode & OTHERS_WRITE:
        raise _open_to_others(path, facts, mend)


def _is_absent(path: Path) -> bool:
    """True where neither the name nor a link of that name is there, in a folder that can be looked into."""
    for one in (path, *path.parents):
        try:
            os.lstat(one)
        except FileNotFoundError:
            continue
        if one != path and not stat.S_ISDIR(one.stat().st_mode):
            raise NotADirectoryError(None, f"{one} is no folder")
        return one != path
    return True


def open_plain(path: Path) -> BinaryIO:
    """A plain file, whoever owns it. Raises OSError, and `PolicyUnusable` for anything else of that name."""
    _check_kind(path, path.stat())  # not even opened: some devices act when they are
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY), "rb")
    _check_kind(path, os.fstat(file.fileno()))
    return file


def _read(path: Path, most_bytes: int) -> bytes:
    with open_plain(path) as file:
        facts = os.fstat(file.fileno())
        _check_owner(path, facts)
        if facts.st_mode & OTHERS_WRITE:
            raise _open_to_others(path, facts, "go-w")
        check_folder(path.parent)
        if path.is_symlink():
            _check_place(path.resolve().parent)
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise unusable(path, f"{facts.st_size:,} bytes are too many", f"At most {most_bytes:,} are read.")
    return data


def _check_kind(path: Path, facts: os.stat_result) -> None:
    if not stat.S_ISREG(facts.st_mode):
        what = _KINDS.get(stat.S_IFMT(facts.st_mode), "no file")
        raise unusable(path, f"is {what}, not a file", "Put a plain file there.")


def _check_place(folder: Path) -> None:
    """Where a link leads to. In a folder like /tmp others can't replace what is not theirs."""
    if not folder.stat().st_mode & stat.S_ISVTX:
        check_folder(folder, mend="go-w")


def _check_owner(path: Path, facts: os.stat_result) -> None:
    if facts.st_uid not in (os.geteuid(), 0):
        hint = f"Do: chown {os.geteuid()} {_quoted(path)}, or work as the user who owns it."
        raise unusable(path, f"belongs to another user (uid {facts.st_uid})", hint)


def _open_to_others(path: Path, facts: os.stat_result, mend: str) -> PolicyUnusable:
    mode = stat.S_IMODE(facts.st_mode)
    why = f"others on this machine can write to it (mode {mode:04o})"
    return unusable(path, why, f"Look whether it is as you left it. Then do: chmod {mend} {_quoted(path)}")


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def unusable(path: Path, why: str, hint: str) -> PolicyUnusable:
    """`path` names the file."""
    return PolicyUnusable(f"{path}: {why}", hint=hint, file=str(path))
