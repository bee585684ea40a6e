"""One channel besides adb and its health: put aside when it fails, opened again after growing pauses.

A channel that is aside is closed on the phone: u2, the helper and `uiautomator dump` exclude one another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from handrail.adb.deadline import Deadline, Expired
from handrail.android.channel import Channel
from handrail.android.constants import (
    CHANNEL_OPENING_WAIT_MS,
    CHANNEL_PAUSE_FIRST_MS,
    CHANNEL_PAUSE_GROWTH,
    CHANNEL_PAUSE_LAST_MS,
)
from handrail.clock import Clock
from handrail.errors import HandrailError

Say = Callable[[str], None]
Opener = Callable[[Say], Awaitable[Channel | None]]
"""Opens the channel, or says in one line why not."""


class Door:
    """Open while `channel` is one. Whoever wants it asks `ready`, whoever saw it fail calls `put_aside`."""

    def __init__(self, name: str, opener: Opener, clock: Clock, say: Say) -> None:
        self.name = name
        self.channel: Channel | None = None
        self.reason = "not opened yet"
        self._opener = opener
        self._clock = clock
        self._say = say
        self._pause_ms = float(CHANNEL_PAUSE_FIRST_MS)
        self._again_ms = 0.0
        self._opening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """The first time; a door that stays shut then is not knocked at again."""
        self.channel = await self._try()
        if self.channel is None:
            self._say(f"{self.name}: not in use: {self.reason}")
            self._again_ms = float("inf")

    async def ready(self, primitive: str) -> Channel | None:
        """The channel if it is in use and can do this; a pause that is over ends here.

        A look waits a little for a channel that is opening: adb's own dump would be in its way.
        """
        if self.channel is None:
            self._open_again()
            if primitive == "look" and self._opening is not None:
                await self._wait_for(self._opening)
        return self.channel if self.channel and primitive in self.channel.can else None

    async def put_aside(self, channel: Channel, error: HandrailError) -> None:
        """Say it once, close it, leave it alone for a while."""
        if self.channel is not channel:
            return
        self.channel = None
        pause_ms = self._pause(f"{error.code}: {error.message}")
        self._say(f"{self.name}: put aside, tried again after {pause_ms / 1000:g} s: {self.reason}")
        await self._close(channel)

    def works(self) -> None:
        """A call came back: the next pause is a short one again."""
        self._pause_ms = CHANNEL_PAUSE_FIRST_MS

    async def close(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
            self._opening = None
        self._again_ms = float("inf")
        channel, self.channel = self.channel, None
        if channel is not None:
            self.reason = "closed"
            await self._close(channel)

    def _open_again(self) -> None:
        if self._opening is None and self._clock.monotonic_ms() >= self._again_ms:
            self._opening = asyncio.ensure_future(self._reopen())

    async def _wait_for(self, opening: asyncio.Task[None]) -> None:
        with suppress(Expired):
            async with Deadline(self._clock, CHANNEL_OPENING_WAIT_MS):
                await asyncio.wait({opening})

    async def _reopen(self) -> None:
        """In the background; plain adb serves meanwhile."""
        try:
            self.channel = await self._try()
            if self.channel is None:
                self._pause(self.reason)
            else:
                self._say(f"{self.name}: in use again")
        finally:
            self._opening = None

    async def _try(self) -> Channel | None:
        lines: list[str] = []
        try:
            channel = await self._opener(lines.append)
        except HandrailError as error:
            lines.append(f"{error.code}: {error.message}")
            channel = None
        if channel is None:
            self.reason = lines[-1] if lines else "it could not be opened"
        return channel

    def _pause(self, reason: str) -> float:
        self.reason = reason
        pause_ms = min(self._pause_ms, CHANNEL_PAUSE_LAST_MS)
        self._pause_ms = pause_ms * CHANNEL_PAUSE_GROWTH
        self._again_ms = self._clock.monotonic_ms() + pause_ms
        return pause_ms

    async def _close(self, channel: Channel) -> None:
        try:
            await channel.close()
        except HandrailError as error:
            self.reason += f" (closing it: {error.message})"
