"""Reads that are tried again when a phone hiccups. Never used for input: a second tap is another tap."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from handrail.android.constants import (
    READ_ATTEMPTS,
    READ_DEADLINE_MS,
    READ_RETRY_FIRST_MS,
    READ_RETRY_GROWTH,
)
from handrail.clock import Clock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceOffline, HandrailError, TreeParseError

T = TypeVar("T")

PASSING: tuple[type[HandrailError], ...] = (
    AdbCommandError,
    AdbConnectionError,
    DeviceOffline,
    TreeParseError,
)
"""What may be over in a moment. A timeout is not among them: its time is gone."""


async def read_again(
    read: Callable[[float], Awaitable[T]], clock: Clock, *, deadline_ms: float = READ_DEADLINE_MS
) -> T:
    """What `read` gives at its first good attempt; it is told how many milliseconds are left."""
    end = clock.monotonic_ms() + deadline_ms
    pause_ms = float(READ_RETRY_FIRST_MS)
    for attempt in range(1, READ_ATTEMPTS + 1):
        try:
            return await read(end - clock.monotonic_ms())
        except PASSING as error:
            error.details["attempts"] = attempt
            if attempt == READ_ATTEMPTS or clock.monotonic_ms() + pause_ms >= end:
                raise
        await clock.sleep_ms(pause_ms)
        pause_ms *= READ_RETRY_GROWTH
    raise AssertionError("the last attempt returns or raises")
