"""Screen video by `screenrecord`, as H.264 access units."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from handrail.adb.shell import DeviceShell, Process
from handrail.android.constants import READ_DEADLINE_MS
from handrail.android.screenshot import require_visible
from handrail.clock import Clock
from handrail.errors import HandrailError, Unsupported
from handrail.surface.values import Display, VideoUnit
from handrail.waiting import Background, Deadline, Expired, cancel, wait_for_event

LIMIT_S = 180
"""Android's longest recording."""
RENEW_MS = 165_000.0
"""The next recording starts this much later: its first picture may take seconds on a slow phone."""
BETWEEN_MS = 4_000.0
"""Minimum between two starts, because an encoder is expensive."""
FIRST_MS = 6_000.0
"""A phone whose first picture takes longer is shown by screenshots."""
LONG_SIDE = 1_280
"""Pixels: every phone's encoder supports it, and it is enough for a window."""
STEP = 16
"""Encoders need sides that are multiples of this."""
BITS = 6_000_000
"""Maximum per second: small text stays readable."""
SILENCE_SEC = 0.008
"""After this much silence a picture is complete; doubled for a phone that pauses within one."""
LONGEST_SILENCE_SEC = 0.1
READ_ON_SEC = 0.002
"""What has already arrived within this time is read first."""

_News = tuple[int, VideoUnit | HandrailError | None]


@dataclass(frozen=True, slots=True)
class ScreenVideo:
    """Live video of the screen."""

    shell: DeviceShell
    display: Callable[[], Awaitable[Display]]
    clock: Clock

    async def require_visible(self) -> None:
        await require_visible(self.shell, READ_DEADLINE_MS)

    async def record(self, renew: asyncio.Event) -> AsyncGenerator[VideoUnit]:
        takes = _Takes(self, renew)
        async with takes.tasks:
            takes.begin()
            yield await takes.first()
            takes.tasks.start(takes.renewals(), "renewals of a recording")
            while True:
                if (unit := await takes.next()) is not None:
                    yield unit


class _Takes:
    """Recordings by number. Only pictures of the newest that has begun are used."""

    def __init__(self, phone: ScreenVideo, renew: asyncio.Event) -> None:
        self.tasks = Background()
        self._phone = phone
        self._clock = phone.clock
        self._renew = renew
        self._news: asyncio.Queue[_News] = asyncio.Queue()
        self._running: dict[int, asyncio.Task[None]] = {}
        self._newest = self._shown = 0
        self._silence_sec = SILENCE_SEC

    def begin(self) -> None:
        self._newest += 1
        number = self._newest
        self._running[number] = self.tasks.start(self._take(number), f"recording {number}")

    async def first(self) -> VideoUnit:
        """Raises `Unsupported` if none comes."""
        with suppress(Expired):
            async with Deadline(self._clock, FIRST_MS):
                while (unit := await self.next()) is None:
                    pass
                return unit
        raise _no_video(f"its first picture took longer than {FIRST_MS / 1000:g} s")

    async def next(self) -> VideoUnit | None:
        """Returns None if something else happened."""
        number, what = await self._news.get()
        if isinstance(what, VideoUnit):
            if number > self._shown and what.is_key:
                self._shown = number
                await cancel(*(self._running.pop(take) for take in list(self._running) if take < number))
            return what if number == self._shown else None
        self._running.pop(number, None)
        if isinstance(what, HandrailError) and not self._running:
            raise what
        if not self._running:  # it ended before the next one started
            self.begin()
        return None

    async def renewals(self) -> None:
        while True:
            await self._clock.sleep_ms(BETWEEN_MS)
            await wait_for_event(self._clock, self._renew, RENEW_MS - BETWEEN_MS)
            self._renew.clear()
            self.begin()

    async def _take(self, number: int) -> None:
        problem: HandrailError | None = None
        try:
            width, height = fitted(await self._phone.display())
            limits = ["--size", f"{width}x{height}", "--bit-rate", str(BITS), "--time-limit", str(LIMIT_S)]
            async with self._phone.shell.start(
                ["screenrecord", "--output-format=h264", *limits, "-"]
            ) as process:
                if not await self._pictures(number, process):
                    ended = await process.wait()
                    complaint = (ended.stderr or ended.stdout).decode("utf-8", "replace").strip()
                    problem = _no_video(f"`screenrecord` answered {complaint[:200]!r}")
        except HandrailError as error:
            problem = error
        except ValueError as error:
            problem = _no_video(str(error))
        self._news.put_nowait((number, problem))

    async def _pictures(self, number: int, process: Process) -> int:
        """Number of pictures up to the recording's end."""
        stream, count, torn = AnnexB(), 0, 0
        loop = asyncio.get_running_loop()
        timer: asyncio.TimerHandle | None = None

        def put(units: list[VideoUnit]) -> None:
            nonlocal count
            count += len(units)
            for unit in units:
                self._news.put_nowait((number, unit))

        def silent() -> None:
            nonlocal timer
            timer = loop.call_later(READ_ON_SEC, lambda: put(stream.flush()))

        try:
            async for piece in process:
                if timer is not None:
                    timer.cancel()
                put(stream.feed(piece))
                if stream.torn > torn:
                    torn, self._silence_sec = stream.torn, min(LONGEST_SILENCE_SEC, self._silence_sec * 2)
                    self._renew.set()
                # Pacing of a transport: uses the loop's own clock, even if time is simulated.
                timer = loop.call_later(self._silence_sec, silent)
        finally:
            if timer is not None:
                timer.cancel()
        put(stream.flush())
        return count


