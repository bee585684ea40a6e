"""Whether a process that wrote down its pid is still the one that has it. Knows nothing of leases."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path

PROC = Path("/proc")


@cache
def place() -> str:
    """Where a pid means something: this host, this boot, this pid namespace (containers may share a home)."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()} {boot} {os.readlink(PROC / 'self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def mark(pid: int) -> str | None:
    """Another one for every process that ever has this pid here; None when none has it."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return _mark_without_proc(pid)
    # The name in parentheses may hold anything, a ")" too; state and start time are fields 3 and 22.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def _mark_without_proc(pid: int) -> str | None:
    """Only whether it is there: systems without /proc give no start time to a pid."""
    if PROC.joinpath("self").exists():
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return "?"
