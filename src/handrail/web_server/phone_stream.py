"""Live pictures and video of a phone for browsers that watch, and pictures before and after each action.

One recording serves all watchers, from the first that comes to the last that leaves, and none of them is
waited for: a slow one skips pictures, or goes on at the next key picture of a video. The journal keeps a
picture only if it is true: the one after an action shows the screen before anything else was dispatched.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from handrail.clock import Clock, iso_time
from handrail.config import canonical
from handrail.desk.hub import DeskClient
from handrail.engine.events import Event
from handrail.engine.session import Session
from handrail.errors import HandrailError, Unsupported
from handrail.protocol.actions import ACTIONS
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime
from handrail.surface.capabilities import Video
from handrail.surface.picture import opened
from handrail.surface.values import VideoUnit
from handrail.waiting import Background, first, wait_for_event

FASTEST_MS = 80.0  # between two pictures of a screen that moves: twelve a second
SLOWEST_MS = 250.0  # between two looks at a screen that has not changed for a while
BUSY_MS = 200.0
"""Between two while an action is under way: each picture costs the phone what the action needs."""
CALM = 8  # equal pictures in a row, after which a screen is looked at less often
SHARE = 0.25
"""A picture that takes long is followed by a rest of so much of its time: the phone has other work too."""
TROUBLE_MS = 1_000.0  # after a failure; somebody may be plugging the phone in again
GUARD_MS = 250.0
"""Between two questions whether a window forbids pictures, while the screen moves; a window that comes moves
it. Android leaves such a window black in every recording; asking is for the words instead of it."""
TURN_MS = 1_000.0  # between two questions how the screen is turned
HIDDEN_MS = 500.0  # between two attempts while the screen may not be shown
MOST_REPLAYED = 40
"""Pictures since the last key picture that a newcomer gets; after more a new one is asked for."""
LONG_SIDE = 1_200
"""Pixels. Enough for a window as high as most screens; half of a common phone's."""
QUALITY = 84
HEADER_BYTES = 4  # the length of the header, big-endian, comes first
PICTURED = "pictured"  # the kind of the journal's entry that names the blobs
_TOUCHES = frozenset({"input", "system", "sensitive"})


