"""What a program of a script may use up: set between fork and exec, where only system calls are safe."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Per program, but for `processes`: the kernel counts them for the user, and we for the run."""

    cpu_sec: int = 30
    memory_bytes: int = 1024 * MIB
    file_bytes: int = 8 * MIB
    open_files: int = 256
    processes: int = 64


def setter(limits: Limits) -> Callable[[], None]:
    """For `preexec_fn`. The kernel ignores the number of processes for root, so the run is watched too."""
    wanted = (
        (resource.RLIMIT_CPU, limits.cpu_sec),
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, _threads_of_user() + limits.processes),
        (resource.RLIMIT_CORE, 0),
    )
    capped = [(which, _within(which, value)) for which, value in wanted]

    def apply() -> None:
        for which, value in capped:
            resource.setrlimit(which, (value, value))

    return apply


def _within(which: int, value: int) -> int:
    """Nobody may raise a hard limit that is lower already."""
    hard = resource.getrlimit(which)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _threads_of_user() -> int:
    """RLIMIT_NPROC counts every thread of the user: a bare number would forbid the first fork."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid == os.getuid():
                total += len(os.listdir(folder / "task"))
        except OSError:
            continue  # it has ended meanwhile
    return total
