"""Pictures of a phone: live for those who watch, and before and after each action for the journal.

A live picture is taken once for all watchers, and sent only when it changed. The journal keeps a picture only
if it is true: the one after shows the screen before anything else was dispatched.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from handrail.clock import Clock, iso_time
from handrail.engine.events import Event
from handrail.engine.session import Session
from handrail.errors import HandrailError
from handrail.protocol.actions import ACTIONS
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime
from handrail.surface.picture import opened
from handrail.waiting import Background, wait_for_event

FASTEST_MS = 80.0
"""Between two pictures of a screen that moves: twelve a second."""
SLOWEST_MS = 250.0
"""Between two looks at a screen that has not changed for a while."""
BUSY_MS = 200.0
"""Between two while an action is under way: each picture costs the phone what the action needs."""
CALM = 8
"""Pictures in a row that were the same, after which a screen is looked at less often."""
SHARE = 0.25
"""A picture that takes long is followed by a rest of so much of its time: the phone has other work too."""
TROUBLE_MS = 1_000.0
"""After a failure; somebody may be plugging the phone in again."""

OpenSession = Callable[[], Awaitable[Any]]
"""Whatever has `looks.eyes.screenshot()`: a session, or somebody who reaches one elsewhere."""
LONG_SIDE = 1_200
"""Pixels. Enough for a window as high as most screens; half of a common phone's."""
QUALITY = 84
HEADER_BYTES = 4
"""The length of the header, big-endian, comes first."""
PICTURED = "pictured"
"""Of the journal's entry that names the blobs."""
_TOUCHES = frozenset({"input", "system", "sensitive"})


class PictureWatcher(Protocol):
    """A browser that wants pictures."""

    def offer_binary(self, picture: bytes, key: str = "") -> None:
        """One that was not fetched yet is replaced by a later one of the same `key`, never by another's."""
        ...


class PhoneStream:
    """Pictures of one phone."""

    def __init__(self, device: str, open_session: OpenSession, clock: Clock) -> None:
        self.device = device
        self.newest: SmallPicture | None = None
        """None until there is one, and while the screen may not be shown."""
        self._open = open_session
        self._clock = clock
        self._watchers: list[PictureWatcher] = []
        self._message: bytes | None = None
        self._seen = b""
        self._same = 0
        self._busy = False
        self._number = 0
        self._tasks = Background()
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._slot = asyncio.Lock()  # one picture at a time is made small: they leave in their order

    @property
    def watchers(self) -> int:
        return len(self._watchers)

    def watch(self, watcher: PictureWatcher) -> None:
        """From now on; the newest picture comes at once."""
        if watcher not in self._watchers:
            self._watchers.append(watcher)
        if self._message is not None:
            watcher.offer_binary(self._message, self.device)
        if self._task is None or self._task.done():  # done after a failure that nobody foresaw
            self._task = self._tasks.start(self._run(), f"pictures of {self.device}")

    def unwatch(self, watcher: PictureWatcher) -> None:
        """The last one stops the stream."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)
        if not self._watchers and self._task is not None:
            self._task.cancel()
            self._task = None
            self.newest, self._message, self._seen = None, None, b""

    def hurry(self, *, busy: bool = False) -> None:
        """Something happens on the phone: look now, or at a modest pace while an action is under way."""
        self._same, self._busy = 0, busy
        if not busy:
            self._wake.set()

    async def close(self) -> None:
        self._watchers.clear()
        await self._tasks.close()

    async def _run(self) -> None:
        """The next picture is taken while the last one is made small."""
        async with asyncio.TaskGroup() as group:
            while True:
                began = self._clock.monotonic_ms()
                try:
                    png = await (await self._open()).looks.eyes.screenshot()
                    await self._taken(png, group)
                    rest = pause_ms(self._clock.monotonic_ms() - began, self._same, busy=self._busy)
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
            watcher.offer_binary(message, self.device)

    async def _rest(self, duration_ms: float) -> None:
        """Cut short by `hurry`, yet never shorter than the fastest pace."""
        await self._clock.sleep_ms(min(duration_ms, FASTEST_MS / 2))
        left = duration_ms - FASTEST_MS / 2
        if left <= 0 or self._wake.is_set():
            self._wake.clear()
            return
        await wait_for_event(self._clock, self._wake, left)
        self._wake.clear()


def pause_ms(took_ms: float, same: int, *, busy: bool = False) -> float:
    """How long to rest after a picture that took so long, when so many in a row were the same."""
    if busy:
        return max(BUSY_MS - took_ms, took_ms)
    wanted = SLOWEST_MS if same >= CALM else FASTEST_MS
    return max(wanted - took_ms, took_ms * SHARE)


@dataclass(frozen=True, slots=True)
class SmallPicture:
    """A picture for people, and the size in pixels of the screen that it shows."""

    jpeg: bytes
    width: int
    height: int


def shrink(png: bytes) -> SmallPicture:
    """By a whole factor: each pixel is the mean of a square, so that small letters stay readable."""
    with opened(png) as whole:
        width, height = whole.size
        factor = max(1, max(width, height) // LONG_SIDE)
        small = whole.reduce(factor) if factor > 1 else whole
        written = io.BytesIO()
        small.convert("RGB").save(written, "JPEG", quality=QUALITY)
    return SmallPicture(written.getvalue(), width, height)


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """One binary message."""
    words = json.dumps({"type": "FRAME", **header}, ensure_ascii=False, separators=(",", ":")).encode()
    return len(words).to_bytes(HEADER_BYTES, "big") + words + body


def unpack(message: bytes) -> tuple[dict[str, Any], bytes]:
    """What `pack` has made, for those who read it in Python."""
    end = HEADER_BYTES + int.from_bytes(message[:HEADER_BYTES], "big")
    return json.loads(message[HEADER_BYTES:end]), message[end:]


LivePicture = Callable[[str], SmallPicture | None]
"""What a live stream of this phone shows now."""


@dataclass(slots=True)
class _Looks:
    """What is known of one phone's looks."""

    before: SmallPicture | None = None
    """On the live picture, when the action under way was about to be dispatched."""
    last: SmallPicture | None = None
    fingerprint: str | None = None
    """Of the screen that `last` shows."""
    touches: int = 0


