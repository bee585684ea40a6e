"""OTLP's two requests as protobuf bytes, written by hand: eleven message types, each a line of field numbers.

Knows opentelemetry-proto 1.x (trace, metrics) and no socket.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from handrail import __version__
from handrail.telemetry.allowed import Value
from handrail.telemetry.metrics import METRICS, Key, Labels, MetricKind, Tally
from handrail.telemetry.spans import Span

RESOURCE = {
    "service.name": "handrail",
    "service.version": __version__,
    "telemetry.sdk.name": "handrail",
    "telemetry.sdk.language": "python",
    "telemetry.sdk.version": __version__,
}
"""All that is told of this machine and process: nothing."""
_DELTA = 1
_KINDS = {"internal": 1, "client": 3}
_ERROR = 2
_LENGTH, _FIXED64, _FIXED32, _VARINT = 2, 1, 5, 0


def traces(spans: Iterable[Span]) -> bytes:
    """ExportTraceServiceRequest."""
    inside = b"".join(_bytes(2, _span(one)) for one in spans)
    return _bytes(1, _bytes(1, _resource()) + _bytes(2, _bytes(1, _scope()) + inside))


def metrics(series: Mapping[Key, Tally], start_ns: int, end_ns: int) -> bytes:
    """ExportMetricsServiceRequest: what was counted between the two moments."""
    times = _fixed64(2, start_ns) + _fixed64(3, end_ns)
    inside = b""
    for name, metric in METRICS.items():
        points = [(labels, one) for (owner, labels), one in series.items() if owner == name]
        if points:
            inside += _bytes(2, _metric(metric, points, times))
    return _bytes(1, _bytes(1, _resource()) + _bytes(2, _bytes(1, _scope()) + inside))


def _span(span: Span) -> bytes:
    return b"".join(
        (
            _bytes(1, span.place.trace_id),
            _bytes(2, span.place.span_id),
            _bytes(4, span.parent.span_id) if span.parent else b"",
            _text(5, span.name),
            _varint(6, _KINDS[span.kind]),
            _fixed64(7, span.start_ns),
            _fixed64(8, span.end_ns),
            _attributes(9, span.attributes.items()),
            _bytes(15, _varint(3, _ERROR)) if span.has_failed else b"",
            _tag(16, _FIXED32) + struct.pack("<I", span.place.is_sampled),
        )
    )


def _metric(metric: MetricKind, points: Iterable[tuple[Labels, Tally]], times: bytes) -> bytes:
    head = _text(1, metric.name) + _text(2, metric.meaning) + _text(3, metric.unit)
    if metric.bounds:
        told = b"".join(_bytes(1, _histogram_point(metric, *one, times)) for one in points)
        return head + _bytes(9, told + _varint(2, _DELTA))
    told = b"".join(_bytes(1, _number_point(*one, times)) for one in points)
    return head + _bytes(7, told + _varint(2, _DELTA) + _varint(3, 1))  # monotonic


def _number_point(labels: Labels, tally: Tally, times: bytes) -> bytes:
    return times + _fixed64(6, tally.count) + _attributes(7, labels)


def _histogram_point(metric: MetricKind, labels: Labels, tally: Tally, times: bytes) -> bytes:
    counts = struct.pack(f"<{len(tally.buckets)}Q", *tally.buckets)
    bounds = struct.pack(f"<{len(metric.bounds)}d", *metric.bounds)
    totals = _fixed64(4, tally.count) + _double(5, tally.total)
    return times + totals + _bytes(6, counts) + _bytes(7, bounds) + _attributes(9, labels)


def _resource() -> bytes:
    return _attributes(1, RESOURCE.items())


def _scope() -> bytes:
    return _text(1, "handrail") + _text(2, __version__)


def _attributes(number: int, pairs: Iterable[tuple[str, Value]]) -> bytes:
    return b"".join(_bytes(number, _text(1, name) + _bytes(2, _value(value))) for name, value in pairs)


def _value(value: Value) -> bytes:
    match value:
        case str():
            return _text(1, value)
        case bool():
            return _varint(2, int(value))
        case int():
            return _varint(3, value)
        case float():
            return _double(4, value)


def _tag(number: int, wire: int) -> bytes:
    return _number(number << 3 | wire)


def _number(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def _varint(number: int, value: int) -> bytes:
    return _tag(number, _VARINT) + _number(value)


def _fixed64(number: int, value: int) -> bytes:
    return _tag(number, _FIXED64) + struct.pack("<Q", value)


def _double(number: int, value: float) -> bytes:
    return _tag(number, _FIXED64) + struct.pack("<d", value)


def _bytes(number: int, data: bytes) -> bytes:
    return _tag(number, _LENGTH) + _number(len(data)) + data


def _text(number: int, text: str) -> bytes:
    return _bytes(number, text.encode())
