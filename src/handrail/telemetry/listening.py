"""The ear on every session: what it hears becomes spans and counts. It waits for nothing, raises nothing."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import OrderedDict
from collections.abc import Mapping

from handrail.engine.events import Event, Listener
from handrail.engine.session import Session
from handrail.engine.work import TracedWork, TracePlace, trace_place
from handrail.protocol.envelope import Envelope
from handrail.telemetry.allowed import Attributes, allowed
from handrail.telemetry.endpoint import read_place
from handrail.telemetry.exporter import Exporter
from handrail.telemetry.metrics import Meters, prometheus_text
from handrail.telemetry.spans import facts_of, span_of_work, spans_of_action

MOST_OPEN = 1_000
"""Actions whose beginning is remembered until their end."""

_log = logging.getLogger("handrail.telemetry")


class Telemetry:
    """One runtime's: sums for whoever asks, spans for the collector where one is named."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Raises `InvalidAction` for an endpoint that is none."""
        self.meters = Meters()
        place = read_place(env)
        self._exporter = Exporter(place, self.meters) if place else None
        self._ears: set[SessionEar] = set()

    def listen(self, session: Session) -> None:
        """To everything that is done there, until it is closed."""
        ear = SessionEar(self)
        self._ears.add(ear)
        session.events(ear)

    def forget(self, ear: SessionEar) -> None:
        self._ears.discard(ear)

    def action(
        self, event: Event, envelope: Envelope, began: tuple[TracePlace | None, int], key: str
    ) -> None:
        """One that has ended."""
        facts, timings = facts_of(event, envelope), dict(envelope.timings_ms or {})
        self._count(facts, timings)
        parent = began[0]
        if self._exporter is not None and (parent is None or parent.is_sampled):
            self._exporter.add(spans_of_action(facts, timings, began[1], parent, key))

    def work(self, work: TracedWork) -> None:
        """An agent's run, a flow or a call of a model that has ended."""
        span = span_of_work(work)
        match work.kind:
            case "agent":
                self.meters.add("handrail.agent.runs", span.attributes)
            case "flow":
                self.meters.add("handrail.flow.runs", span.attributes)
            case "model":
                self.meters.add("gen_ai.client.operation.duration", span.attributes, work.ms / 1000)
                for kind, tokens in (("input", work.input_tokens), ("output", work.output_tokens)):
                    of_kind = span.attributes | allowed({"gen_ai.token.type": kind})
                    self.meters.add("gen_ai.client.token.usage", of_kind, tokens)
        if self._exporter is not None and span.place.is_sampled:
            self._exporter.add([span])

    def _count(self, facts: Attributes, timings: Mapping[str, float]) -> None:
        self.meters.add("handrail.actions", facts)
        self.meters.add("handrail.action.duration", facts, timings.get("total", 0.0) / 1000)
        if "error.type" in facts:
            self.meters.add("handrail.failures", facts)
        if "handrail.settle.ms" in facts:
            self.meters.add("handrail.settle.duration", facts, float(facts["handrail.settle.ms"]) / 1000)
        if "handrail.approval.decision" in facts and not facts.get("handrail.approval.remembered"):
            self.meters.add("handrail.approvals", facts)

    def prometheus(self) -> str:
        """Everything that this process has counted."""
        return prometheus_text(self.meters.snapshot())

    async def close(self) -> None:
        """The last spans, within a second."""
        if self._exporter is not None:
            await asyncio.to_thread(self._exporter.close)


class SessionEar(Listener):
    """Hears at once, where others queue: the task that acts is the one that knows its trace."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._key = os.urandom(8).hex()
        self._open: OrderedDict[str, tuple[TracePlace | None, int]] = OrderedDict()

    def put(self, event: Event | None) -> None:
        try:
            self._hear(event)
        except Exception:  # whatever is wrong here, the action goes on
            _log.exception("an event could not be counted")

    def put_work(self, work: TracedWork) -> None:
        try:
            self._telemetry.work(work)
        except Exception:  # as above
            _log.exception("a piece of work could not be counted")

    def _hear(self, event: Event | None) -> None:
        if event is None:
            self._telemetry.forget(self)
        elif event.envelope is not None and event.terminal:
            began = self._open.pop(event.action_id, (trace_place(), event.at_ms))
            self._telemetry.action(event, event.envelope, began, self._key)
        elif event.state == "accepted" and event.action_id not in self._open:
            self._open[event.action_id] = (trace_place(), event.at_ms)
            if len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
