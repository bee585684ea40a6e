"""How fast a client may speak: a bucket that fills with time. Pure arithmetic over a clock."""

from __future__ import annotations

from handrail.clock import Clock

FRAMES_PER_SECOND = 200.0
"""A browser that drags sends sixty."""
BURST = 400.0


class Pace:
    """One client's bucket."""

    def __init__(self, clock: Clock, rate: float = FRAMES_PER_SECOND, burst: float = BURST) -> None:
        self._clock = clock
        self._rate = rate / 1000
        self._burst = burst
        self._left = burst
        self._at = clock.monotonic_ms()

    def allows(self) -> bool:
        """Whether one more is in order."""
        now = self._clock.monotonic_ms()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
