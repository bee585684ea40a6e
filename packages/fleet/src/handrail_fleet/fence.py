"""Until when a host may act: leases on a clock that nobody can set, and that goes on while a machine sleeps.

The host's side is stricter than the ledger's: it stops at half the lease, and the ledger waits for all of it.
"""

from __future__ import annotations

import time

from handrail.clock import Clock, SystemClock
from handrail.errors import Cancelled, InvalidAction

RENEW_MS = 1_000.0
"""Between two beats of a host."""
STOP_MS = 250.0
"""What is in flight on a host that was cut off ends within this time."""
LEASE_MS = 8_000.0
"""So long an attempt counts after the last beat that named it."""
MARGIN_MS = 2_000.0
"""The ledger waits so much longer: clocks of two machines differ in speed, and stopping takes a moment."""


class SteadyClock(SystemClock):
    """A host that was suspended has to know it when it wakes up: `time.monotonic` stands still meanwhile."""

    def monotonic_ms(self) -> float:
        return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)) * 1000


def check_lease(lease_ms: float, renew_ms: float) -> None:
    """A host must be able to stop long before its lease ends: lease ≥ 4 × (renewal + stop)."""
    least = 4 * (renew_ms + STOP_MS)
    if lease_ms < least:
        raise InvalidAction(
            f"a lease of {lease_ms:g} ms is too short: hosts renew it every {renew_ms:g} ms",
            path="lease",
            hint=f"Give at least {least:g} ms.",
        )


class HostFence:
    """Whether this host still counts. `sent_ms` is when the beat left, not when its answer came."""

    def __init__(self, clock: Clock, lease_ms: float, sent_ms: float) -> None:
        self._clock = clock
        self.half_ms = lease_ms / 2
        self.renewed_ms = sent_ms

    def renewed(self, sent_ms: float) -> None:
        """A call that left then was answered."""
        self.renewed_ms = max(self.renewed_ms, sent_ms)

    @property
    def left_ms(self) -> float:
        """Until this host has to stop; 0 or less: it has to be still now."""
        return self.renewed_ms + self.half_ms - self._clock.monotonic_ms()

    def check(self) -> None:
        """Before every dispatch: a process that was frozen wakes up in the middle of an action."""
        if self.left_ms <= 0:
            raise cut_off()


def cut_off() -> Cancelled:
    """What whoever wants to act is told."""
    return Cancelled(
        "this host is cut off from its head, and does nothing more",
        hint="It continues when the head answers again.",
    )
