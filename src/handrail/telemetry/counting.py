"""What was heard, as spans for the exporter and as sums. Reads envelopes through `allowed` alone."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping

from handrail.engine.events import Event
from handrail.engine.work import TracedWork, TracePlace
from handrail.telemetry.allowed import Attributes, allowed
from handrail.telemetry.endpoint import CollectorPlace
from handrail.telemetry.exporter import Exporter
from handrail.telemetry.metrics import Meters, prometheus_text
from handrail.telemetry.spans import facts_of, span_of_work, spans_of_action


class Counting:
    """Of one runtime."""

    def __init__(self, place: CollectorPlace | None) -> None:
        self._meters = Meters()
        self._exporter = Exporter(place, self._meters) if place else None
        self._keys: defaultdict[int, str] = defaultdict(lambda: os.urandom(8).hex())
        """Of sessions: drawn at random, so that they say nothing of a device."""

    def hear(self, heard: tuple[Event, tuple[TracePlace | None, int], int] | TracedWork) -> None:
        """One action or piece of work that has ended."""
        if isinstance(heard, TracedWork):
            self._work(heard)
            return
        event, (parent, began_ms), session = heard
        if event.envelope is None:
            return
        facts, timings = facts_of(event, event.envelope), dict(event.envelope.timings_ms or {})
        self._count(facts, timings)
        if self._exporter is not None and (parent is None or parent.is_sampled):
            self._exporter.add(spans_of_action(facts, timings, began_ms, parent, self._keys[session]))

    def _work(self, work: TracedWork) -> None:
        span = span_of_work(work)
        match work.kind:
            case "agent":
                self._meters.add("handrail.agent.runs", span.attributes)
            case "flow":
                self._meters.add("handrail.flow.runs", span.attributes)
            case "model":
                self._meters.add("gen_ai.client.operation.duration", span.attributes, work.ms / 1000)
                for kind, tokens in (("input", work.input_tokens), ("output", work.output_tokens)):
                    of_kind = span.attributes | allowed({"gen_ai.token.type": kind})
                    self._meters.add("gen_ai.client.token.usage", of_kind, tokens)
        if self._exporter is not None and span.place.is_sampled:
            self._exporter.add([span])

    def _count(self, facts: Attributes, timings: Mapping[str, float]) -> None:
        self._meters.add("handrail.actions", facts)
        self._meters.add("handrail.action.duration", facts, timings.get("total", 0.0) / 1000)
        if "error.type" in facts:
            self._meters.add("handrail.failures", facts)
        if "handrail.settle.ms" in facts:
            self._meters.add("handrail.settle.duration", facts, float(facts["handrail.settle.ms"]) / 1000)
        if "handrail.approval.decision" in facts and not facts.get("handrail.approval.remembered"):
            self._meters.add("handrail.approvals", facts)

    def prometheus(self) -> str:
        return prometheus_text(self._meters.snapshot())

    def close(self) -> None:
        """Send what is left, within a second."""
        if self._exporter is not None:
            self._exporter.close()
