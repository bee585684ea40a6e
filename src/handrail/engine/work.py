"""What an action is a part of: an agent's run, a flow, a call of a model, or the trace of another program.

Whoever does such work says so to the listeners of its session. The place in a trace goes with the task, in
the form of W3C's trace context. Nothing is kept here, and nobody has to listen.
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

WorkKind = Literal["agent", "flow", "model"]
_TRACEPARENT = re.compile(r"(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
_LONGEST = 512
"""Characters of a header that is read at all; later versions of the format may add fields."""


@dataclass(frozen=True, slots=True)
class TracePlace:
    """One span of one trace."""

    trace_id: bytes = field(default_factory=lambda: os.urandom(16))
    span_id: bytes = field(default_factory=lambda: os.urandom(8))
    is_sampled: bool = True
    """Whether the one who began the trace wants it recorded."""

    def child(self) -> TracePlace:
        return TracePlace(self.trace_id, is_sampled=self.is_sampled)


def read_traceparent(given: object) -> TracePlace | None:
    """W3C's `traceparent`; None for anything else. Its companion `tracestate` is free text, and not read."""
    found = _TRACEPARENT.fullmatch(given) if isinstance(given, str) and len(given) <= _LONGEST else None
    if found is None or (found[1] == "00" and found[5]):
        return None
    trace, span = bytes.fromhex(found[2]), bytes.fromhex(found[3])
    return TracePlace(trace, span, bool(int(found[4], 16) & 1)) if any(trace) and any(span) else None


_here: ContextVar[TracePlace | None] = ContextVar("handrail.trace", default=None)


def trace_place() -> TracePlace | None:
    """Where in a trace this task works; None where nobody has said so."""
    return _here.get()


@contextmanager
def inside(place: TracePlace | None) -> Iterator[None]:
    """What is done in the block is part of that; None changes nothing."""
    if place is None:
        yield
        return
    token = _here.set(place)
    try:
        yield
    finally:
        _here.reset(token)


@dataclass(slots=True)
class TracedWork:
    """One piece of work that lasts, told to listeners when it has ended."""

    kind: WorkKind
    place: TracePlace
    parent: TracePlace | None
    began_ms: int
    """Since 1970; how long it took is `ms`."""
    ms: float = 0.0
    outcome: str = ""
    code: str | None = None
    """Of the failure that ended it."""
    maker: str = ""
    """Of the model that was called."""
    input_tokens: int = 0
    output_tokens: int = 0


@contextmanager
def traced(kind: WorkKind, clock: Clock, tell: Callable[[TracedWork], None]) -> Iterator[TracedWork]:
    """Everything in the block is part of one piece of work, and so is what its tasks do."""
    parent, began = trace_place(), clock.monotonic_ms()
    work = TracedWork(kind, parent.child() if parent else TracePlace(), parent, clock.now_ms())
    try:
        with inside(work.place):
            yield work
    except HandrailError as error:
        work.code = error.code
        raise
    finally:
        work.ms = clock.monotonic_ms() - began
        tell(work)
