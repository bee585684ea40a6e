"""Base class of all channels into a phone, and `ManagedChannel`, which opens one again after a failure.

A channel overrides what it can do; `can` lists it, and the driver asks `can` before it calls. Input methods
raise errors with `delivery` among their details.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, NoReturn

from handrail.android.constants import (
    CHANNEL_DOUBLE_TAP_GAP_MS,
    CHANNEL_OPENING_WAIT_MS,
    CHANNEL_PAUSE_FIRST_MS,
    CHANNEL_PAUSE_GROWTH,
    CHANNEL_PAUSE_LAST_MS,
    LARGE_DUMP_BYTES,
)
from handrail.android.dumpsys import turned_size
from handrail.clock import Clock
from handrail.errors import HandrailError, Unsupported
from handrail.screen.node import Bounds, Screen
from handrail.screen.parse import parse
from handrail.surface.gesture import Gesture, GestureKind
from handrail.surface.values import IdleResult
from handrail.waiting import Background, wait_for_end

CHANNELS = ("grpc", "helper", "u2", "adb")
"""Their names, the best first."""


class Channel:
    """A connected channel. Errors are `DeviceError` or `Timeout`; `name` appears in `Driver.channels`."""

    name: ClassVar[str] = ""
    gestures: ClassVar[frozenset[GestureKind]] = frozenset()
    can: ClassVar[frozenset[str]] = frozenset()
    """Gestures, and names of the methods that this class overrides."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = {offer for offer in OFFERS if getattr(cls, offer) is not getattr(Channel, offer)}
        cls.can = cls.gestures | own

    # reads

    async def look(self) -> Screen:
        self._refuse("look")

    async def screenshot(self) -> bytes:
        """PNG, upright. The caller checks first for FLAG_SECURE windows, which are black or even visible."""
        self._refuse("screenshot")

    async def wait_idle(self, timeout_ms: float) -> IdleResult:
        """Needs an event stream; a channel that would have to poll does not implement it."""
        self._refuse("wait_idle", timeout_ms)

    def is_rested(self) -> bool:
        """Whether the answer to the last gesture, a moment ago, said that the screen is at rest."""
        return False

    async def get_clipboard(self) -> str:
        self._refuse("get_clipboard")

    # fingers and keys

    async def perform(self, gesture: Gesture) -> None:
        """`gesture.kind` is one of `gestures`."""
        self._refuse(gesture.kind)

    async def key(self, code: int) -> None:
        """Raises `Unsupported` for a key that this channel has no name for."""
        self._refuse("key", code)

    async def chord(self, keys: Sequence[str]) -> None:
        """Presses keys together, in any spelling."""
        self._refuse("chord", keys)

    # text

    async def type_ascii(self, text: str) -> None:
        """Sends key events at the cursor. More than ASCII raises `Unsupported` before anything is sent."""
        self._refuse("type_ascii", text)

    async def set_text(self, text: str) -> None:
        """Replaces all text of the focused field, with any Unicode and without a keyboard."""
        self._refuse("set_text", text)

    async def clear_field(self) -> None:
        self._refuse("clear_field")

    async def set_clipboard(self, text: str) -> None:
        self._refuse("set_clipboard", text)

    async def paste(self) -> None:
        """Pastes at the cursor of the focused field."""
        self._refuse("paste")

    async def stop(self) -> None:
        """Ends what the channel runs on the phone, because it blocks other channels; then closes it."""
        await self.close()

    async def close(self) -> None:
        """May be called repeatedly. What the channel runs on the phone may stay for the next session."""

    def _need_keys(self, text: str) -> None:
        """Refuses characters without a key, because the phone would drop them silently."""
        if lost := sum(not " " <= character <= "~" for character in text):
            reason = f"the {self.name} channel types by keys, and {lost} of {len(text)} characters have none"
            raise Unsupported(reason, channel=self.name, delivery="not_delivered")

    async def _tap_twice(self, tap: Callable[[], Awaitable[None]], clock: Clock) -> None:
        """After the first tap the gesture must not be sent again by another channel."""
        await tap()
        try:
            await clock.sleep_ms(CHANNEL_DOUBLE_TAP_GAP_MS)
            await tap()
        except HandrailError as error:
            error.details["delivery"] = "unknown"
            raise

    def _refuse(self, primitive: str, *_: object) -> NoReturn:
        reason = f"the {self.name} channel has no {primitive}"
        raise Unsupported(reason, channel=self.name, delivery="not_delivered")


_COMMON = {"name", "gestures", "perform", "can", "close", "stop", "is_rested"}
OFFERS = frozenset(name for name in vars(Channel) if not name.startswith("_")) - _COMMON
Say = Callable[[str], None]
Opener = Callable[[Say], Awaitable[Channel | None]]
"""Opens the channel, or reports in one line why it can't."""


