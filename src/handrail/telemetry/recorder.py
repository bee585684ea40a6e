"""Makes spans and metrics of the OpenTelemetry SDK from ended actions and work."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    HistogramDataPoint,
    InMemoryMetricReader,
    NumberDataPoint,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.metrics.view import DropAggregation, ExplicitBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from handrail import __version__
from handrail.engine.events import Event, TraceContext, TracedSpan
from handrail.protocol.actions import ACTIONS
from handrail.protocol.envelope import Envelope
from handrail.telemetry import EndedAction
from handrail.telemetry.allowed import METRICS, OTHER, PHASES, Attributes, Metric, keep_allowed
from handrail.telemetry.collector import Collector, open_session

MAX_QUEUED = 4_096
"""Spans that wait to be sent, about three megabytes; the oldest are dropped first."""
EXPORT_EVERY_MS = 5_000
TIMEOUT_S = 5.0
CLOSE_S = 1.0
"""How long the end of a process may wait for a collector."""


class Recorder:
    """The SDK's pipelines of one runtime: spans and metrics to the collector, metrics for `/metrics`."""

    def __init__(self, collector: Collector | None) -> None:
        # Keeps the SDK's warnings off stderr unless logging is configured.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        self._spans: BatchSpanProcessor | None = None
        exported = None
        if collector is not None:
            self._spans, exported = open_exporters(collector)
        self._totals = InMemoryMetricReader()
        self._provider = MeterProvider(
            [self._totals, exported] if exported else [self._totals],
            RESOURCE,
            AlwaysOffExemplarFilter(),
            shutdown_on_exit=False,
            views=[View(meter_name="opentelemetry-sdk", aggregation=DropAggregation())],
        )
        meter = self._provider.get_meter("handrail", __version__)
        self._instruments: dict[str, Callable[[float, Attributes], None]] = {
            name: meter.create_histogram(
                name, metric.unit, metric.meaning, explicit_bucket_boundaries_advisory=metric.bounds
            ).record
            if metric.bounds
            else meter.create_counter(name, metric.unit, metric.meaning).add
            for name, metric in METRICS.items()
        }
        self._session_ids: defaultdict[int, str] = defaultdict(lambda: os.urandom(8).hex())

    def record(self, ended: EndedAction | TracedSpan) -> None:
        if isinstance(ended, TracedSpan):
            self._record_work(ended)
            return
        event, parent, began_ms, session = ended
        if event.envelope is None:
            return
        attributes, timings = action_attributes(event, event.envelope), dict(event.envelope.timings_ms or {})
        self._add("handrail.actions", attributes)
        self._add("handrail.action.duration", attributes, timings.get("total", 0.0) / 1000)
        if "error.type" in attributes:
            self._add("handrail.failures", attributes)
        if "handrail.settle.ms" in attributes:
            seconds = float(attributes["handrail.settle.ms"]) / 1000
            self._add("handrail.settle.duration", attributes, seconds)
        if "handrail.approval.decision" in attributes and not attributes.get("handrail.approval.remembered"):
            self._add("handrail.approvals", attributes)
        if self._spans is not None and (parent is None or parent.is_sampled):
            for span in action_spans(attributes, timings, began_ms, parent, self._session_ids[session]):
                self._spans.on_end(span)

    def _record_work(self, work: TracedSpan) -> None:
        attributes = work_attributes(work)
        match work.kind:
            case "agent":
                self._add("handrail.agent.runs", attributes)
            case "flow":
                self._add("handrail.flow.runs", attributes)
            case "model":
                self._add("gen_ai.client.operation.duration", attributes, work.ms / 1000)
                for kind, tokens in (("input", work.input_tokens), ("output", work.output_tokens)):
                    of_kind = attributes | keep_allowed({"gen_ai.token.type": kind})
                    self._add("gen_ai.client.token.usage", of_kind, float(tokens))
        if self._spans is not None:
            name = WORK_NAMES.get(work.kind, OTHER)
            span_kind = SpanKind.CLIENT if work.kind == "model" else SpanKind.INTERNAL
            began_ns = work.began_ms * 1_000_000
            self._spans.on_end(_span(name, work.place, work.parent, began_ns, work.ms, attributes, span_kind))

    def _add(self, name: str, attributes: Attributes, amount: float = 1) -> None:
        """Keeps those attributes that the metric is broken down by."""
        labels = {label: attributes[label] for label in METRICS[name].attributes if label in attributes}
        self._instruments[name](amount, labels)

    def prometheus(self) -> str:
        """The text format 0.0.4; names follow OpenTelemetry's rules for Prometheus."""
        exported = self._totals.get_metrics_data()
        points = {
            metric.name: metric.data.data_points
            for resource in (exported.resource_metrics if exported else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }
        lines: list[str] = []
        for name, metric in METRICS.items():
            written = name.replace(".", "_") + ("_seconds" if metric.unit == "s" else "")
            written += "_total" if metric.kind == "counter" else ""
            lines += [f"# HELP {written} {metric.meaning}", f"# TYPE {written} {metric.kind}"]
            for point in points.get(name, ()):
                lines += _prometheus_point(written, metric, point)
        return "\n".join([*lines, ""])

    def close(self) -> None:
        """Send what is left. A thread that waits for the collector after that ends with the process."""
        deadline = time.monotonic() + CLOSE_S
        closing = [self._provider.shutdown, *([self._spans.shutdown] if self._spans else [])]
        threads = [threading.Thread(target=shutdown, daemon=True) for shutdown in closing]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))


