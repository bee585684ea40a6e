"""Which process sits at the terminal: this one, or the one for which a resident process does a command.

A login session tells one person's shell from an agent's. A job in the background may not read what is typed.
"""

from __future__ import annotations

import os
from pathlib import Path

_process = 0
"""0 is this process itself, as the kernel has it."""


def sit_for(process: int) -> None:
    """From now on this process does the command of another one, which has the terminal."""
    global _process  # noqa: PLW0603  (a process works for one other, all its life)
    _process = process


def login_session() -> int:
    """The session of whoever gave the command. Raises `ProcessLookupError` when they have gone."""
    return os.getsid(_process)


def began(process: int) -> str:
    """When a process was started, in ticks since the machine was; '' where that can't be told."""
    try:
        return _facts(process)[19]
    except (OSError, IndexError):
        return ""


def is_typed_for_us(handle: int) -> bool:
    """Whether a line from there is meant for this command: its job is in front, or there are no jobs."""
    try:
        facts = _facts(_process or os.getpid())
        group, terminal, in_front = int(facts[2]), int(facts[4]), int(facts[5])
        device = os.fstat(handle).st_rdev
    except (OSError, ValueError, IndexError):
        return True
    return _device(terminal) != device or group == in_front


def _facts(process: int) -> list[str]:
    """Fields of /proc/PID/stat behind the name, which may hold anything: state, parent, group, session, …"""
    return (
        Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    )


def _device(packed: int) -> int:
    """A device's number as `stat` gives it, from the way in which /proc packs it."""
    return os.makedev((packed >> 8) & 0xFFF, (packed & 0xFF) | ((packed >> 12) & 0xFFF00))
