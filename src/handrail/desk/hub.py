"""Tells every browser what changed: numbers frames without a gap, and merges what comes close together.

`FrameRing` keeps the last frames. `DeskClient` is one browser's place in it: nothing waits for a browser, and
one that falls behind gets a snapshot. Knows no reducer.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from handrail.clock import Clock, iso_time
from handrail.desk.state import FIRST_MONITOR, DeskState, Reduction, TouchedParts
from handrail.protocol.act import Act
from handrail.protocol.model import Model, camel

PACE_SEC = 0.008
"""Transactions that follow within this time go out as one frame."""
MOST_MERGED = 200
"""Actions in one frame."""
MOST_BEHIND = 500
"""Frames; further back a snapshot is less to send than what was missed."""
MOST_OWN = 200
MOST_VIDEO = 45
"""Pictures of one video that wait for a browser: more than a second of it."""
RING_FRAMES = 5_000
RING_BYTES = 64_000_000
"""Huge frames push old ones out earlier; whoever needs those gets a snapshot."""


class Hub:
    """All browsers of one session. `snapshot` gives the state as JSON data."""

    def __init__(self, clock: Clock, snapshot: Callable[[], dict[str, Any]], last: int) -> None:
        self.ring = FrameRing(last)
        self.clients: list[DeskClient] = []
        self.left: list[Callable[[DeskClient], None]] = []
        """Told of every browser that goes."""
        self._clock = clock
        self._snapshot = snapshot
        self._snapshot_cache: tuple[int, str] | None = None
        self._touches = 0
        self._actions: list[Act] = []
        self._touched = TouchedParts()
        self._states: tuple[DeskState, DeskState] | None = None
        self._senders: set[str | None] = set()
        self._flush_at: asyncio.TimerHandle | asyncio.Handle | None = None
        self._flushed_at = 0.0

    def join(self, client_id: str, since: int | None) -> DeskClient:
        """A snapshot first, or what was missed since that number if it is all still here."""
        self.flush()
        replay_from = since if since is not None and self.ring.covers(since) else None
        client = DeskClient(client_id, self, replay_from)
        self.clients.append(client)
        return client

    def leave(self, client: DeskClient) -> None:
        if client in self.clients:
            self.clients.remove(client)
            for on_leave in self.left:
                on_leave(client)

    def touch(self, client: DeskClient) -> None:
        """Notes that a person is at this browser now."""
        self._touches += 1
        client.touched = self._touches

    def in_use(self, monitor_id: str) -> DeskClient | None:
        """The browser to ask about a window: one that draws, best its monitor, of those the one used last."""
        newest = (client for client in reversed(self.clients) if client.draws)
        return max(newest, key=lambda client: (client.monitor == monitor_id, client.touched), default=None)

    def commit(self, actions: Sequence[Act], reduced: Reduction, agent_id: str | None) -> None:
        """One transaction. It goes out at once, or with the next ones where they come thick and fast."""
        if self._states is None:
            self._states = (reduced.base, reduced.state)
        self._states = (self._states[0], reduced.state)
        self._touched.add(reduced.touched)
        self._actions.extend(actions)
        self._senders.add(agent_id)
        if len(self._actions) >= MOST_MERGED:
            self.flush()
        elif self._flush_at is None:
            # Pacing of a transport, not logic: the loop's own clock, also where time is simulated.
            loop = asyncio.get_running_loop()
            wait = self._flushed_at + PACE_SEC - loop.time()
            self._flush_at = loop.call_later(wait, self.flush) if wait > 0 else loop.call_soon(self.flush)

    def flush(self) -> None:
        """Number what was merged so far and send it."""
        if self._flush_at is not None:
            self._flush_at.cancel()
            self._flush_at = None
        if self._states is None:
            return
        changes = self._touched.written(*self._states)
        written = [action.to_json() for action in self._actions]
        head = self._head("ACTIONS", self.ring.last + 1)
        sender = next(iter(self._senders)) if len(self._senders) == 1 else None
        if sender is not None:
            head["agentId"] = sender
        rest = f'"actions":[{",".join(written)}],"changes":{_text(changes)}'
        frame = f"{_text(head)[:-1]},{rest}}}"
        self._actions, self._touched, self._states, self._senders = [], TouchedParts(), None, set()
        self._flushed_at = asyncio.get_running_loop().time()
        self._append(frame)

    def publish(self, frame_type: str, fields: dict[str, Any]) -> None:
        """A frame for everybody that is no change of the state."""
        self.flush()
        self._append(_text(self._head(frame_type, self.ring.last + 1) | _fields_as_json(fields)))

    def send(self, client: DeskClient, frame_type: str, fields: dict[str, Any]) -> None:
        """A frame for one browser. It bears the number of the last frame for all and takes none itself."""
        self.flush()
        client.send(_text(self._head(frame_type, self.ring.last) | _fields_as_json(fields)))

    def snapshot_frame(self) -> str:
        """The whole state, under the number of the last frame that is part of it."""
        self.flush()
        cached = self._snapshot_cache
        if cached is None or cached[0] != self.ring.last:
            frame = _text(self._head("SNAPSHOT", self.ring.last) | {"state": self._snapshot()})
            self._snapshot_cache = cached = (self.ring.last, frame)
        return cached[1]

    def close(self) -> None:
        self.flush()
        for client in list(self.clients):
            client.close()

    def _append(self, frame: str) -> None:
        self._snapshot_cache = None
        self.ring.append(frame)
        for client in self.clients:
            client.wake()

    def _head(self, frame_type: str, seq: int) -> dict[str, Any]:
        return {"type": frame_type, "seq": seq, "ts": iso_time(self._clock.now_ms())}


def _fields_as_json(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields as the wire writes them; those that say nothing are left out."""
    return {
        camel(name): value.to_dict() if isinstance(value, Model) else value
        for name, value in fields.items()
        if value is not None
    }


