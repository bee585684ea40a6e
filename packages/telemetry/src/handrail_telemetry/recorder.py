"""Makes spans and metrics of the OpenTelemetry SDK from ended actions and work."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    InMemoryMetricReader,
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
from handrail_telemetry import EndedAction
from handrail_telemetry.allowed import ALLOWED, METRICS, OTHER, PHASES, Attributes, Metric, keep_allowed
from handrail_telemetry.collector import Collector, open_session

MAX_QUEUED = 4_096  # spans that wait to be sent, about three megabytes; the oldest are dropped first
EXPORT_EVERY_MS = 5_000
TIMEOUT_S = 5.0
CLOSE_S = 1.0  # how long the end of a process may wait for a collector


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
        self._add_to_metric("handrail.actions", attributes)
        self._add_to_metric("handrail.action.duration", attributes, timings.get("total", 0.0) / 1000)
        if "error.type" in attributes:
            self._add_to_metric("handrail.failures", attributes)
        if "handrail.settle.ms" in attributes:
            seconds = float(attributes["handrail.settle.ms"]) / 1000
            self._add_to_metric("handrail.settle.duration", attributes, seconds)
        if "handrail.approval.decision" in attributes and not attributes.get("handrail.approval.remembered"):
            self._add_to_metric("handrail.approvals", attributes)
        if self._spans is not None and (parent is None or parent.is_sampled):
            for span in action_spans(attributes, timings, began_ms, parent, self._session_ids[session]):
                self._spans.on_end(span)

    def _record_work(self, work: TracedSpan) -> None:
        name, span_kind = WORK_NAMES.get(work.kind, OTHER), SpanKind.INTERNAL
        fields: dict[str, Any] = {"error.type": work.code, "gen_ai.operation.name": name}
        if work.kind == "model":
            span_kind = SpanKind.CLIENT
            tokens = {"input": work.input_tokens, "output": work.output_tokens}
            fields["gen_ai.provider.name"] = work.maker
            fields |= {f"gen_ai.usage.{kind}_tokens": count for kind, count in tokens.items()}
            attributes = keep_allowed(fields)
            self._add_to_metric("gen_ai.client.operation.duration", attributes, work.ms / 1000)
            for kind, count in tokens.items():
                of_kind = attributes | keep_allowed({"gen_ai.token.type": kind})
                self._add_to_metric("gen_ai.client.token.usage", of_kind, float(count))
        else:
            attributes = keep_allowed(fields | {f"handrail.{work.kind}.outcome": work.outcome})
            if f"handrail.{work.kind}.runs" in METRICS:
                self._add_to_metric(f"handrail.{work.kind}.runs", attributes)
        if self._spans is not None:
            began_ns = work.began_ms * 1_000_000
            self._spans.on_end(
                _make_span(name, work.place, work.parent, began_ns, work.ms, attributes, span_kind)
            )

    def _add_to_metric(self, name: str, attributes: Attributes, amount: float = 1) -> None:
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
    options: dict[str, Any] = {
        "certificate_file": str(session.verify),
        "timeout": TIMEOUT_S,
        "compression": Compression.NoCompression,
        "session": session,
    }
    span_exporter = OTLPSpanExporter(f"{collector.url}/v1/traces", **options)
    metric_exporter = OTLPMetricExporter(
        f"{collector.url}/v1/metrics",
        **options,
        preferred_temporality=dict.fromkeys((Counter, Histogram), AggregationTemporality.DELTA),
        preferred_aggregation={Histogram: ExplicitBucketHistogramAggregation(record_min_max=False)},
    )
    session.cert = None  # the exporters set it from OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE
    return (
        BatchSpanProcessor(span_exporter, MAX_QUEUED, EXPORT_EVERY_MS, 512, TIMEOUT_S * 1000),
        PeriodicExportingMetricReader(metric_exporter, EXPORT_EVERY_MS, TIMEOUT_S * 1000),
    )


def _prometheus_point(name: str, metric: Metric, point: Any) -> Iterator[str]:
    def braces(**more: str) -> str:
        labels = {label: point.attributes[label] for label in metric.attributes if label in point.attributes}
        written = [f'{label.replace(".", "_")}="{text}"' for label, text in (labels | more).items()]
        return f"{{{','.join(written)}}}" if written else ""

    if not metric.bounds:
        yield f"{name}{braces()} {point.value}"
        return
    counts = accumulate(point.bucket_counts)
    for bound, count in zip([*map(str, metric.bounds), "+Inf"], counts, strict=True):
        yield f"{name}_bucket{braces(le=bound)} {count}"
    yield f"{name}_sum{braces()} {point.sum}"
    yield f"{name}_count{braces()} {point.count}"


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
    for name in ALLOWED:  # `handrail.settle.ms` is what the envelope has as `settle.ms`
        part, _, field = name.removeprefix("handrail.").partition(".")
        if part in ("verification", "settle", "approval") and getattr(envelope, part):
            attributes[name] = getattr(getattr(envelope, part), field)
    if "handrail.approval.remembered" in attributes:
        attributes["handrail.approval.remembered"] = bool(attributes["handrail.approval.remembered"])
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
    yield _make_span(name, place, parent, began_ms * 1_000_000, timings.get("total", 0.0), own)
    start_ns = began_ms * 1_000_000
    phases = {phase: timings.get(phase, 0.0) for phase in PHASES if phase != "other"}
    phases["other"] = sum(ms for phase, ms in timings.items() if phase not in phases and phase != "total")
    for phase, ms in phases.items():
        if ms > 0:
            own = keep_allowed({"handrail.phase": phase})
            span = _make_span(f"phase {phase}", place.child(), place, start_ns, ms, own)
            yield span
            start_ns = span.end_time or start_ns


def _make_span(
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

    def context(of: TraceContext) -> SpanContext:
        trace_id, span_id = int.from_bytes(of.trace_id), int.from_bytes(of.span_id)
        return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(int(of.is_sampled)))

    return ReadableSpan(
        name,
        context(place),
        context(parent) if parent else None,
        RESOURCE,
        attributes,
        kind=kind,
        status=Status(StatusCode.ERROR if has_failed else StatusCode.UNSET),
        start_time=start_ns,
        end_time=start_ns + max(0, round(ms * 1_000_000)),
        instrumentation_scope=_SCOPE,
    )