class BeforeAfter:
    """Listens to the lives of actions and keeps what could be seen."""

    def __init__(self, runtime: Runtime, live: LivePicture) -> None:
        self._runtime = runtime
        self._live = live
        self._pages: dict[str, _Looks] = {}
        self._tasks = Background()

    def heard(self, session: Session, event: Event) -> None:
        """One step in the life of an action."""
        if self._runtime.secrets.used or not _touches(event.action_type):
            return  # a picture can't be redacted
        page = self._pages.setdefault(session.serial, _Looks())
        if event.state == "resolved":
            page.before = self._live(session.serial)
        elif event.state == "dispatched":
            page.touches += 1
        elif event.envelope is not None and event.envelope.delivery != "not_delivered":
            self._tasks.start(self._keep(session, event.envelope, page), "pictures for the journal")

    async def close(self) -> None:
        """What is not finished is not kept."""
        await self._tasks.close()

    async def _keep(self, session: Session, envelope: Envelope, page: _Looks) -> None:
        before = page.before
        if before is None and page.fingerprint == envelope.ui_fingerprint_before:
            before = page.last
        touches, after = page.touches, None
        with suppress(HandrailError):  # a screen that forbids pictures, a phone that is gone
            png = await session.looks.eyes.screenshot()
            if page.touches == touches:  # else it may show what came next
                after = await asyncio.to_thread(shrink, png)
        page.last = after
        page.fingerprint = envelope.ui_fingerprint_after if after else None
        await self._write(session.serial, envelope.action_id, {"before": before, "after": after})

    async def _write(self, device: str, action_id: str, shots: dict[str, SmallPicture | None]) -> None:
        journal, blobs = self._runtime.journal, {}
        for name, shot in shots.items():
            if shot is not None and not self._runtime.secrets.used:
                blobs[name] = await journal.put_blob(shot.jpeg, "image/jpeg", no_secret=True)
        if blobs:
            journal.note({"kind": PICTURED, "action_id": action_id, "device": device, "blobs": blobs})


def _touches(action_type: str) -> bool:
    known = ACTIONS.get(action_type)
    return known is not None and known.traits.effect in _TOUCHES
