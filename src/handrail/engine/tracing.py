"""Groups actions into spans: an agent's run, a flow, a model call, or the trace of another program.

The current span travels with the asyncio task, as W3C trace context. Listeners of a session get finished
spans; nothing is stored here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from handrail.clock import Clock
from handrail.errors import HandrailError

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
    """The span of this task, if any."""
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