class _WatchedStream:
    """One task that runs while there are watchers."""

    def __init__(self, device: str, clock: Clock) -> None:
        self.device = device
        self._clock = clock
        self._watchers: list[DeskClient] = []
        self._number = 0
        self._tasks = Background()
        self._task: asyncio.Task[None] | None = None

    @property
    def watcher_count(self) -> int:
        return len(self._watchers)

    def watch(self, watcher: DeskClient) -> None:
        """Adds a watcher, who gets the current picture at once."""
        if watcher not in self._watchers:
            self._watchers.append(watcher)
        if self._task is None or self._task.done():  # done: there was an unforeseen failure
            self._reset()
            self._task = self._tasks.start(self._run(), f"{type(self).__name__} of {self.device}")

    def unwatch(self, watcher: DeskClient) -> None:
        """Removes a watcher; the last one stops the stream."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)
        if not self._watchers and self._task is not None:
            self._task.cancel()
            self._task = None
            self._reset()

    def _reset(self) -> None:
        """Forgets the pictures that were shown."""
        raise NotImplementedError

    async def _run(self) -> None:
        raise NotImplementedError

    def _header(self, taken_ms: int, size: tuple[int, int] = (0, 0)) -> dict[str, Any]:
        """The header of the next message, with its number."""
        self._number += 1
        ts = iso_time(taken_ms)
        return {"device": self.device, "w": size[0], "h": size[1], "ts": ts, "n": self._number}

    async def close(self) -> None:
        self._watchers.clear()
        await self._tasks.close()


def _problem_fields(error: HandrailError) -> dict[str, Any]:
    return {"code": error.code, "message": error.message, "hint": error.hint}


class PictureStream(_WatchedStream):
    """Pictures of one phone, each sent only when it differs from the one before."""

    def __init__(self, device: str, screenshot: Callable[[], Awaitable[bytes]], clock: Clock) -> None:
        super().__init__(device, clock)
        self._screenshot = screenshot
        self.newest: SmallPicture | None = None
        """None until there is one, and while the screen may not be shown."""
        self._message: bytes | None = None
        self._digest = b""
        self._same = 0
        self._busy = False
        self._wake = asyncio.Event()
        self._slot = asyncio.Lock()  # one picture at a time is made small: they leave in their order

    def watch(self, watcher: DeskClient) -> None:
        super().watch(watcher)
        if self._message is not None:
            watcher.offer_binary(self._message, self.device)

    def _reset(self) -> None:
        self.newest, self._message, self._digest = None, None, b""

    def look_sooner(self, *, busy: bool = False) -> None:
        """Takes the next picture now; with `busy`, slowly until the action under way has ended."""
        self._same, self._busy = 0, busy
        if not busy:
            self._wake.set()

    async def _run(self) -> None:
        """The next picture is taken while the last one is made small."""
        async with asyncio.TaskGroup() as group:
            while True:
                began = self._clock.monotonic_ms()
                try:
                    await self._on_picture(await self._screenshot(), group)
                    rest = pause_ms(self._clock.monotonic_ms() - began, self._same, busy=self._busy)
                except HandrailError as error:
                    await self._send_problem(error)
                    rest = TROUBLE_MS
                # Cut short by `hurry`, yet never shorter than the fastest pace.
                await self._clock.sleep_ms(min(rest, FASTEST_MS / 2))
                left = rest - FASTEST_MS / 2
                if left > 0 and not self._wake.is_set():
                    await wait_for_event(self._clock, self._wake, left)
                self._wake.clear()

    async def _on_picture(self, png: bytes, group: asyncio.TaskGroup) -> None:
        taken_ms = self._clock.now_ms()
        digest = hashlib.blake2b(png, digest_size=16).digest()
        if digest == self._digest:
            self._same += 1
            return
        self._digest, self._same = digest, 0
        await self._slot.acquire()
        group.create_task(self._send_picture(png, taken_ms), name=f"picture of {self.device}")

    async def _send_picture(self, png: bytes, taken_ms: int) -> None:
        try:
            small = self.newest = await asyncio.to_thread(shrink_to_jpeg, png)
            header = self._header(taken_ms, (small.width, small.height))
            self._send(pack_frame({**header, "mime": "image/jpeg"}, small.jpeg))
        finally:
            self._slot.release()

    async def _send_problem(self, error: HandrailError) -> None:
        """Sent once, and after the picture before it."""
        digest = f"{error.code} {error.message}".encode()
        if digest == self._digest:
            return
        async with self._slot:
            self._digest, self.newest = digest, None
            header = self._header(self._clock.now_ms())
            self._send(pack_frame({**header, "mime": "", "problem": _problem_fields(error)}))

    def _send(self, message: bytes) -> None:
        self._message = message
        for watcher in list(self._watchers):
            watcher.offer_binary(message, self.device)


def pause_ms(took_ms: float, same: int, *, busy: bool = False) -> float:
    """How long to rest after a picture that took `took_ms`, when `same` pictures in a row were equal."""
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


def shrink_to_jpeg(png: bytes) -> SmallPicture:
    """By a whole factor: each pixel is the mean of a square, so that small letters stay readable."""
    with opened(png) as image:
        width, height = image.size
        factor = max(1, max(width, height) // LONG_SIDE)
        small = image.reduce(factor) if factor > 1 else image
        written = io.BytesIO()
        small.convert("RGB").save(written, "JPEG", quality=QUALITY)
    return SmallPicture(written.getvalue(), width, height)


def pack_frame(header: dict[str, Any], body: bytes = b"") -> bytes:
    words = json.dumps({"type": "FRAME", **header}, ensure_ascii=False, separators=(",", ":")).encode()
    return len(words).to_bytes(HEADER_BYTES, "big") + words + body


class VideoStream(_WatchedStream):
    """The video of one phone. Whatever pictures would not show ends the recording."""

    def __init__(self, device: str, open_session: Callable[[], Awaitable[Session]], clock: Clock) -> None:
        super().__init__(device, clock)
        self._open = open_session
        self._replay: list[tuple[bytes, bool]] = []
        """Messages since the last key picture, each with whether it is one."""
        self._size = (0, 0)
        self._sent_problem = ""
        self._renew = asyncio.Event()
        self._moved = asyncio.Event()

    def watch(self, watcher: DeskClient) -> None:
        """Adds a watcher and replays the video since the last key picture. Also resets a watcher that asks
        again."""
        watcher.drop_video(self.device)
        super().watch(watcher)
        for message, is_key in self._replay:
            watcher.offer_video(message, self.device, is_key=is_key)
        if not self._replay:
            self._renew.set()

    def unwatch(self, watcher: DeskClient) -> None:
        if watcher in self._watchers:
            watcher.drop_video(self.device)
        super().unwatch(watcher)

    def _reset(self) -> None:
        self._sent_problem, self._replay = "", []

    async def _run(self) -> None:
        while True:
            rest = HIDDEN_MS
            try:
                await self._record()
            except Unsupported as error:  # browsers then ask for pictures instead
                self._send_problem(error)
                return
            except HandrailError as error:
                self._send_problem(error)
                rest = TROUBLE_MS if error.retryable else HIDDEN_MS
            await self._clock.sleep_ms(rest)

    async def _record(self) -> None:
        """Sends video until the screen may not be shown or the recording fails."""
        session = await self._open()
        video = session.surface.need(Video)
        await video.require_visible()
        self._renew.clear()

        async def size() -> tuple[int, int]:
            display = await session.screens.reader.display()
            return display.width, display.height

        async def send() -> None:
            async with aclosing(video.record(self._renew)) as units:
                async for unit in units:
                    self._send(unit)

        async def check_visible() -> None:
            while True:
                await self._moved.wait()
                self._moved.clear()
                await video.require_visible()
                await self._clock.sleep_ms(GUARD_MS)

        async def check_size() -> None:
            while True:
                await self._clock.sleep_ms(TURN_MS)
                await self._moved.wait()
                before, self._size = self._size, await size()
                if before != self._size:
                    self._renew.set()

        self._size = await size()
        for task in await first(send(), check_visible(), check_size()):
            if not task.cancelled():
                task.result()

    def _send(self, unit: VideoUnit) -> None:
        self._moved.set()
        self._sent_problem = ""
        header = self._header(self._clock.now_ms(), self._size)
        message = pack_frame({"type": "VIDEO", **header, "key": unit.is_key, "codec": unit.codec}, unit.data)
        if unit.is_key:
            self._replay = [(message, True)]
        elif 0 < len(self._replay) < MOST_REPLAYED:
            self._replay.append((message, False))
        else:
            self._replay = []
        for watcher in self._watchers:
            if not watcher.offer_video(message, self.device, is_key=unit.is_key):
                self._renew.set()

    def _send_problem(self, error: HandrailError) -> None:
        """Sent once. Nothing that was shown before is replayed."""
        self._replay = []
        problem = f"{error.code} {error.message}"
        if problem == self._sent_problem:
            return
        self._sent_problem = problem
        header = self._header(self._clock.now_ms())
        message = pack_frame({"type": "VIDEO", **header, "problem": _problem_fields(error)})
        self._replay = [(message, True)]
        for watcher in self._watchers:
            watcher.offer_video(message, self.device, is_key=True)


S = TypeVar("S", bound=PictureStream | VideoStream)


class PhoneStreams(Generic[S]):
    """The streams of one kind of all phones of one server."""

    def __init__(self, make: Callable[[str], S]) -> None:
        self._make: Callable[[str], S] = make
        self._streams: dict[str, S] = {}

    def get(self, device: str) -> S | None:
        """Returns None for a phone that nobody has watched."""
        return self._streams.get(canonical(device))

    def watch(self, device: str, watcher: DeskClient) -> None:
        stream = self._streams[canonical(device)] = self.get(device) or self._make(device)
        stream.watch(watcher)

    def unwatch(self, device: str, watcher: DeskClient) -> None:
        if stream := self.get(device):
            stream.unwatch(watcher)

    def leave(self, watcher: DeskClient) -> None:
        for stream in self._streams.values():
            stream.unwatch(watcher)

    def watcher_count(self, device: str) -> int:
        stream = self.get(device)
        return stream.watcher_count if stream else 0

    async def close(self) -> None:
        for stream in self._streams.values():
            await stream.close()


@dataclass(slots=True)
class _PhonePictures:
    """The pictures of one phone that may become the next action's."""

    before: SmallPicture | None = None
    """The live picture, when the action under way was about to be dispatched."""
    last: SmallPicture | None = None
    fingerprint: str | None = None
    """Of the screen that `last` shows."""
    touches: int = 0


