"""Where the local door is: a socket under the home, its owner's only, and who may put one there.

A lock decides who serves. The kernel drops it with its process, so a socket that was left behind is known for
what it is and replaced; nobody has to guess from a process id.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from handrail.errors import InvalidAction

LONGEST = 100
"""Bytes. Kernels take 103 (macOS) or 107 (Linux) for the path of a socket."""


Name = Literal["local", "desk"]
"""`local`: whoever has phones open. `desk`: the one process that has the desk."""


def socket_path(home: Path, name: Name = "local") -> Path:
    """Under the home; where that path is too long for a socket, in a folder of this user's own."""
    direct = home / f"{name}.sock"
    if len(os.fsencode(direct)) <= LONGEST:
        return direct
    short = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"handrail-{os.getuid()}-{short}" / f"{name}.sock"


def make_folder(path: Path) -> None:
    """The socket's folder, there and nobody else's: a stranger may have made it first in a shared place."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if not is_ours(path.parent):
        raise InvalidAction(
            f"{path.parent} belongs to somebody else, or others may write to it",
            hint="Remove it, or set HANDRAIL_HOME to a shorter path.",
            path="HANDRAIL_HOME",
        )


def is_ours(folder: Path) -> bool:
    """A real folder of this user, closed to all others."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


@contextmanager
def only_server(home: Path, name: Name = "local") -> Iterator[bool]:
    """Whether this process is the one that serves this home, while the block runs."""
    handle = os.open(home / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(handle)
