"""Video of a phone for those who watch: one recording for all, from the first who comes to the last who goes.

Nobody waits for a watcher: one that falls behind goes on at the next key picture. What pictures would not
show ends the recording.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Protocol, cast

from handrail.clock import Clock, iso_time
from handrail.config import canonical
from handrail.engine.session import Session
from handrail.errors import HandrailError, Unsupported
from handrail.http.phone_pictures import TROUBLE_MS, OpenSession, pack
from handrail.protocol.traits import Capability
from handrail.surface.capabilities import LookCapability, VideoCapability
from handrail.surface.values import VideoUnit
from handrail.waiting import Background, first

GUARD_MS = 250.0
"""Between two questions whether a window forbids pictures, while the screen moves; a window that comes moves
it. Android leaves such a window black in every recording; asking is for the words instead of it."""
TURN_MS = 1_000.0
"""Between two questions how the screen is turned."""
HIDDEN_MS = 500.0
"""Between two while it may not be shown."""
MOST_KEPT = 40
"""Pictures since the last key picture that a newcomer gets; after more a new one is asked for."""


class VideoWatcher(Protocol):
    """A browser that wants video."""

    def offer_video(self, data: bytes, key: str, *, is_key: bool) -> bool:
        """False: it was too slow, and waits for a key picture."""

    def drop_video(self, key: str) -> None: ...


class PhoneVideo:
    """The video of one phone."""

    def __init__(self, device: str, open_session: OpenSession, clock: Clock) -> None:
        self.device = device
        self._open = open_session
        self._clock = clock
        self._watchers: list[VideoWatcher] = []
        self._kept: list[tuple[bytes, bool]] = []
        self._number = 0
        self._size = (0, 0)
        self._said = ""
        self._renew = asyncio.Event()
        self._moved = asyncio.Event()
        self._tasks = Background()
        self._task: asyncio.Task[None] | None = None

    @property
    def watchers(self) -> int:
        return len(self._watchers)

    def watch(self, watcher: VideoWatcher) -> None:
        """From now on; what is shown now comes at once. Asking again gives a key picture."""
        watcher.drop_video(self.device)
        if watcher not in self._watchers:
            self._watchers.append(watcher)
        if self._task is None or self._task.done():
            self._said, self._kept = "", []
            self._task = self._tasks.start(self._run(), f"video of {self.device}")
        for message, is_key in self._kept:
            watcher.offer_video(message, self.device, is_key=is_key)
        if not self._kept:
            self._renew.set()

    def unwatch(self, watcher: VideoWatcher) -> None:
        """The last one ends the recording."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)
            watcher.drop_video(self.device)
        if not self._watchers and self._task is not None:
            self._task.cancel()
            self._task = None
            self._kept.clear()

    async def close(self) -> None:
        self._watchers.clear()
        await self._tasks.close()

    async def _run(self) -> None:
        while True:
            rest = HIDDEN_MS
            try:
                await self._record()
            except Unsupported as error:  # whoever watches asks for pictures
                self._tell(error)
                return
            except HandrailError as error:
                self._tell(error)
                rest = TROUBLE_MS if error.retryable else HIDDEN_MS
            await self._clock.sleep_ms(rest)

    async def _record(self) -> None:
        """Until it may not be shown, or fails."""
        session = await self._open()
        video = cast("VideoCapability", session.surface.capability(Capability.VIDEO))
        eyes = session.looks.eyes
        await video.require_visible()
        self._renew.clear()

        async def shown() -> None:
            async with aclosing(video.record(self._renew)) as units:
                async for unit in units:
                    self._send(unit)

        async def guarded() -> None:
            while True:
                await self._moved.wait()
                self._moved.clear()
                await video.require_visible()
                await self._clock.sleep_ms(GUARD_MS)

        async def turned() -> None:
            while True:
                await self._clock.sleep_ms(TURN_MS)
                await self._moved.wait()
                before, self._size = self._size, await _size(eyes)
                if before != self._size:
                    self._renew.set()

        self._size = await _size(eyes)
        for way in await first(shown(), guarded(), turned()):
            if not way.cancelled():
                way.result()

    def _send(self, unit: VideoUnit) -> None:
        self._moved.set()
        self._number += 1
        self._said = ""
        width, height = self._size
        header = {"device": self.device, "w": width, "h": height, "ts": iso_time(self._clock.now_ms())}
        header |= {"n": self._number, "key": unit.is_key, "codec": unit.codec}
        message = pack({"type": "VIDEO", **header}, unit.data)
        self._keep(message, unit.is_key)
        for watcher in self._watchers:
            if not watcher.offer_video(message, self.device, is_key=unit.is_key):
                self._renew.set()

    def _keep(self, message: bytes, is_key: bool) -> None:
        if is_key:
            self._kept = []
        if is_key or 0 < len(self._kept) < MOST_KEPT:
            self._kept.append((message, is_key))
        else:
            self._kept = []

    def _tell(self, error: HandrailError) -> None:
        """Said once. Nothing that was shown before is kept for those who come."""
        self._kept = []
        said = f"{error.code} {error.message}"
        if said == self._said:
            return
        self._said = said
        self._number += 1
        problem = {"code": error.code, "message": error.message, "hint": error.hint}
        header = {"device": self.device, "w": 0, "h": 0, "ts": iso_time(self._clock.now_ms())}
        message = pack({"type": "VIDEO", **header, "n": self._number, "problem": problem})
        self._kept = [(message, True)]
        for watcher in self._watchers:
            watcher.offer_video(message, self.device, is_key=True)


async def _size(eyes: LookCapability) -> tuple[int, int]:
    display = await eyes.display()
    return display.width, display.height


class PhoneVideos:
    """The videos of all phones of one server."""

    def __init__(self, open_session: Callable[[str], Awaitable[Session]], clock: Clock) -> None:
        self._open = open_session
        self._clock = clock
        self._videos: dict[str, PhoneVideo] = {}

    def watch(self, device: str, watcher: VideoWatcher) -> None:
        name = canonical(device)
        if name not in self._videos:
            self._videos[name] = PhoneVideo(device, lambda: self._open(device), self._clock)
        self._videos[name].watch(watcher)

    def unwatch(self, device: str, watcher: VideoWatcher) -> None:
        if video := self._videos.get(canonical(device)):
            video.unwatch(watcher)

    def leave(self, watcher: VideoWatcher) -> None:
        for video in self._videos.values():
            video.unwatch(watcher)

    def watchers(self, device: str) -> int:
        video = self._videos.get(canonical(device))
        return video.watchers if video else 0

    async def close(self) -> None:
        for video in self._videos.values():
            await video.close()