class ActionPictures:
    """Listens to the lives of actions and writes pictures of their screens into the journal."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._phones: dict[str, _PhonePictures] = {}
        self._tasks = Background()

    def on_event(self, session: Session, event: Event, live: SmallPicture | None) -> None:
        """`live` is the picture that watchers see now."""
        kind = ACTIONS.get(event.action_type)
        is_touch = kind is not None and kind.traits.effect in _TOUCHES
        if self._runtime.secrets.used or not is_touch:
            return  # a picture can't be redacted
        pictures = self._phones.setdefault(session.serial, _PhonePictures())
        if event.state == "resolved":
            pictures.before = live
        elif event.state == "dispatched":
            pictures.touches += 1
        elif event.envelope is not None and event.envelope.delivery != "not_delivered":
            self._tasks.start(
                self._keep_pictures(session, event.envelope, pictures), "pictures for the journal"
            )

    async def close(self) -> None:
        await self._tasks.close()

    async def _keep_pictures(self, session: Session, envelope: Envelope, pictures: _PhonePictures) -> None:
        before = pictures.before
        if before is None and pictures.fingerprint == envelope.ui_fingerprint_before:
            before = pictures.last
        touches, after = pictures.touches, None
        with suppress(HandrailError):  # a screen that forbids pictures, a phone that is offline
            png = await session.screens.reader.screenshot()
            if pictures.touches == touches:  # else it may show what came next
                after = await asyncio.to_thread(shrink_to_jpeg, png)
        pictures.last = after
        pictures.fingerprint = envelope.ui_fingerprint_after if after else None
        journal, blobs = self._runtime.journal, {}
        for name, picture in (("before", before), ("after", after)):
            if picture is not None and not self._runtime.secrets.used:
                blobs[name] = await journal.put_blob(picture.jpeg, "image/jpeg", no_secret=True)
        if blobs:
            entry = {"kind": PICTURED, "action_id": envelope.action_id, "device": session.serial}
            journal.note({**entry, "blobs": blobs})