def _text(data: dict[str, Any]) -> str:
    """JSON that every browser reads, whatever a phone's text or a measurement put into it."""
    try:
        return to_json(data, inf_nan_mode="null").decode()
    except PydanticSerializationError:  # a lone surrogate, which only an escape can say
        return json.dumps(data)


class DeskClient:
    """An async iterator over text frames (str) and pictures (bytes), until it is closed."""

    def __init__(self, client_id: str, source: Hub, since: int | None) -> None:
        self.id = client_id
        self.monitor = FIRST_MONITOR
        self.draws = False
        """Told its viewport: a browser, and not a program that only follows."""
        self.touched = 0
        """When its person last did something here, as a count over all clients: the highest is in use."""
        self._source = source
        self._joined = source.ring.last
        self._next: int | None = None if since is None else since + 1
        self._own: deque[tuple[int, str]] = deque(maxlen=MOST_OWN)
        self._pictures: dict[str, bytes] = {}
        self._videos: dict[str, deque[bytes]] = {}
        """By phone. One that is not here waits for a key picture."""
        self._wake = asyncio.Event()
        self._wake.set()
        self._closed = False

    @property
    def focused(self) -> bool:
        """True once its person has used this browser."""
        return self.touched > 0

    @property
    def is_closed(self) -> bool:
        return self._closed

    def __aiter__(self) -> DeskClient:
        return self

    async def __anext__(self) -> str | bytes:
        while True:
            if self._closed:
                raise StopAsyncIteration
            frame = self._ready()
            if frame is not None:
                return frame
            self._wake.clear()
            await self._wake.wait()

    def wake(self) -> None:
        self._wake.set()

    def send(self, frame: str) -> None:
        """A frame for this browser alone, after everything that was told to all so far."""
        self._own.append((self._source.ring.last, frame))
        self._wake.set()

    def offer_binary(self, picture: bytes, key: str = "") -> None:
        """A picture of `key`; one that was not fetched yet is replaced."""
        self._pictures[key] = picture
        self._wake.set()

    def offer_video(self, data: bytes, key: str, *, is_key: bool) -> bool:
        """The next picture of a video. A browser that is behind goes on at a key picture; False till then."""
        waiting = self._videos.get(key)
        if is_key:
            self._videos[key] = deque([data])
        elif waiting is None or len(waiting) >= MOST_VIDEO:
            self.drop_video(key)
            return False
        else:
            waiting.append(data)
        self._wake.set()
        return True

    def drop_video(self, key: str) -> None:
        """Drops the pictures of a video that were not fetched yet."""
        self._videos.pop(key, None)

    def close(self) -> None:
        """The iterator ends; what waits for an answer of this browser is told."""
        if not self._closed:
            self._closed = True
            self._wake.set()
            self._source.leave(self)

    def _ready(self) -> str | bytes | None:
        ring = self._source.ring
        if self._next is None or self._is_lost(ring, self._next - 1):
            frame = self._source.snapshot_frame()
            self._next = ring.last + 1
            return frame
        if self._own and self._own[0][0] < self._next:
            return self._own.popleft()[1]
        if self._next <= ring.last:
            self._next += 1
            return ring.get(self._next - 1)
        if self._pictures:
            return self._pictures.pop(next(iter(self._pictures)))
        for key, waiting in self._videos.items():
            if waiting:
                self._videos[key] = self._videos.pop(key)  # the next turn is another phone's
                return waiting.popleft()
        return None

    def _is_lost(self, ring: FrameRing, sent: int) -> bool:
        """Out of the ring, or too far behind; what was missed before it joined does not count as slowness."""
        return not ring.covers(sent) or ring.last - max(sent, self._joined) > MOST_BEHIND


class FrameRing:
    """Gap-free numbers, oldest forgotten first. `last` is the newest number."""

    def __init__(self, last: int, frames: int = RING_FRAMES, size: int = RING_BYTES) -> None:
        self.last = last
        self._frames: deque[str] = deque()
        self._most, self._most_size = frames, size
        self._size = 0

    @property
    def oldest_number(self) -> int:
        """Frames from this number on are still here; it is `last + 1` when there are none."""
        return self.last - len(self._frames) + 1

    def append(self, frame: str) -> None:
        """Keep the frame with the number `last + 1`."""
        self.last += 1
        self._frames.append(frame)
        self._size += len(frame)
        while len(self._frames) > self._most or (self._size > self._most_size and len(self._frames) > 1):
            self._size -= len(self._frames.popleft())

    def get(self, seq: int) -> str:
        return self._frames[seq - self.oldest_number]

    def covers(self, since: int) -> bool:
        """True when everything after `since` is here."""
        return self.oldest_number - 1 <= since <= self.last
