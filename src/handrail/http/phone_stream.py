"""The live picture of one phone: taken once however many watch, and only while somebody does.

What has not changed is not sent again, and whoever is slow gets the newest picture only.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from handrail.clock import Clock, iso_time
from handrail.engine.session import Session
from handrail.errors import HandrailError
from handrail.http.phone_frame import Small, pack, shrink

FASTEST_MS = 80.0
"""Between two pictures of a screen that moves: twelve a second."""
SLOWEST_MS = 250.0
"""Between two looks at a screen that has not changed for a while."""
CALM = 8
"""Pictures in a row that were the same, after which a screen is looked at less often."""
SHARE = 0.25
"""A picture that takes long is followed by a rest of so much of its time: the phone has other work too."""
TROUBLE_MS = 1_000.0
"""After a failure; somebody may be plugging the phone in again."""

_log = logging.getLogger(__name__)
Open = Callable[[], Awaitable[Session]]


class Watcher(Protocol):
    """A browser that wants pictures."""

    def offer_binary(self, data: bytes) -> None: ...


class Stream:
    """Pictures of one phone."""

    def __init__(self, device: str, open_session: Open, clock: Clock) -> None:
        self.device = device
        self.newest: Small | None = None
        """None until there is one, and while the screen may not be shown."""
        self._open = open_session
        self._clock = clock
        self._watchers: list[Watcher] = []
        self._message: bytes | None = None
        self._seen = b""
        self._same = 0
        self._number = 0
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._slot = asyncio.Lock()  # one picture at a time is made small: they leave in their order

    @property
    def watchers(self) -> int:
        return len(self._watchers)

    def watch(self, watcher: Watcher) -> None:
        """From now on; the newest picture comes at once."""
        if watcher not in self._watchers:
            self._watchers.append(watcher)
        if self._message is not None:
            watcher.offer_binary(self._message)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"pictures of {self.device}")
            self._task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """By itself only after a failure that nobody foresaw; whoever watches next starts it anew."""
        if task is self._task:
            self._task = None
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("No more pictures of %s", self.device, exc_info=error)

    def unwatch(self, watcher: Watcher) -> None:
        """The last one stops the stream."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)
        if not self._watchers and self._task is not None:
            self._task.cancel()
            self._task = None
            self.newest, self._message, self._seen = None, None, b""

    def hurry(self) -> None:
        """Something happens on the phone: look now."""
        self._same = 0
        self._wake.set()

    async def close(self) -> None:
        self._watchers.clear()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _run(self) -> None:
        """The next picture is taken while the last one is made small."""
        async with asyncio.TaskGroup() as group:
            while True:
                began = self._clock.monotonic_ms()
                try:
                    png = await (await self._open()).driver.screenshot()
                    await self._taken(png, group)
                    rest = pause_ms(self._clock.monotonic_ms() - began, self._same)
                except HandrailError as error:
                    await self._tell_trouble(error)
                    rest = TROUBLE_MS
                await self._rest(rest)

    async def _taken(self, png: bytes, group: asyncio.TaskGroup) -> None:
        taken_ms = self._clock.now_ms()
        digest = hashlib.blake2b(png, digest_size=16).digest()
        if digest == self._seen:
            self._same += 1
            return
        self._seen, self._same = digest, 0
        await self._slot.acquire()
        group.create_task(self._show(png, taken_ms), name=f"picture of {self.device}")

    async def _show(self, png: bytes, taken_ms: int) -> None:
        try:
            small = self.newest = await asyncio.to_thread(shrink, png)
            self._number += 1
            header = {"device": self.device, "w": small.width, "h": small.height, "ts": iso_time(taken_ms)}
            self._send(pack({**header, "mime": "image/jpeg", "n": self._number}, small.jpeg))
        finally:
            self._slot.release()

    async def _tell_trouble(self, error: HandrailError) -> None:
        """A picture that can't be shown is a message too; said once, and after the picture before it."""
        said = f"{error.code} {error.message}".encode()
        if said == self._seen:
            return
        async with self._slot:
            self._seen, self.newest = said, None
            self._number += 1
            problem = {"code": error.code, "message": error.message, "hint": error.hint}
            header = {"device": self.device, "w": 0, "h": 0, "ts": iso_time(self._clock.now_ms())}
            self._send(pack({**header, "mime": "", "n": self._number, "problem": problem}))

    def _send(self, message: bytes) -> None:
        self._message = message
        for watcher in list(self._watchers):
            watcher.offer_binary(message)

    async def _rest(self, duration_ms: float) -> None:
        """Cut short by `hurry`, yet never shorter than the fastest pace."""
        await self._clock.sleep_ms(min(duration_ms, FASTEST_MS / 2))
        left = duration_ms - FASTEST_MS / 2
        if left <= 0 or self._wake.is_set():
            self._wake.clear()
            return
        naps = {asyncio.ensure_future(self._wake.wait()), asyncio.ensure_future(self._clock.sleep_ms(left))}
        try:
            await asyncio.wait(naps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for nap in naps:
                nap.cancel()
            await asyncio.gather(*naps, return_exceptions=True)
        self._wake.clear()


def pause_ms(took_ms: float, same: int) -> float:
    """How long to rest after a picture that took so long, when so many in a row were the same."""
    wanted = SLOWEST_MS if same >= CALM else FASTEST_MS
    return max(wanted - took_ms, took_ms * SHARE)
