"""What a way into the phone besides adb may offer: a channel overrides what it can do, `can` lists it.

Routing asks `can` before it calls. Input methods raise with `delivery` among the error's details.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, NoReturn

from handrail.android.constants import (
    CHANNEL_OPENING_WAIT_MS,
    CHANNEL_PAUSE_FIRST_MS,
    CHANNEL_PAUSE_GROWTH,
    CHANNEL_PAUSE_LAST_MS,
)
from handrail.clock import Clock
from handrail.errors import HandrailError, Unsupported
from handrail.surface.values import IdleResult
from handrail.tree.node import Screen
from handrail.waiting import Background, wait_for_end


class Channel:
    """A door that is open. Errors are `DeviceError` or `Timeout`; `name` is the word of `driver.Channel`."""

    name: ClassVar[str] = ""
    can: ClassVar[frozenset[str]] = frozenset()
    """The names of the methods that this kind of channel has of its own."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.can = frozenset(one for one in OFFERS if getattr(cls, one) is not getattr(Channel, one))

    def has(self, *primitives: Callable[..., object]) -> bool:
        """Whether it has all of these methods of its own: `channel.has(Channel.paste)`."""
        return all(one.__name__ in self.can for one in primitives)

    # reads

    async def look(self) -> Screen:
        self._refuse(Channel.look)

    async def screenshot(self) -> bytes:
        """PNG, upright. What FLAG_SECURE hides is black here, or even visible: ask before."""
        self._refuse(Channel.screenshot)

    async def wait_idle(self, timeout_ms: float) -> IdleResult:
        """Needs an event stream: a channel that would have to poll has no such method."""
        self._refuse(Channel.wait_idle, timeout_ms)

    async def get_clipboard(self) -> str:
        self._refuse(Channel.get_clipboard)

    # fingers and keys

    async def tap(self, x: int, y: int) -> None:
        self._refuse(Channel.tap, x, y)

    async def double_tap(self, x: int, y: int) -> None:
        self._refuse(Channel.double_tap, x, y)

    async def long_press(self, x: int, y: int, duration_ms: int) -> None:
        self._refuse(Channel.long_press, x, y, duration_ms)

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        self._refuse(Channel.swipe, x1, y1, x2, y2, duration_ms)

    async def drag(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        self._refuse(Channel.drag, x1, y1, x2, y2, duration_ms)

    async def path(self, points: Sequence[tuple[int, int]], duration_ms: int) -> None:
        self._refuse(Channel.path, points, duration_ms)

    async def pinch(self, cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: int) -> None:
        self._refuse(Channel.pinch, cx, cy, start_radius, end_radius, duration_ms)

    async def rotate(
        self, cx: int, cy: int, radius: int, start_angle_deg: float, end_angle_deg: float, duration_ms: int
    ) -> None:
        self._refuse(Channel.rotate, cx, cy, radius, start_angle_deg, end_angle_deg, duration_ms)

    async def key(self, code: int) -> None:
        """One of Android's key codes; `Unsupported` for a key that this channel has no name for."""
        self._refuse(Channel.key, code)

    async def chord(self, keys: Sequence[str]) -> None:
        """Keys together, by any spelling."""
        self._refuse(Channel.chord, keys)

    # text

    async def type_ascii(self, text: str) -> None:
        """Key events for printable ASCII, at the cursor. `Unsupported`, before anything is sent, for more."""
        self._refuse(Channel.type_ascii, text)

    async def set_text(self, text: str) -> None:
        """Any Unicode, in place of all that the focused field has; no keyboard is needed."""
        self._refuse(Channel.set_text, text)

    async def clear_field(self) -> None:
        """Empty the focused field."""
        self._refuse(Channel.clear_field)

    async def set_clipboard(self, text: str) -> None:
        self._refuse(Channel.set_clipboard, text)

    async def paste(self) -> None:
        """The clipboard, at the cursor of the focused field."""
        self._refuse(Channel.paste)

    async def stop(self) -> None:
        """Ends what it runs on the phone, which is in the way of other channels; then it is closed."""
        await self.close()

    async def close(self) -> None:
        """Lets go of it; as often as one likes. What it runs on the phone may stay for the next one."""

    def _need_keys(self, text: str) -> None:
        """Only characters that every keyboard has: what has no key is lost without a word on the phone."""
        lost = sum(not " " <= one <= "~" for one in text)
        if lost:
            reason = f"the {self.name} channel types by keys, and {lost} of {len(text)} characters have none"
            raise Unsupported(reason, channel=self.name, delivery="not_delivered")

    def _refuse(self, primitive: Callable[..., object], *_: object) -> NoReturn:
        reason = f"the {self.name} channel has no {primitive.__name__}"
        raise Unsupported(reason, channel=self.name, delivery="not_delivered")


OFFERS = frozenset(name for name in vars(Channel) if not name.startswith("_")) - {
    "name",
    "can",
    "has",
    "close",
    "stop",
}


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
        self._tasks = Background()
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
                await wait_for_end(self._clock, self._opening, CHANNEL_OPENING_WAIT_MS)
        return self.channel if self.channel and primitive in self.channel.can else None

    async def put_aside(self, channel: Channel, error: HandrailError) -> None:
        """Say it once, close it, leave it alone for a while."""
        if self.channel is not channel:
            return
        self.channel = None
        pause_ms = self._pause(f"{error.code}: {error.message}")
        self._say(f"{self.name}: put aside, tried again after {pause_ms / 1000:g} s: {self.reason}")
        await self._end(channel.stop)

    def works(self) -> None:
        """A call came back: the next pause is a short one again."""
        self._pause_ms = CHANNEL_PAUSE_FIRST_MS

    async def close(self) -> None:
        await self._tasks.close()
        self._opening = None
        self._again_ms = float("inf")
        channel, self.channel = self.channel, None
        if channel is not None:
            self.reason = "closed"
            await self._end(channel.close)

    def _open_again(self) -> None:
        if self._opening is None and self._clock.monotonic_ms() >= self._again_ms:
            self._opening = self._tasks.start(self._reopen(), f"opening {self.name}")

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

    async def _end(self, end: Callable[[], Awaitable[None]]) -> None:
        try:
            await end()
        except HandrailError as error:
            self.reason += f" (closing it: {error.message})"
