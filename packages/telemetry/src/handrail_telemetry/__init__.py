"""Spans and metrics for a collector that the owner named. Imported only where one is named.

Listens to sessions; the engine does not import it. `allowed` decides what may be sent. The listener only
queues what has ended: spans and metrics are made later, so an action pays microseconds, and a command has
given its answer before the OpenTelemetry SDK is imported.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from handrail.engine.events import Event, Listener, TraceContext, TracedSpan, current_trace
from handrail.engine.session import Session
from handrail.errors import Unsupported
from handrail_telemetry.collector import check_collector, read_collector

if TYPE_CHECKING:
    from handrail_telemetry.recorder import Recorder

__version__ = "0.2.0"
__all__ = ("EndedAction", "SessionListener", "Telemetry", "check_collector")
MAX_OPEN = 1_000  # actions whose start is remembered until they end
MAX_QUEUED = 16  # ended actions that wait to be recorded: each may hold a screenshot
DELAY_S = 0.25

_log = logging.getLogger("handrail.telemetry")


class EndedAction(NamedTuple):
    """The last event of an action, with its trace and its start in milliseconds since 1970."""

    event: Event
    parent: TraceContext | None
    began_ms: int
    session: int


class Telemetry:
    """The telemetry of one runtime: metrics for `/metrics`, and spans where a collector is named."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Raises `InvalidAction` for an invalid endpoint, `Unsupported` where the extra is not installed."""
        self._collector = read_collector(env)
        if find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter.otlp") is None:
            raise Unsupported(
                "Telemetry needs a package that is not installed: opentelemetry-sdk with its OTLP exporter",
                hint="pip install 'handrail[telemetry]', or unset HANDRAIL_OTLP_ENDPOINT.",
            )
        self._queue: list[EndedAction | TracedSpan] = []
        self._timer: asyncio.TimerHandle | None = None
        self._recorder: Recorder | None = None
        self._listeners: dict[int, SessionListener] = {}
        self._number = 0

    def listen(self, session: Session) -> None:
        self._number += 1
        listener = self._listeners[self._number] = SessionListener(self, self._number)
        session.events(listener)

    def forget(self, number: int) -> None:
        self._listeners.pop(number, None)

    def queue(self, ended: EndedAction | TracedSpan) -> None:
        self._queue.append(ended)
        if len(self._queue) >= MAX_QUEUED:
            self._flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(DELAY_S, self._flush)

    def _flush(self) -> Recorder:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._recorder is None:
            from handrail_telemetry.recorder import Recorder  # noqa: PLC0415 - imports the SDK

            self._recorder = Recorder(self._collector)
        queue, self._queue = self._queue, []
        for ended in queue:
            try:
                self._recorder.record(ended)
            except Exception:  # a defect here must not reach the action
                _log.exception("an event could not be recorded")
        return self._recorder

    def prometheus(self) -> str:
        """The metrics of this process since it started, in Prometheus' text format."""
        return self._flush().prometheus()

    async def close(self) -> None:
        """Send the last spans and metrics; takes at most a second."""
        if self._queue or self._recorder is not None:
            await asyncio.to_thread(self._flush().close)


class SessionListener(Listener):
    """Is called in the task that acts, unlike queued listeners: only that task knows its trace."""

    def __init__(self, telemetry: Telemetry, number: int) -> None:
        self._telemetry = telemetry
        self._number = number
        self._open: OrderedDict[str, tuple[TraceContext | None, int]] = OrderedDict()

    def put(self, event: Event | None) -> None:
        if event is None:
            self._telemetry.forget(self._number)
        elif event.envelope is not None and event.terminal:
            parent, began_ms = self._open.pop(event.action_id, (current_trace(), event.at_ms))
            self._telemetry.queue(EndedAction(event, parent, began_ms, self._number))
        elif event.state == "accepted" and event.action_id not in self._open:
            self._open[event.action_id] = (current_trace(), event.at_ms)
            if len(self._open) > MAX_OPEN:
                self._open.popitem(last=False)

    def put_span(self, work: TracedSpan) -> None:
        self._telemetry.queue(work)
