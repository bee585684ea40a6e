"""The screen as a video, by `screenrecord`. One recording follows another without a gap.

Android ends a recording after three minutes. It neither turns with the screen nor gives a key picture when it
is asked. A new recording answers all three: it begins beside the old one, which ends when the new one has
shown its first picture.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress

from handrail.adb.shell import DeviceShell, Process
from handrail.android.constants import READ_DEADLINE_MS
from handrail.android.h264 import AnnexB
from handrail.android.picture import require_visible
from handrail.clock import Clock
from handrail.errors import HandrailError, Unsupported
from handrail.surface.values import Display, VideoUnit
from handrail.waiting import Background, Deadline, Expired, cancel, wait_for_event

LIMIT_S = 180
"""Android's longest recording."""
RENEW_MS = 165_000.0
"""The next one begins so much later: its first picture may take seconds on a slow phone."""
BETWEEN_MS = 4_000.0
"""Between two beginnings: an encoder is not started for every watcher who stumbles."""
FIRST_MS = 6_000.0
"""A phone whose first picture takes longer is shown by pictures."""
LONG_SIDE = 1_280
"""Pixels: what every phone's encoder has, and enough for a window."""
STEP = 16
"""Encoders want sides that are whole blocks."""
BITS = 6_000_000
"""A second, at most: small letters stay readable."""
SILENCE_SEC = 0.008
"""After so much of it a picture is over; doubled for a phone that pauses within one."""
LONGEST_SILENCE_SEC = 0.1
READ_ON_SEC = 0.002
"""What has arrived at this machine by then and was not read yet is read first."""

_News = tuple[int, VideoUnit | HandrailError | None]


class ScreenVideo:
    """What the screen shows, to people who watch."""

    def __init__(self, shell: DeviceShell, display: Callable[[], Awaitable[Display]], clock: Clock) -> None:
        self._shell = shell
        self._display = display
        self._clock = clock

    async def require_visible(self) -> None:
        await require_visible(self._shell, READ_DEADLINE_MS)

    async def record(self, renew: asyncio.Event) -> AsyncGenerator[VideoUnit]:
        takes = _Takes(self._shell, self._display, self._clock, renew)
        async with takes.tasks:
            takes.begin()
            yield await takes.first()
            takes.tasks.start(takes.renewals(), "renewals of a recording")
            while True:
                unit = await takes.next()
                if unit is not None:
                    yield unit


class _Takes:
    """Recordings by number. Pictures of the newest that has begun to show are taken, of no other."""

    def __init__(
        self,
        shell: DeviceShell,
        display: Callable[[], Awaitable[Display]],
        clock: Clock,
        renew: asyncio.Event,
    ) -> None:
        self.tasks = Background()
        self._shell = shell
        self._display = display
        self._clock = clock
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
        """Raises `Unsupported` where none comes."""
        with suppress(Expired):
            async with Deadline(self._clock, FIRST_MS):
                while True:
                    if (unit := await self.next()) is not None:
                        return unit
        raise _no_video(f"its first picture took longer than {FIRST_MS / 1000:g} s")

    async def next(self) -> VideoUnit | None:
        """None: something else happened."""
        number, what = await self._news.get()
        if isinstance(what, VideoUnit):
            if number > self._shown and what.is_key:
                await self._show(number)
            return what if number == self._shown else None
        self._running.pop(number, None)
        if isinstance(what, HandrailError) and not self._running:
            raise what
        if not self._running:  # its time was over before the next one had begun
            self.begin()
        return None

    async def renewals(self) -> None:
        while True:
            await self._clock.sleep_ms(BETWEEN_MS)
            await wait_for_event(self._clock, self._renew, RENEW_MS - BETWEEN_MS)
            self._renew.clear()
            self.begin()

    async def _show(self, number: int) -> None:
        self._shown = number
        old = [self._running.pop(one) for one in list(self._running) if one < number]
        await cancel(*old)

    async def _take(self, number: int) -> None:
        problem: HandrailError | None = None
        try:
            async with self._shell.start(_command(*fitted(await self._display()))) as process:
                if not await self._pictures(number, process):
                    ended = await process.wait()
                    said = (ended.stderr or ended.stdout).decode("utf-8", "replace").strip()
                    problem = _no_video(f"`screenrecord` said {said[:200]!r}")
        except HandrailError as error:
            problem = error
        except ValueError as error:
            problem = _no_video(str(error))
        self._news.put_nowait((number, problem))

    async def _pictures(self, number: int, process: Process) -> int:
        """How many there were, to the recording's end."""
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
                # Pacing of a transport, not logic: the loop's own clock, also where time is simulated.
                timer = loop.call_later(self._silence_sec, silent)
        finally:
            if timer is not None:
                timer.cancel()
        put(stream.flush())
        return count


def fitted(display: Display) -> tuple[int, int]:
    """The size of its video: not enlarged, in whole blocks."""
    scale = min(1.0, LONG_SIDE / max(display.width, display.height))
    return _blocks(display.width * scale), _blocks(display.height * scale)


def _command(width: int, height: int) -> list[str]:
    limits = ["--bit-rate", str(BITS), "--time-limit", str(LIMIT_S)]
    return ["screenrecord", "--output-format=h264", "--size", f"{width}x{height}", *limits, "-"]


def _blocks(side: float) -> int:
    return max(STEP, round(side / STEP) * STEP)


def _no_video(why: str) -> Unsupported:
    return Unsupported(f"This phone gives no video: {why}", hint="Pictures are shown instead.")
