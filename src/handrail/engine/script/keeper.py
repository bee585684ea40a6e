"""A keeper stands between us and each command: what the command leaves behind becomes its child, and dies.

The kernel gives orphans to the nearest ancestor that asked for them (PR_SET_CHILD_SUBREAPER), so no fork, no
session and no cleared environment leads out of a keeper's family. Runs in a forked child: system calls only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

PR_SET_CHILD_SUBREAPER = 36
HIGHEST_FILE = 1 << 20
PID_BYTES = 8
IS_POSSIBLE = sys.platform == "linux"
_libc = ctypes.CDLL(None, use_errno=True) if IS_POSSIBLE else None


def kept(prepare: Callable[[], None], told: int) -> Callable[[], None]:
    """For `preexec_fn`: the process that was started becomes the keeper, its child the command.

    `prepare` is called in the command alone; its number is written to the file `told`.
    """

    def begin() -> None:
        if _libc is not None:
            _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        command = os.fork()
        if command:
            _keep(command)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.setpgid(0, 0)  # in the keeper's session, and in a group without the keeper
        os.write(told, os.getpid().to_bytes(PID_BYTES, "big"))
        prepare()

    return begin


def _keep(command: int) -> NoReturn:
    """Wait for the command, end what it left behind, and leave with its code. Deaf to all but SIGKILL."""
    os.closerange(0, HIGHEST_FILE)
    code = 255
    with contextlib.suppress(BaseException):  # a keeper never goes on to what a command does
        code = _code(command)
        while True:
            for orphan in _children():
                with contextlib.suppress(OSError):
                    os.kill(orphan, signal.SIGKILL)
            os.waitpid(-1, 0)  # raises when nobody is left
    os._exit(code)


def _code(command: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == command:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _children() -> list[int]:
    own = os.getpid()
    try:
        return [int(word) for word in Path(f"/proc/{own}/task/{own}/children").read_bytes().split()]
    except OSError:  # a kernel without this file
        return [int(name) for name in os.listdir("/proc") if name.isdecimal() and _parent(name) == own]


def _parent(name: str) -> int | None:
    try:
        text = Path(f"/proc/{name}/stat").read_bytes()
    except OSError:
        return None
    return int(text[text.rindex(b")") + 2 :].split()[1])
