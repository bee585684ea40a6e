"""When a flow did what: a bar per step and per stretch beside the steps, a lane per device.

Drawn as SVG, for mice only. The list of steps and the table of parts say the same to keyboards and readers.
"""

from __future__ import annotations

from collections.abc import Iterator

from handrail.flow.report.markup import Html, tag
from handrail.flow.report.summary import duration, number
from handrail.flow.run_record import FlowRecord, StepRecord
from handrail.flow.time_spent import Stretch

SCALE = 1000
"""Units of a drawing from the flow's start to its end."""
_HEIGHT = 10
_THINNEST, _THIN, _THIN_IN_ROW = 0.5, 3, 20
"""The least width of a bar, in a lane and in a row: a step of a millisecond is still there."""
Timed = StepRecord | Stretch

Named = list[tuple[str, StepRecord]]
"""Steps with the anchors of their rows."""


def timeline(record: FlowRecord, leaves: Named) -> Html | None:
    """None where there is nothing to draw."""
    lanes: dict[str, Named] = {}
    for anchor, step in leaves:
        if step.outcome != "skipped":
            lanes.setdefault(step.device, []).append((anchor, step))
    if not lanes and not record.stretches:
        return None
    main = next(iter(lanes), "")
    rows = [
        _lane(record, name if len(lanes) > 1 else "", steps, _beside(record, name, main))
        for name, steps in (lanes or {"": []}).items()
    ]
    axis = tag("div", tag("span", "0"), tag("span", duration(_span(record))), class_="axis")
    return tag("div", rows, axis, class_="timeline", aria_hidden="true")


def _beside(record: FlowRecord, name: str, main: str) -> list[Stretch]:
    """The stretches of one lane; those of no device stand in the first."""
    return [one for one in record.stretches if (one.device or main) == name or not main]


def track(record: FlowRecord, step: StepRecord) -> Html:
    """One step's own bar, for its row."""
    return _drawing([_bar(record, step, _THIN_IN_ROW)], "track")


def _lane(record: FlowRecord, name: str, steps: Named, beside: list[Stretch]) -> Html:
    bars = [_stretch(record, one) for one in beside]
    bars += [_linked(record, anchor, step) for anchor, step in steps]
    who = tag("span", name, class_="who") if name else None
    return tag("div", who, tag("div", _drawing(bars, "lane"), class_="strip"), class_="row")


def _linked(record: FlowRecord, anchor: str, step: StepRecord) -> Html:
    words = f"{number(step)}  {step.label}: {step.outcome}, {duration(step.duration_ms)}"
    return tag("a", tag("title", words), _bar(record, step, _THIN), href=f"#{anchor}", tabindex=-1)


def _stretch(record: FlowRecord, one: Stretch) -> Html:
    words = f"{one.words}: {duration(one.duration_ms)}"
    left, width = _extent(record, one, _THINNEST)
    shape = tag(
        "rect", class_=f"bar part {one.part}", x=f"{left:.1f}", y=0, width=f"{width:.1f}", height=_HEIGHT
    )
    return tag("g", tag("title", words), shape)


def _drawing(bars: list[Html], name: str) -> Html:
    box = f"0 0 {SCALE} {_HEIGHT}"
    return tag("svg", bars, class_=name, viewBox=box, preserveAspectRatio="none", aria_hidden="true")


def _bar(record: FlowRecord, step: StepRecord, thin: float) -> Html:
    left, width = _extent(record, step, thin)
    return tag(
        "rect", class_=f"bar {step.outcome}", x=f"{left:.1f}", y=0, width=f"{width:.1f}", height=_HEIGHT
    )


def _extent(record: FlowRecord, step: Timed, thin: float) -> tuple[float, float]:
    """Left and width, always inside the drawing: the two clocks of a record may disagree a little."""
    span = _span(record)
    left = min(max(0.0, (step.started_ms - record.started_ms) / span * SCALE), SCALE - thin)
    return left, min(max(thin, step.duration_ms / span * SCALE), SCALE - left)


def _span(record: FlowRecord) -> float:
    timed: list[Timed] = [*record.steps[-1:], *record.stretches[-1:]]  # in order, and asked for every bar
    ends = [one.started_ms - record.started_ms + one.duration_ms for one in timed]
    return max(1.0, record.duration_ms, *ends)


def leaves_of(steps: list[StepRecord], prefix: str) -> Iterator[tuple[str, StepRecord]]:
    """The steps that did something themselves, each with the anchor of its row."""
    for index, step in enumerate(steps):
        anchor = f"{prefix}-{index + 1}"
        if step.children:
            yield from leaves_of(step.children, anchor)
        else:
            yield anchor, step