def open_exporters(collector: Collector) -> tuple[BatchSpanProcessor, PeriodicExportingMetricReader]:
    """Both start a daemon thread. Metrics are deltas, so the counts of short processes add up.

    `OTEL_…` variables are often set for other programs, so what the SDK would read from them is passed here.
    """
    session = open_session(collector)
    span_exporter = OTLPSpanExporter(
        f"{collector.url}/v1/traces",
        str(session.verify),
        timeout=TIMEOUT_S,
        compression=Compression.NoCompression,
        session=session,
    )
    metric_exporter = OTLPMetricExporter(
        f"{collector.url}/v1/metrics",
        str(session.verify),
        timeout=TIMEOUT_S,
        compression=Compression.NoCompression,
        session=session,
        preferred_temporality=dict.fromkeys((Counter, Histogram), AggregationTemporality.DELTA),
        preferred_aggregation={Histogram: ExplicitBucketHistogramAggregation(record_min_max=False)},
    )
    session.cert = None  # the exporters set it from OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE
    return (
        BatchSpanProcessor(span_exporter, MAX_QUEUED, EXPORT_EVERY_MS, 512, TIMEOUT_S * 1000),
        PeriodicExportingMetricReader(metric_exporter, EXPORT_EVERY_MS, TIMEOUT_S * 1000),
    )


def _prometheus_point(name: str, metric: Metric, point: Any) -> Iterator[str]:
    attributes = point.attributes or {}
    labels = [(label, attributes[label]) for label in metric.attributes if label in attributes]
    if isinstance(point, NumberDataPoint):
        yield f"{name}{_braces(labels)} {point.value}"
    elif isinstance(point, HistogramDataPoint):
        count = 0
        for bound, more in zip([*map(str, metric.bounds), "+Inf"], point.bucket_counts, strict=True):
            count += more
            yield f"{name}_bucket{_braces([*labels, ('le', bound)])} {count}"
        yield f"{name}_sum{_braces(labels)} {point.sum}"
        yield f"{name}_count{_braces(labels)} {point.count}"


def _braces(labels: list[tuple[str, Any]]) -> str:
    inside = ",".join(f'{label.replace(".", "_")}="{text}"' for label, text in labels)
    return f"{{{inside}}}" if inside else ""


RESOURCE = Resource({"service.name": "handrail", "service.version": __version__})
"""Without the SDK's detectors, which add names of the host and process."""
_SCOPE = InstrumentationScope("handrail", __version__)
_OUTCOMES = {"verified": "verified", "pending_verification": "unverified"}
WORK_NAMES: dict[str, str] = {"agent": "invoke_agent", "flow": "flow", "model": "chat"}


