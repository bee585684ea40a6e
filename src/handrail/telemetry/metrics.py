"""Counters and histograms of one process: what is counted, the sums, and Prometheus' text of them.

Attributes come filtered by `allowed`, so the number of series is bounded by its lists.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from handrail.telemetry.allowed import Attributes, Value

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
TOKENS = tuple(float(4**power) for power in range(14))
"""The bounds that the semantic conventions ask for."""


@dataclass(frozen=True, slots=True)
class MetricKind:
    """One metric."""

    name: str
    meaning: str
    unit: str
    attributes: tuple[str, ...]
    bounds: tuple[float, ...] = ()
    """Of a histogram's buckets; a counter has none."""

    @property
    def kind(self) -> Literal["counter", "histogram"]:
        return "histogram" if self.bounds else "counter"


_TOOL, _CODE, _OPERATION = "gen_ai.tool.name", "error.type", "gen_ai.operation.name"
METRICS = {
    one.name: one
    for one in (
        MetricKind(
            "handrail.actions", "actions", "{action}", (_TOOL, "handrail.outcome", "handrail.surface")
        ),
        MetricKind("handrail.failures", "actions that failed", "{action}", (_TOOL, _CODE)),
        MetricKind("handrail.action.duration", "an action's whole time", "s", (_TOOL,), SECONDS),
        MetricKind(
            "handrail.settle.duration",
            "how long the screen took to rest",
            "s",
            ("handrail.settle.reason",),
            SECONDS,
        ),
        MetricKind(
            "handrail.approvals",
            "questions to a person that have ended, by how; expired and withdrawn ones were not answered",
            "{approval}",
            ("handrail.approval.decision",),
        ),
        MetricKind("handrail.agent.runs", "runs of agents", "{run}", ("handrail.agent.outcome",)),
        MetricKind("handrail.flow.runs", "runs of flows", "{run}", ("handrail.flow.outcome",)),
        MetricKind(
            "gen_ai.client.operation.duration",
            "a model's call",
            "s",
            (_OPERATION, "gen_ai.provider.name", _CODE),
            SECONDS,
        ),
        MetricKind(
            "gen_ai.client.token.usage",
            "tokens of a model's call",
            "{token}",
            (_OPERATION, "gen_ai.provider.name", "gen_ai.token.type"),
            TOKENS,
        ),
    )
}
"""By name. `docs/telemetry.md` prints it."""

Labels = tuple[tuple[str, Value], ...]
Key = tuple[str, Labels]


@dataclass(slots=True)
class Tally:
    """What one series has counted: how often, the sum, and of a histogram each bucket."""

    count: int = 0
    total: float = 0.0
    buckets: list[int] = field(default_factory=list)

    def minus(self, earlier: Tally | None) -> Tally:
        if earlier is None:
            return Tally(self.count, self.total, [*self.buckets])
        less = [now - then for now, then in zip(self.buckets, earlier.buckets, strict=True)]
        return Tally(self.count - earlier.count, self.total - earlier.total, less)


class Meters:
    """All series of a process. Written by its loop, read by the exporter's thread."""

    def __init__(self) -> None:
        self._series: dict[Key, Tally] = {}
        self._lock = threading.Lock()

    def add(self, name: str, facts: Attributes, value: float = 1.0) -> None:
        """Of the facts, what this metric is told apart by."""
        metric, value = METRICS[name], float(value)
        labels = tuple((one, facts[one]) for one in metric.attributes if one in facts)
        with self._lock:
            tally = self._series.get((name, labels))
            if tally is None:
                tally = Tally(buckets=[0] * (len(metric.bounds) + 1) if metric.bounds else [])
                self._series[name, labels] = tally
            tally.count += 1
            tally.total += value
            if metric.bounds:
                tally.buckets[bisect_left(metric.bounds, value)] += 1

    def snapshot(self) -> dict[Key, Tally]:
        with self._lock:
            return {key: one.minus(None) for key, one in self._series.items()}


def since(now: Mapping[Key, Tally], then: Mapping[Key, Tally]) -> dict[Key, Tally]:
    """What was counted in between."""
    grown = {key: one.minus(then.get(key)) for key, one in now.items()}
    return {key: one for key, one in grown.items() if one.count}


def prometheus_text(series: Mapping[Key, Tally]) -> str:
    """The text format 0.0.4; names by OpenTelemetry's rules for Prometheus."""
    lines: list[str] = []
    for name, metric in METRICS.items():
        mine = [(labels, one) for (owner, labels), one in series.items() if owner == name]
        shown = name.replace(".", "_") + ("_seconds" if metric.unit == "s" else "")
        shown += "_total" if metric.kind == "counter" else ""
        lines += [f"# HELP {shown} {metric.meaning}", f"# TYPE {shown} {metric.kind}"]
        for labels, one in mine:
            lines += _histogram(shown, labels, metric, one) if metric.bounds else _counter(shown, labels, one)
    return "\n".join([*lines, ""])


def _counter(name: str, labels: Labels, tally: Tally) -> Iterator[str]:
    yield f"{name}{_braces(labels)} {tally.count}"


def _histogram(name: str, labels: Labels, metric: MetricKind, tally: Tally) -> Iterator[str]:
    seen = 0
    for bound, count in zip([*map(str, metric.bounds), "+Inf"], tally.buckets, strict=True):
        seen += count
        yield f"{name}_bucket{_braces((*labels, ('le', bound)))} {seen}"
    yield f"{name}_sum{_braces(labels)} {tally.total}"
    yield f"{name}_count{_braces(labels)} {tally.count}"


def _braces(labels: Labels) -> str:
    inside = ",".join(f'{name.replace(".", "_")}="{value}"' for name, value in labels)
    return f"{{{inside}}}" if inside else ""
