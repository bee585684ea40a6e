"""Reads files that decide what may be done, such as the policy: plain files that only their owner can write.

Whatever is wrong with such a file raises `PolicyUnusable` with the command that mends it. A pipe, a device or
a socket is refused before it is opened, so nothing here blocks.
"""

from __future__ import annotations

import os
import shlex
import stat
import tempfile
from pathlib import Path
from typing import BinaryIO

from handrail.errors import PolicyUnusable

OTHERS_WRITE = 0o022
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class TrustedFile:
    """It is read each time, so that no change of it, its folder or the folder `inside` is missed."""

    def __init__(self, path: Path, most_bytes: int, *, inside: Path | None = None) -> None:
        self.path = path
        self._most_bytes = most_bytes
        self._inside = inside

    def read(self) -> bytes | None:
        """Returns its bytes; None only where the file does not exist. Raises `PolicyUnusable`."""
        try:
            if self._inside is not None:
                check_folder(self._inside)
            return None if _is_absent(self.path) else _read(self.path, self._most_bytes)
        except OSError as error:
            why = f"can't be read: {error.strerror or error}"
            hint = "Mend it, or remove it to get the defaults at the next start."
            raise unusable_file(self.path, why, hint) from None


def check_folder(path: Path, *, mend: str = "700") -> None:
    """Others who can write to the folder could replace the file. Raises `PolicyUnusable`."""
    try:
        facts = path.stat()
    except OSError as error:
        raise unusable_file(path, f"can't be used: {error.strerror or error}", "Mend it.") from None
    _check_owner(path, facts)
    if facts.st_mode & OTHERS_WRITE:
        raise _open_to_others(path, facts, mend)


def replace_file(path: Path, text: str) -> None:
    """Writes the file at once or not at all, for its owner alone."""
    target = Path(os.path.realpath(path))  # a link stays a link
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)  # mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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
        if path.is_symlink() and not (target := path.resolve().parent).stat().st_mode & stat.S_ISVTX:
            check_folder(target, mend="go-w")  # in a sticky folder such as /tmp others can't replace the file
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise unusable_file(
            path, f"{facts.st_size:,} bytes are too many", f"At most {most_bytes:,} are read."
        )
    return data


def _check_kind(path: Path, facts: os.stat_result) -> None:
    if not stat.S_ISREG(facts.st_mode):
        what = _KINDS.get(stat.S_IFMT(facts.st_mode), "no file")
        raise unusable_file(path, f"is {what}, not a file", "Put a plain file there.")


def _check_owner(path: Path, facts: os.stat_result) -> None:
    if facts.st_uid not in (os.geteuid(), 0):
        hint = f"Do: chown {os.geteuid()} {shlex.quote(str(path))}, or work as the user who owns it."
        raise unusable_file(path, f"belongs to another user (uid {facts.st_uid})", hint)


def _open_to_others(path: Path, facts: os.stat_result, mend: str) -> PolicyUnusable:
    mode = stat.S_IMODE(facts.st_mode)
    why = f"others on this machine can write to it (mode {mode:04o})"
    return unusable_file(
        path, why, "Look whether it is as you left it. Then do: " + shlex.join(["chmod", mend, str(path)])
    )


def unusable_file(path: Path, why: str, hint: str) -> PolicyUnusable:
    return PolicyUnusable(f"{path}: {why}", hint=hint, file=str(path))
