"""Time as a parameter: a phone takes a `Clock`, programs give `SystemClock`, tests give `ManualClock`."""

from __future__ import annotations

import asyncio
import heapq
import secrets
import time
from collections.abc import Sized
from datetime import UTC, datetime, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class Clock(Protocol):
    """What a phone may ask of time. Any object with these methods will do."""

    def now_ms(self) -> int:
        """The time of day, milliseconds since 1970."""

    def monotonic_ms(self) -> float:
        """Never goes back; for durations."""

    async def sleep_ms(self, duration_ms: float) -> None: ...


class SystemClock:
    """The machine's own clocks."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> float:
        return time.monotonic() * 1000

    async def sleep_ms(self, duration_ms: float) -> None:
        await asyncio.sleep(max(0.0, duration_ms) / 1000)


class ManualClock:
    """Stands still until `advance`. Whoever sleeps wakes in the order of the ends of their sleeps."""

    def __init__(self, now_ms: int = 1_710_000_000_000) -> None:
        self.timer = secrets.token_hex(8)
        """Names what `monotonic_ms` counts on, for readings that are compared."""
        self._epoch_ms = now_ms
        self._passed_ms = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._sleeps = 0

    def now_ms(self) -> int:
        return self._epoch_ms + int(self._passed_ms)

    def monotonic_ms(self) -> float:
        return self._passed_ms

    async def sleep_ms(self, duration_ms: float) -> None:
        if duration_ms <= 0:
            await asyncio.sleep(0)
            return
        self._sleeps += 1
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._passed_ms + duration_ms, self._sleeps, woken))
        await woken

    async def advance(self, duration_ms: float) -> None:
        """Let time pass. Each sleeper has done all it can before the next one wakes."""
        until = self._passed_ms + duration_ms
        await _idle()
        while self._sleepers and self._sleepers[0][0] <= until:
            self._passed_ms, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                woken.set_result(None)
                await _idle()
        self._passed_ms = until

    def set_wall(self, now_ms: int) -> None:
        """Sets the time of day; no time passes."""
        self._epoch_ms = now_ms - int(self._passed_ms)

    def wake_next(self) -> bool:
        """Goes on to when the next sleeper wakes; False when there is none."""
        while self._sleepers:
            until, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                self._passed_ms = until
                woken.set_result(None)
                return True
        return False


class Wall:
    """The time of day as one phone has it: somebody may set it, and only this phone's goes another way."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.ahead_ms = 0

    def now_ms(self) -> int:
        return self._clock.now_ms() + self.ahead_ms

    def set(self, now_ms: int) -> None:
        self.ahead_ms = now_ms - self._clock.now_ms()


def zone_of(name: str) -> tzinfo:
    """The IANA zone with this name, or `datetime.UTC` for an unknown name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def iso_time(epoch_ms: int) -> str:
    """ISO 8601 with milliseconds and Z."""
    moment = datetime.fromtimestamp(epoch_ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{epoch_ms % 1000:03d}Z"


_QUIET_TURNS = 2
_MOST_TURNS = 100_000


async def _idle() -> None:
    """Waits until no task is ready to run; asyncio has no public call for that."""
    ready: Sized = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    quiet = 0
    for _ in range(_MOST_TURNS):
        await asyncio.sleep(0)
        quiet = 0 if ready else quiet + 1
        if quiet == _QUIET_TURNS:
            return
    raise RuntimeError("A task asks in every turn instead of waiting, so time can't go on")
