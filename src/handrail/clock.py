"""Time as a parameter: logic takes a `Clock`, programs pass `SystemClock`, tests a `ManualClock`."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Protocol


class Clock(Protocol):
    """What logic may ask of time."""

    def now_ms(self) -> int:
        """Wall clock, milliseconds since 1970, for timestamps and ids."""

    def monotonic_ms(self) -> float:
        """Never goes back; for durations and deadlines."""

    @property
    def timer(self) -> str:
        """Names what `monotonic_ms` counts on: readings of one timer are comparable across processes."""

    async def sleep_ms(self, duration_ms: float) -> None: ...


def iso_time(epoch_ms: int) -> str:
    """ISO 8601 with milliseconds and Z, as every timestamp on the wire."""
    moment = datetime.fromtimestamp(epoch_ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{epoch_ms % 1000:03d}Z"


_SPANS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def ago(then_ms: int, now_ms: int) -> str:
    """`just now`, `40 seconds ago`, `2 minutes ago`."""
    seconds = max(0, now_ms - then_ms) // 1000
    if seconds < 10:
        return "just now"
    size, unit = next(((size, unit) for size, unit in _SPANS if seconds >= size), (1, "second"))
    count = seconds // size
    return f"{count} {unit}{'' if count == 1 else 's'} ago"


NOTICED_MS = 1_000  # a clock that is set back by less is followed: that is how time services correct it
MOST_OUTRUN_MS = 24 * 3_600_000  # a clock that is set back by more was wrong before, and is believed now


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _steady_ms() -> int:
    """A clock that also counts while the machine sleeps, if the system has one."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) // 1_000_000


class WallClock:
    """The time of day, which does not go back while the process lives.

    Leases, questions to people and locks end at a time of day. A clock that somebody sets back by an hour
    would keep them for an hour longer, so the hour is added until the program is started again.
    """

    def __init__(
        self, wall_ms: Callable[[], int] = _wall_ms, steady_ms: Callable[[], int] = _steady_ms
    ) -> None:
        self._wall_ms = wall_ms
        self._steady_ms = steady_ms
        self._added = 0
        self._last = (self._wall_ms(), self._steady_ms())

    def now_ms(self) -> int:
        wall, steady = self._wall_ms() + self._added, self._steady_ms()
        before, then = self._last
        behind = before + (steady - then) - wall
        if NOTICED_MS < behind <= MOST_OUTRUN_MS:
            self._added += behind
            wall += behind
        self._last = (wall, steady)
        return wall


_wall = WallClock()
"""One for the process: all its parts agree on what time it is."""


class SystemClock:
    """The machine's own clocks."""

    def now_ms(self) -> int:
        return _wall.now_ms()

    def monotonic_ms(self) -> float:
        return time.monotonic() * 1000

    @property
    def timer(self) -> str:
        return _boot_id()

    async def sleep_ms(self, duration_ms: float) -> None:
        await asyncio.sleep(max(0.0, duration_ms) / 1000)


@cache
def _boot_id() -> str:
    """All processes since the machine was started share one monotonic clock."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:  # not Linux: then only this process's readings are comparable
        return secrets.token_hex(8)
