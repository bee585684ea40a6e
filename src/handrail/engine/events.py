"""The lifecycle events of a session's actions, as they happen. A slow listener loses the oldest ones.

Spans group actions: an agent's run, a flow, a model call, or the trace of another program.

The current span travels with the asyncio task, as W3C trace context. Listeners of a session get finished
spans; nothing is stored here.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakSet

from handrail.clock import Clock
from handrail.errors import HandrailError
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
        names = ("action_id", "action_type", "device", "state", "at_ms", "terminal", "actor", "by")
        written = {name: getattr(self, name) for name in names}
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
        """Misses nothing that happens between this call and the first `await`."""
        listener = listener or Listener()
        self._listeners.add(listener)
        if self._closed:
            listener.put(None)
        return listener

    def close(self) -> None:
        self._closed = True
        for listener in list(self._listeners):
            listener.put(None)


SpanKind = Literal["agent", "flow", "model"]
_TRACEPARENT = re.compile(r"(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
_LONGEST = 512
"""Longer headers are ignored; later versions of the format may add fields."""


@dataclass(frozen=True, slots=True)
class TraceContext:
    """The ids of one span of one trace."""

    trace_id: bytes = field(default_factory=lambda: os.urandom(16))
    span_id: bytes = field(default_factory=lambda: os.urandom(8))
    is_sampled: bool = True
    """Whether the program that started the trace wants it recorded."""

    def child(self) -> TraceContext:
        return TraceContext(self.trace_id, is_sampled=self.is_sampled)


def read_traceparent(header: object) -> TraceContext | None:
    """Parses W3C's `traceparent`; None if invalid. `tracestate` is free text and is not read."""
    match = _TRACEPARENT.fullmatch(header) if isinstance(header, str) and len(header) <= _LONGEST else None
    if match is None or (match[1] == "00" and match[5]):
        return None
    trace, span = bytes.fromhex(match[2]), bytes.fromhex(match[3])
    return TraceContext(trace, span, bool(int(match[4], 16) & 1)) if any(trace) and any(span) else None


_here: ContextVar[TraceContext | None] = ContextVar("handrail.trace", default=None)


def current_trace() -> TraceContext | None:
    return _here.get()


@contextmanager
def within_trace(place: TraceContext | None) -> Iterator[None]:
    """Makes the block part of that span; None changes nothing."""
    if place is None:
        yield
        return
    token = _here.set(place)
    try:
        yield
    finally:
        _here.reset(token)


@dataclass(slots=True)
class TracedSpan:
    """A finished or running span."""

    kind: SpanKind
    place: TraceContext
    parent: TraceContext | None
    began_ms: int
    """Since 1970; `ms` is the duration."""
    ms: float = 0.0
    outcome: str = ""
    code: str | None = None
    """The code of the failure that ended it."""
    maker: str = ""
    """The maker of the model that was called."""
    input_tokens: int = 0
    output_tokens: int = 0


@contextmanager
def traced_span(kind: SpanKind, clock: Clock, tell: Callable[[TracedSpan], None]) -> Iterator[TracedSpan]:
    """The block and the tasks it starts belong to one new span."""
    parent, began = current_trace(), clock.monotonic_ms()
    work = TracedSpan(kind, parent.child() if parent else TraceContext(), parent, clock.now_ms())
    try:
        with within_trace(work.place):
            yield work
    except HandrailError as error:
        work.code = error.code
        raise
    finally:
        work.ms = clock.monotonic_ms() - began
        tell(work)
