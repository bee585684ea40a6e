"""What people did for one agent: clicks, answers, messages. Bounded, oldest dropped and counted."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from handrail.clock import Clock

MOST = 500


class Inbox:
    """One agent's letters, in the order in which they came."""

    def __init__(self, clock: Clock) -> None:
        self.dropped = 0
        """How many were lost because nobody took them."""
        self._clock = clock
        self._letters: deque[dict[str, Any]] = deque()
        self._arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self._letters)

    def put(self, letter: dict[str, Any]) -> None:
        self._letters.append({**letter, "at_ms": self._clock.now_ms()})
        if len(self._letters) > MOST:
            self._letters.popleft()
            self.dropped += 1
        self._arrived.set()

    def take(self) -> list[dict[str, Any]]:
        """Everything that arrived, once."""
        letters = list(self._letters)
        self._letters.clear()
        self._arrived.clear()
        return letters

    async def wait(self, timeout_ms: float) -> None:
        """Until something is there, or the time is over."""
        arrived = asyncio.ensure_future(self._arrived.wait())
        timer = asyncio.ensure_future(self._clock.sleep_ms(timeout_ms))
        try:
            await asyncio.wait({arrived, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            arrived.cancel()
            timer.cancel()
            await asyncio.gather(arrived, timer, return_exceptions=True)