def action_attributes(event: Event, envelope: Envelope) -> Attributes:
    action = ACTIONS.get(event.action_type)
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": event.action_type,
        "error.type": envelope.failure_code,
        "handrail.outcome": _OUTCOMES.get(envelope.lifecycle_state, "failed"),
        "handrail.actor": event.actor,
        "handrail.surface": envelope.device.platform if envelope.device else "desk",
        "handrail.effect": action.traits.effect if action else None,
        "handrail.semantic": envelope.semantic,
        "handrail.delivery": envelope.delivery,
        "handrail.retryable": envelope.retryable,
        "handrail.changes": len(envelope.changes) if envelope.changes is not None else None,
    }
    if verification := envelope.verification:
        attributes["handrail.verification.mode"] = verification.mode
        attributes["handrail.verification.outcome"] = verification.outcome
    if settle := envelope.settle:
        attributes["handrail.settle.reason"] = settle.reason
        attributes["handrail.settle.ms"] = settle.ms
        attributes["handrail.settle.reads"] = settle.reads
    if approval := envelope.approval:
        attributes["handrail.approval.decision"] = approval.decision
        attributes["handrail.approval.remembered"] = bool(approval.remembered)
    return keep_allowed(attributes)


def action_spans(
    attributes: Attributes,
    timings: dict[str, float],
    began_ms: int,
    parent: TraceContext | None,
    session: str,
) -> Iterator[ReadableSpan]:
    """The action, then its phases laid end to end: an envelope says how long each took, not when it began."""
    place = parent.child() if parent else TraceContext()
    name = f"execute_tool {attributes.get('gen_ai.tool.name', OTHER)}"
    own = attributes | keep_allowed({"handrail.session.id": session})
    yield _span(name, place, parent, began_ms * 1_000_000, timings.get("total", 0.0), own)
    start_ns = began_ms * 1_000_000
    phases = {phase: timings.get(phase, 0.0) for phase in PHASES if phase != "other"}
    phases["other"] = sum(ms for phase, ms in timings.items() if phase not in phases and phase != "total")
    for phase, ms in phases.items():
        if ms > 0:
            span = _span(
                f"phase {phase}", place.child(), place, start_ns, ms, keep_allowed({"handrail.phase": phase})
            )
            yield span
            start_ns = span.end_time or start_ns


def work_attributes(work: TracedSpan) -> Attributes:
    attributes: dict[str, Any] = {
        "error.type": work.code,
        "gen_ai.operation.name": WORK_NAMES.get(work.kind, OTHER),
    }
    match work.kind:
        case "agent" | "flow":
            attributes[f"handrail.{work.kind}.outcome"] = work.outcome
        case "model":
            attributes["gen_ai.provider.name"] = work.maker
            attributes["gen_ai.usage.input_tokens"] = work.input_tokens
            attributes["gen_ai.usage.output_tokens"] = work.output_tokens
    return keep_allowed(attributes)


def _span(
    name: str,
    place: TraceContext,
    parent: TraceContext | None,
    start_ns: int,
    ms: float,
    attributes: Attributes,
    kind: SpanKind = SpanKind.INTERNAL,
) -> ReadableSpan:
    """The SDK's tracer is not used: it draws ids and reads the clock itself, and these are known already."""
    has_failed = (
        "error.type" in attributes
        or attributes.get("handrail.flow.outcome") == "failed"
        or attributes.get("handrail.agent.outcome", "finished") != "finished"
    )
    return ReadableSpan(
        name,
        _context(place),
        _context(parent) if parent else None,
        RESOURCE,
        attributes,
        kind=kind,
        status=Status(StatusCode.ERROR if has_failed else StatusCode.UNSET),
        start_time=start_ns,
        end_time=start_ns + max(0, round(ms * 1_000_000)),
        instrumentation_scope=_SCOPE,
    )


def _context(place: TraceContext) -> SpanContext:
    trace_id, span_id = int.from_bytes(place.trace_id), int.from_bytes(place.span_id)
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(int(place.is_sampled)))
