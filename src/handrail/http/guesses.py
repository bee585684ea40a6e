"""Wrong secrets, counted by address: whoever guesses often has to wait, and nobody else does."""

from __future__ import annotations

from collections import deque

from handrail.clock import Clock

MOST = 10
"""Wrong secrets in one window."""
WINDOW_MS = 60_000.0
ADDRESSES = 1_000
"""Whoever was wrong longest ago is forgotten first."""


class Guesses:
    """Who was wrong lately."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wrong: dict[str, deque[float]] = {}

    def wait_ms(self, address: str) -> float:
        """How long this address has to wait before it is heard again; 0: it is heard."""
        recent = self._recent(address)
        return recent[0] + WINDOW_MS - self._clock.monotonic_ms() if len(recent) >= MOST else 0.0

    def was_wrong(self, address: str) -> None:
        recent = self._recent(address)
        recent.append(self._clock.monotonic_ms())
        self._wrong.pop(address, None)
        self._wrong[address] = recent
        while len(self._wrong) > ADDRESSES:
            del self._wrong[next(iter(self._wrong))]

    def _recent(self, address: str) -> deque[float]:
        recent = self._wrong.get(address) or deque(maxlen=MOST)
        while recent and recent[0] + WINDOW_MS <= self._clock.monotonic_ms():
            recent.popleft()
        return recent
