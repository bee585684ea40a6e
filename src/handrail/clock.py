"""Time as a parameter: logic takes a `Clock`, programs pass `SystemClock`, tests pass `ManualClock`."""

from __future__ import annotations

import asyncio
import heapq
import secrets
import time
from collections.abc import Callable, Sized
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


NOTICED_MS = 1_000
"""A clock that is set back by less is followed: that is how time services correct it."""
MOST_OUTRUN_MS = 24 * 3_600_000
"""A clock that is set back by more was wrong before, and is believed now."""


class WallClock:
    """The time of day, which does not go back while the process lives.

    Leases, questions to people and locks end at a time of day. A clock that somebody sets back by an hour
    would keep them for an hour longer, so the hour is added until the program is started again.
    """

    def __init__(
        self, wall_ms: Callable[[], int] | None = None, steady_ms: Callable[[], int] | None = None
    ) -> None:
        self._wall_ms = wall_ms or _wall_ms
        self._steady_ms = steady_ms or _steady_ms
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


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _steady_ms() -> int:
    """Goes on while the machine sleeps, where the system has such a clock."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) // 1_000_000


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
        return _boot()

    async def sleep_ms(self, duration_ms: float) -> None:
        await asyncio.sleep(max(0.0, duration_ms) / 1000)


@cache
def _boot() -> str:
    """All processes since the machine was started share one monotonic clock."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:  # not Linux: then only this process's readings are comparable
        return secrets.token_hex(8)


class ManualClock:
    """Stands still until `advance`; sleepers wake in the order of their deadlines."""

    def __init__(self, now_ms: int = 1_710_000_000_000) -> None:
        self.timer = secrets.token_hex(8)
        self._start_ms = now_ms
        self._elapsed_ms = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now_ms(self) -> int:
        return self._start_ms + int(self._elapsed_ms)

    def monotonic_ms(self) -> float:
        return self._elapsed_ms

    def set_wall(self, now_ms: int) -> None:
        """Sets the time of day; no time passes."""
        self._start_ms = now_ms - int(self._elapsed_ms)

    async def sleep_ms(self, duration_ms: float) -> None:
        if duration_ms <= 0:
            await asyncio.sleep(0)
            return
        self._count += 1
        wake = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed_ms + duration_ms, self._count, wake))
        await wake

    async def advance(self, duration_ms: float) -> None:
        """Lets time pass. A sleeper that wakes runs as far as it can before the next one wakes."""
        end = self._elapsed_ms + duration_ms
        await _quiet()
        while self._sleepers and self._sleepers[0][0] <= end:
            self._elapsed_ms, _, wake = heapq.heappop(self._sleepers)
            if not wake.done():
                wake.set_result(None)
                await _quiet()
        self._elapsed_ms = end

    def wake_next(self) -> bool:
        """Goes on to when the next sleeper wakes; False when there is none."""
        while self._sleepers:
            until, _, wake = heapq.heappop(self._sleepers)
            if not wake.done():
                self._elapsed_ms = until
                wake.set_result(None)
                return True
        return False


QUIET_TURNS = 2
"""In a row: bytes that somebody sent to this very process are seen by the turn after it."""
MOST_TURNS = 100_000


async def _quiet() -> None:
    """Returns when nothing can run without time, a thread or another process.

    The loop keeps its list of what it can run to itself, and has no other way to say that it is empty.
    """
    ready: Sized = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    quiet = 0
    for _ in range(MOST_TURNS):
        await asyncio.sleep(0)
        quiet = 0 if ready else quiet + 1
        if quiet == QUIET_TURNS:
            return
    raise RuntimeError("A task asks again in every turn instead of waiting: time can't go on beside it")
