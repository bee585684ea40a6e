"""Waiting for a condition, and checking one: every proof is a read that began after the call.

The first read always counts, however long it takes: a slow phone with the right state passes.
A read that fails raises; absence is only what was looked for and not seen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from handrail.clock import Clock
from handrail.engine.conditions import Holds
from handrail.engine.sight import Seen, Sight

FIRST_GAP_MS = 20.0
LONGEST_GAP_MS = 200.0

Check = Callable[[Seen], Holds | Awaitable[Holds]]


async def wait_until(sight: Sight, clock: Clock, check: Check, timeout_ms: float) -> tuple[Seen, Holds]:
    """Look until the check is met or the time is over; the last look and its verdict."""
    deadline = clock.monotonic_ms() + timeout_ms
    gap = FIRST_GAP_MS
    last: Seen | None = None
    while True:
        seen = await sight.look()
        if last is not None and seen.screen is last.screen:  # at rest: worth asking for its names
            await sight.name(seen)
        verdict = check(seen)
        if isinstance(verdict, Awaitable):
            verdict = await verdict
        now = clock.monotonic_ms()
        if verdict.met or now >= deadline:
            return seen, verdict
        gap = FIRST_GAP_MS if last is None or seen.screen is not last.screen else min(gap * 2, LONGEST_GAP_MS)
        last = seen
        await clock.sleep_ms(min(gap, deadline - now))
