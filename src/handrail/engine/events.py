"""The lifecycle events of a session's actions, as they happen. A slow listener loses the oldest ones."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

from handrail.engine.tracing import TracedSpan
from handrail.protocol.envelope import Envelope, LifecycleState

HELD = 1_000
"""Events that are kept for one listener."""


Box = tuple[int, int, int, int]
"""Left, top, right, bottom, in the device's pixels."""


@dataclass(frozen=True, slots=True)
class Event:
    """One lifecycle step of one action; the terminal one has the envelope."""

    action_id: str
    action_type: str
    device: str
    state: LifecycleState
    at_ms: int
    terminal: bool = False
    envelope: Envelope | None = None
    actor: str = ""
    by: str = ""
    waits_for: str = ""
    """What the action is waiting for."""
    bounds: Box | None = None
    """The element that is touched, once it is known."""

    def to_dict(self) -> dict[str, Any]:
        written: dict[str, Any] = {
            "action_id": self.action_id,
            "action_type": self.action_type,
            "device": self.device,
            "state": self.state,
            "at_ms": self.at_ms,
            "terminal": self.terminal,
            "actor": self.actor,
            "by": self.by,
        }
        return written | ({"envelope": self.envelope.to_dict()} if self.envelope else {})


class Listener:
    """An async iterator over the events from its creation until the session closes."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue(HELD)

    def __aiter__(self) -> Listener:
        return self

    async def __anext__(self) -> Event:
        event = await self._queue.get()
        if event is None:
            self.put(None)  # every later call ends too
            raise StopAsyncIteration
        return event

    def put(self, event: Event | None) -> None:
        if self._queue.full():
            self._queue.get_nowait()
        self._queue.put_nowait(event)

    def put_span(self, work: TracedSpan) -> None:
        """Called with every finished span. Listeners that only follow actions ignore it."""


class Events:
    """Publishes events to any number of listeners, which it references weakly."""

    def __init__(self) -> None:
        self._listeners: WeakSet[Listener] = WeakSet()
        self._closed = False

    def __len__(self) -> int:
        return len(self._listeners)

    def publish(self, event: Event) -> None:
        for listener in list(self._listeners):
            listener.put(event)

    def publish_span(self, work: TracedSpan) -> None:
        for listener in list(self._listeners):
            listener.put_span(work)

    def listen(self, listener: Listener | None = None) -> Listener:
        """Nothing that happens between this call and the first `await` is missed."""
        listener = listener or Listener()
        self._listeners.add(listener)
        if self._closed:
            listener.put(None)
        return listener

    def close(self) -> None:
        self._closed = True
        for listener in list(self._listeners):
            listener.put(None)