def fitted(display: Display) -> tuple[int, int]:
    """Size of the video: not enlarged, in multiples of `STEP`."""
    scale = min(1.0, LONG_SIDE / max(display.width, display.height))
    width, height = (max(STEP, round(s * scale / STEP) * STEP) for s in (display.width, display.height))
    return width, height


def _no_video(why: str) -> Unsupported:
    return Unsupported(f"This phone gives no video: {why}", hint="Pictures are shown instead.")


_CODE = b"\0\0\1"
_LONG_CODE = b"\0\0\0\1"
_SLICE, _KEY_SLICE, _SPS, _PPS = 1, 5, 7, 8
_BEFORE_A_PICTURE = range(6, 10)
"""NAL types that precede the first slice: messages, parameter sets, a delimiter."""
MOST_BYTES = 16 << 20
"""Largest picture; anything longer is not video."""


class AnnexB:
    """Splits an H.264 byte stream into pictures."""

    def __init__(self) -> None:
        self.torn = 0
        """How often a picture was cut too early."""
        self._bytes = bytearray()
        self._searched = 0
        self._begun = False  # whether the bytes start with a start code
        self._parts: list[bytes] = []
        self._has_slice = self._is_key = False
        self._needs_key = True
        self._parameters: dict[int, bytes] = {}

    def feed(self, data: bytes) -> list[VideoUnit]:
        """Complete pictures. Raises `ValueError` if it is not such a stream."""
        self._bytes += data
        if len(self._bytes) > MOST_BYTES:
            raise ValueError(f"{len(self._bytes):,} bytes without an end are not a picture")
        units: list[VideoUnit] = []
        if not self._begun:  # what precedes the first start code belongs to a picture that was already sent
            at = self._bytes.find(_CODE)
            if at < 0:
                return units
            if bytes(self._bytes[:at]).strip(b"\0"):
                self._tear()
            del self._bytes[:at]
            self._begun, self._searched = True, 0
        while (at := self._bytes.find(_CODE, max(len(_CODE), self._searched))) >= 0:
            self._part(bytes(self._bytes[len(_CODE) : at]), units)
            del self._bytes[:at]
            self._searched = 0
        self._searched = max(0, len(self._bytes) - len(_CODE))
        return units

    def flush(self) -> list[VideoUnit]:
        """The sender is silent, so the rest is complete."""
        units: list[VideoUnit] = []
        if self._begun:
            self._part(bytes(self._bytes[len(_CODE) :]), units)
            self._bytes.clear()
            self._searched, self._begun = 0, False
        if self._has_slice:
            self._end(units)
        return units

    def _part(self, raw: bytes, units: list[VideoUnit]) -> None:
        """One NAL unit; trailing zeros belong to the next start code."""
        part = raw.rstrip(b"\0")
        if not part:
            return
        kind = part[0] & 31
        is_slice = kind in (_SLICE, _KEY_SLICE)
        begins = kind in _BEFORE_A_PICTURE or (is_slice and (len(part) > 1 and part[1] & 0x80 != 0))
        if self._has_slice and begins:
            self._end(units)
        if is_slice and not begins and not self._has_slice:
            self._tear()
            return
        if kind in (_SPS, _PPS):
            self._parameters[kind] = part
        self._has_slice |= is_slice
        self._is_key |= kind == _KEY_SLICE
        self._parts.append(part)

    def _end(self, units: list[VideoUnit]) -> None:
        parts, is_key = self._parts, self._is_key
        self._parts, self._has_slice, self._is_key = [], False, False
        if self._needs_key and not (is_key and {_SPS, _PPS} <= self._parameters.keys()):
            return
        self._needs_key = False
        if is_key:  # phones send the parameters once, but later viewers need them too
            there = {part[0] & 31 for part in parts}
            parts = [unit for kind, unit in sorted(self._parameters.items()) if kind not in there] + parts
        data = b"".join(_LONG_CODE + part for part in parts)
        profile = self._parameters[_SPS][1:4]  # profile, constraints and level
        units.append(VideoUnit(data, is_key, f"avc1.{profile.hex().upper()}"))

    def _tear(self) -> None:
        self.torn += not self._needs_key
        self._needs_key = True
