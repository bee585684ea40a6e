"""Every process that a run has started, also those that left its group, its session and their parents.

Found by descent, by session, and by a variable in the environment that all inherit. One that clears its
environment and leaves all three escapes this; for a real shell the namespace of `cage` closes that hole.
"""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

MARK = "HANDRAIL_RUN"
ROUNDS = 200
"""Looks in a row after which a fork bomb that outruns us is left to the limits."""


@dataclass(slots=True)
class Family:
    """The processes of one run."""

    run_id: str
    roots: set[int] = field(default_factory=set)
    """The processes that we started; each leads a session of its own number."""

    def members(self) -> set[int]:
        """Those that live now."""
        if not self.roots:
            return set()
        stats = {pid: stat for pid in _pids() if (stat := _stat(pid)) is not None}
        found = {pid for pid, stat in stats.items() if pid in self.roots or stat.session in self.roots}
        mark = f"{MARK}={self.run_id}".encode()
        found |= {pid for pid in stats if pid not in found and _is_marked(pid, mark)}
        while more := {pid for pid, stat in stats.items() if stat.parent in found} - found:
            found |= more
        return {pid for pid in found if stats[pid].state not in "ZX"}

    def signal_groups(self, number: int) -> None:
        """To the groups of the processes that we started: one system call for thousands, no look at /proc."""
        for root in self.roots:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(root, number)

    def signal_all(self, number: int) -> bool:
        """To everybody. Whether anybody was there to hear it."""
        members = self.members()
        for pid in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        return bool(members)

    def kill(self) -> None:
        """The groups at once; then those who left them: stopped first, so that nobody forks on meanwhile."""
        self.signal_groups(signal.SIGKILL)
        for _ in range(ROUNDS):
            if not self.signal_all(signal.SIGSTOP):
                return
            self.signal_all(signal.SIGKILL)

    def exceeds(self, most: int, *, freeze: bool) -> bool:
        """Whether more than `most` live. With `freeze` they stand still for it, and if so for good."""
        if freeze:
            self.signal_groups(signal.SIGSTOP)
        crowded = len(self.members()) > most
        if freeze and not crowded:
            self.signal_groups(signal.SIGCONT)
        return crowded


@dataclass(frozen=True, slots=True)
class _Stat:
    state: str
    parent: int
    session: int


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _stat(pid: int) -> _Stat | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name in brackets may hold anything, brackets included: the fields begin after the last one.
    state, parent, _, session, *_ = text[text.rindex(b")") + 2 :].split()
    return _Stat(state.decode(), int(parent), int(session))


def _is_marked(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def tasks_of_machine() -> int:
    """One cheap number: every thread there is."""
    running = Path("/proc/loadavg").read_text().split()[3]
    return int(running.partition("/")[2])
