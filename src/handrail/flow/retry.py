"""Trying again, and not for ever: what may be repeated, and how long to pause."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from handrail.clock import Clock
from handrail.protocol.envelope import Envelope

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
