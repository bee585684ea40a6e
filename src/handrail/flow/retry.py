"""Trying again, and not for ever: what may be repeated, how long to pause, and a deadline over it all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from handrail.clock import Clock
from handrail.errors import Timeout
from handrail.protocol.envelope import Envelope

T = TypeVar("T")

PAUSE_MS = 200.0
"""Before the second try; doubled before every further one."""
LONGEST_PAUSE_MS = 2_000.0


def may_repeat(envelope: Envelope) -> bool:
    """Only what is worth it, and only when it is certain whether it was delivered."""
    return bool(envelope.retryable) and envelope.delivery != "unknown"


async def tries(once: Callable[[], Awaitable[Envelope]], retry: int, clock: Clock) -> tuple[Envelope, int]:
    """The last envelope, and how many tries it took."""
    pause = PAUSE_MS
    for number in range(1, retry + 1):
        envelope = await once()
        if envelope.success or not may_repeat(envelope):
            return envelope, number
        await clock.sleep_ms(pause)
        pause = min(pause * 2, LONGEST_PAUSE_MS)
    return await once(), retry + 1


async def within(clock: Clock, timeout_ms: int | None, work: Coroutine[Any, Any, T]) -> T:
    """The work's result, or `Timeout` at the deadline; the work has ended either way."""
    if timeout_ms is None:
        return await work
    doing = asyncio.ensure_future(work)
    bell = asyncio.ensure_future(clock.sleep_ms(timeout_ms))
    try:
        await asyncio.wait({doing, bell}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise Timeout(
                f"The step was not done after {timeout_ms} ms",
                hint="Give it a longer timeout_ms, or find out what it waits for.",
            )
        return doing.result()
    finally:
        bell.cancel()
        doing.cancel()
        await asyncio.wait({doing, bell})