class ManagedChannel:
    """Owns one channel: opens it, closes it after a failure, and reopens it after a pause."""

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
        """A channel that fails to open the first time is not tried again."""
        self.channel = await self._try()
        if self.channel is None:
            self._say(f"{self.name}: not in use: {self.reason}")
            self._again_ms = float("inf")

    async def ready(self, primitive: str) -> Channel | None:
        """The channel if it is open and can do this. Starts to reopen it once its pause is over.

        A look waits briefly for a channel that is opening, because adb's own dump would block it.
        """
        if self.channel is None:
            if self._opening is None and self._clock.monotonic_ms() >= self._again_ms:
                self._opening = self._tasks.start(self._reopen(), f"opening {self.name}")
            if primitive == "look" and self._opening is not None:
                await wait_for_end(self._clock, self._opening, CHANNEL_OPENING_WAIT_MS)
        return self.channel if self.channel and primitive in self.channel.can else None

    async def put_aside(self, channel: Channel, error: HandrailError) -> None:
        """Closes a failed channel and starts its pause."""
        if self.channel is not channel:
            return
        self.channel = None
        pause_ms = self._back_off(f"{error.code}: {error.message}")
        self._say(f"{self.name}: put aside, tried again after {pause_ms / 1000:g} s: {self.reason}")
        await self._end(channel.stop)

    def works(self) -> None:
        """Resets the pause after a successful call."""
        self._pause_ms = CHANNEL_PAUSE_FIRST_MS

    async def close(self) -> None:
        await self._tasks.close()
        self._opening = None
        self._again_ms = float("inf")
        channel, self.channel = self.channel, None
        if channel is not None:
            self.reason = "closed"
            await self._end(channel.close)

    async def _reopen(self) -> None:
        """Runs in the background; plain adb serves meanwhile."""
        try:
            self.channel = await self._try()
            if self.channel is None:
                self._back_off(self.reason)
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
        else:
            for line in lines:
                self._say(f"{self.name}: {line}")
        return channel

    def _back_off(self, reason: str) -> float:
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


class ChannelMemory:
    """Which channels failed or passed their check on one build of one device, in a file of the home.

    A version stands for all that a later try depends on: another one is tried again.
    """

    def __init__(self, file: Path | None, device: str, build: str) -> None:
        self._file = file
        self._device = device
        self._build = build
        self._devices: dict[str, dict[str, str]] = {}
        if file is not None:
            with suppress(OSError, ValueError, AttributeError):
                for name, verdicts in json.loads(file.read_bytes()).items():
                    self._devices[str(name)] = {str(key): str(reason) for key, reason in verdicts.items()}

    def reason(self, channel: str, version: str) -> str | None:
        """Why it failed; "" if it passed its check, None if nothing is remembered."""
        return self._devices.get(self._device, {}).get(self._key(channel, version))

    def keep(self, channel: str, version: str, reason: str) -> None:
        """Replaces what is remembered of other builds and of other versions of this channel."""
        kept = {
            key: words
            for key, words in self._devices.get(self._device, {}).items()
            if key.startswith(f"{self._build} ") and not key.startswith(self._key(channel, ""))
        }
        self._devices[self._device] = kept | {self._key(channel, version): reason}
        self._write()

    def forget(self) -> None:
        if self._devices.pop(self._device, None):
            self._write()

    def _key(self, channel: str, version: str) -> str:
        return f"{self._build} {channel} {version}"

    def _write(self) -> None:
        """A failed write is ignored: the channel is tried again next time."""
        if self._file is None:
            return
        fresh = self._file.with_suffix(".new")
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(self._devices, ensure_ascii=False, indent=1))
            fresh.replace(self._file)


SIZE_GUESSED = "the display size is a guess"
"""Prefix of the warning by which `screen.parse` marks a guess, which the phone's own answer replaces."""


class LastScreen:
    """Caches the last dump of a channel, so that an unchanged one is not parsed again."""

    def __init__(self) -> None:
        self._raw = b""
        self._natural: tuple[int, int] | None = None
        self._screen: Screen | None = None

    async def read(self, raw: bytes, natural: tuple[int, int] | None = None) -> Screen:
        """`natural` is the size of the unrotated display, if known. Raises `TreeParseError`."""
        if self._screen is not None and natural == self._natural and raw == self._raw:
            return self._screen
        screen = await asyncio.to_thread(parse, raw) if len(raw) > LARGE_DUMP_BYTES else parse(raw)
        if natural is not None:
            fit(screen, turned_size(natural, screen.rotation))
        self._raw, self._natural, self._screen = raw, natural, screen
        return screen


def fit(screen: Screen, size: tuple[int, int]) -> None:
    """Sets the display's size, which the virtual root spans: a dump has windows, and a dialog is smaller."""
    screen.width, screen.height, screen.memo = *size, {}
    screen.warnings = [warning for warning in screen.warnings if not warning.startswith(SIZE_GUESSED)]
    root = screen.root
    if not root.class_name and not root.flags:
        root.bounds = Bounds(0, 0, *size)
