"""Reads files that decide what may be done, such as the policy: plain files that only their owner can write.

Whatever is wrong with such a file raises `PolicyUnusable` with the command that mends it. A pipe, a device or
a socket is refused before it is opened, so nothing here blocks.
"""

from __future__ import annotations

import os
import shlex
import stat
import time
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


class TrustedFile:
    """It is read again whenever it, its folder or the folder `inside` may have changed."""

    def __init__(self, path: Path, most_bytes: int, *, inside: Path | None = None) -> None:
        self.path = path
        self._most_bytes = most_bytes
        self._folders = [path.parent] if inside is None else [path.parent, inside]
        self._marks: list[_Mark] | None = None
        self._data: bytes | None = None

    def read(self) -> bytes | None:
        """Its bytes; None only where the file does not exist. Raises `PolicyUnusable`."""
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
        """The stat of the file and its folders; None where that does not tell every change.

        A missing file is represented by the nearest existing folder, which changes when the file is created.
        """
        try:
            stats = [_nearest(self.path)]
            for folder in self._folders:
                with suppress(FileNotFoundError):
                    stats.append(os.stat(folder))
        except OSError:
            return None
        if stat.S_ISLNK(stats[0].st_mode):
            return None
        return [
            (st.st_dev, st.st_ino, st.st_mode, st.st_uid, st.st_size, st.st_mtime_ns, st.st_ctime_ns)
            for st in stats
        ]

    def _read(self) -> bytes | None:
        for folder in self._folders[1:]:
            check_folder(folder)
        return None if _is_absent(self.path) else _read(self.path, self._most_bytes)


def _nearest(path: Path) -> os.stat_result:
    """Of the path itself, or of the first existing folder above it."""
    try:
        return os.lstat(path)
    except FileNotFoundError:
        if path == path.parent:
            raise
        return _nearest(path.parent)


def check_folder(path: Path, *, mend: str = "700") -> None:
    """Others who can write to the folder could replace the file. Raises `PolicyUnusable`."""
    try:
        facts = path.stat()
    except OSError as error:
        raise unusable(path, f"can't be used: {error.strerror or error}", "Mend it.") from None
    _check_owner(path, facts)
    if facts.st_mode & OTHERS_WRITE:
        raise _open_to_others(path, facts, mend)


def _is_absent(path: Path) -> bool:
    """True where neither a file nor a link has this name, and its folders can be read."""
    for place in (path, *path.parents):
        try:
            os.lstat(place)
        except FileNotFoundError:
            continue
        if place != path and not stat.S_ISDIR(place.stat().st_mode):
            raise NotADirectoryError(None, f"{place} is not a folder")
        return place != path
    return True


def open_plain(path: Path) -> BinaryIO:
    """Opens a plain file, whoever owns it. Raises OSError, and `PolicyUnusable` for a pipe and the like."""
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
        target = path.resolve().parent
        if path.is_symlink() and not target.stat().st_mode & stat.S_ISVTX:
            check_folder(target, mend="go-w")  # in a sticky folder such as /tmp others can't replace the file
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise unusable(path, f"{facts.st_size:,} bytes are too many", f"At most {most_bytes:,} are read.")
    return data


def _check_kind(path: Path, facts: os.stat_result) -> None:
    if not stat.S_ISREG(facts.st_mode):
        what = _KINDS.get(stat.S_IFMT(facts.st_mode), "no file")
        raise unusable(path, f"is {what}, not a file", "Put a plain file there.")


def _check_owner(path: Path, facts: os.stat_result) -> None:
    if facts.st_uid not in (os.geteuid(), 0):
        hint = f"Do: chown {os.geteuid()} {shlex.quote(str(path))}, or work as the user who owns it."
        raise unusable(path, f"belongs to another user (uid {facts.st_uid})", hint)


def _open_to_others(path: Path, facts: os.stat_result, mend: str) -> PolicyUnusable:
    mode = stat.S_IMODE(facts.st_mode)
    why = f"others on this machine can write to it (mode {mode:04o})"
    return unusable(
        path, why, "Look whether it is as you left it. Then do: " + shlex.join(["chmod", mend, str(path)])
    )


def unusable(path: Path, why: str, hint: str) -> PolicyUnusable:
    return PolicyUnusable(f"{path}: {why}", hint=hint, file=str(path))
