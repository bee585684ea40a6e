"""How a long call gets on, told once a second to a client that gave a progress token.

`progress` is the seconds that passed: it always grows, as the protocol wants. The message says what is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from handrail.clock import Clock
from handrail.engine.events import Listener
from handrail.engine.session import Session

FIRST_MS = 1_000.0
"""What is done sooner needs no report."""
Send = Callable[[float, float | None, str], Awaitable[None]]
"""Seconds, a total where one is known, what is going on."""


class Ticker:
    """The progress of one call."""

    def __init__(self, tool: str, clock: Clock) -> None:
        self._tool = tool
        self._clock = clock
        self._step = ""
        self._state = ""

    def step(self, done: int, total: int, what: str) -> None:
        """Within a flow: what its next step does."""
        self._step = f"step {min(done + 1, total)} of {total}, {what}"

    @asynccontextmanager
    async def watching(self, session: Session) -> AsyncIterator[None]:
        """While an action runs, its state is in the message."""
        listening = asyncio.create_task(self._listen(session.events()), name=f"progress of {self._tool}")
        try:
            yield
        finally:
            self._state = ""
            listening.cancel()
            await asyncio.wait({listening})

    async def _listen(self, events: Listener) -> None:
        mine: str | None = None
        async for event in events:
            mine = mine or event.action_id  # actions of others on the same device come later
            if event.action_id == mine:
                self._state = event.state.replace("_", " ")

    async def run(self, send: Send) -> None:
        """Until it is cancelled, at the end of a request that waits for the call."""
        began = self._clock.monotonic_ms()
        while True:
            await self._clock.sleep_ms(FIRST_MS)
            elapsed = (self._clock.monotonic_ms() - began) / 1000
            said = ", ".join(filter(None, [self._step, self._state]))
            await send(round(elapsed, 3), None, f"{self._tool}: {said or 'at work'}")
