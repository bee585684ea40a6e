"""When a flow did what: a bar per step and per stretch beside the steps, a lane per device.

Drawn as SVG, for mice only. The list of steps and the table of parts say the same to keyboards and readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from handrail.flow.report.summary import Html, duration, tag
from handrail.flow.run_record import (
    PARTS,
    FlowRecord,
    StepRecord,
    TimePart,
    TimeSpent,
    TimeStretch,
    add_times,
)

SCALE = 1000
"""Units of a drawing from the flow's start to its end."""
_HEIGHT = 10
_THINNEST, _THIN, _THIN_IN_ROW = 0.5, 3, 20
"""The least width of a bar, in a lane and in a row: a step of a millisecond is still there."""
Timed = StepRecord | TimeStretch

Named = list[tuple[str, StepRecord]]
"""Steps with the anchors of their rows."""


def timeline(record: FlowRecord, leaves: Named) -> Html | None:
    """Returns None where there is nothing to draw."""
    lanes: dict[str, Named] = {}
    for anchor, step in leaves:
        if step.outcome != "skipped":
            lanes.setdefault(step.device, []).append((anchor, step))
    if not lanes and not record.stretches:
        return None
    main = next(iter(lanes), "")
    rows = [
        _device_lane(
            record,
            name if len(lanes) > 1 else "",
            steps,
            [stretch for stretch in record.stretches if (stretch.device or main) == name or not main],
        )
        for name, steps in (lanes or {"": []}).items()
    ]
    axis = tag("div", tag("span", "0"), tag("span", duration(_length_of_run(record))), class_="axis")
    return tag("div", rows, axis, class_="timeline", aria_hidden="true")


def step_track(record: FlowRecord, step: StepRecord) -> Html:
    return _svg_drawing([_bar(record, step, step.outcome, _THIN_IN_ROW)], "track")


def _device_lane(record: FlowRecord, name: str, steps: Named, beside: list[TimeStretch]) -> Html:
    bars = []
    for stretch in beside:
        words = f"{stretch.words}: {duration(stretch.duration_ms)}"
        bars.append(tag("g", tag("title", words), _bar(record, stretch, f"part {stretch.part}", _THINNEST)))
    for anchor, step in steps:
        words = f"{step.number}  {step.label}: {step.outcome}, {duration(step.duration_ms)}"
        drawn = [tag("title", words), _bar(record, step, step.outcome, _THIN)]
        bars.append(tag("a", drawn, href=f"#{anchor}", tabindex=-1))
    who = tag("span", name, class_="who") if name else None
    return tag("div", who, tag("div", _svg_drawing(bars, "lane"), class_="strip"), class_="row")


def _svg_drawing(bars: list[Html], name: str) -> Html:
    box = f"0 0 {SCALE} {_HEIGHT}"
    return tag("svg", bars, class_=name, viewBox=box, preserveAspectRatio="none", aria_hidden="true")


def _bar(record: FlowRecord, timed: Timed, kind: str, thin: float) -> Html:
    """Always inside the drawing: the two clocks of a record may disagree a little."""
    span = _length_of_run(record)
    left = min(max(0.0, (timed.started_ms - record.started_ms) / span * SCALE), SCALE - thin)
    width = min(max(thin, timed.duration_ms / span * SCALE), SCALE - left)
    return tag("rect", class_=f"bar {kind}", x=f"{left:.1f}", y=0, width=f"{width:.1f}", height=_HEIGHT)


def _length_of_run(record: FlowRecord) -> float:
    timed: list[Timed] = [*record.steps[-1:], *record.stretches[-1:]]  # in order, and asked for every bar
    ends = [step.started_ms - record.started_ms + step.duration_ms for step in timed]
    return max(1.0, record.duration_ms, *ends)


def leaves_of(steps: list[StepRecord], prefix: str) -> Iterator[tuple[str, StepRecord]]:
    """The steps that did something themselves, each with the anchor of its row."""
    for index, step in enumerate(steps):
        anchor = f"{prefix}-{index + 1}"
        if step.children:
            yield from leaves_of(step.children, anchor)
        else:
            yield anchor, step


NAMES: dict[TimePart, str] = {
    "launch": "Starting the app",
    "looking": "Reading the screen",
    "acting": "Acting",
    "settling": "Settling",
    "waiting": "Waiting",
    "approval": "Approvals",
    "retry": "Pauses between tries",
    "evidence": "Pictures for the report",
    "journal": "Writing the journal",
    "engine": "Handrail itself",
}
UNEXPLAINED = "Between the steps"
_SHOWN_MS = 0.5


def time_parts(record: FlowRecord) -> TimeSpent:
    """Sums milliseconds by part; time that nothing accounts for is left out."""
    total: TimeSpent = {}
    beside: dict[tuple[int, ...], TimeSpent] = {}
    for stretch in record.stretches:
        add_times(beside.setdefault(stretch.path, {}), stretch.spent)
    for spent in (beside.get((), {}), *_times_of_steps(beside, record.steps)):
        add_times(total, spent)
    return {part: total[part] for part in PARTS if part in total}


def _times_of_steps(
    beside: Mapping[tuple[int, ...], TimeSpent], steps: Sequence[StepRecord]
) -> Iterator[TimeSpent]:
    for step in steps:
        yield beside.get(step.path, {})
        yield step_parts(step)
        if "parallel" in step.source and step.children:
            longest = max(step.children, key=lambda child: child.duration_ms)
            yield from _times_of_steps(beside, [longest])
        else:
            yield from _times_of_steps(beside, step.children)


def step_parts(step: StepRecord) -> TimeSpent:
    """One step's own time: all of it for a step that holds no others."""
    spent = dict(step.spent)
    if not step.children:
        add_times(spent, {step.rest: max(0.0, step.duration_ms - sum(spent.values()))})
    return {part: spent[part] for part in PARTS if part in spent}


def where_time_went(record: FlowRecord) -> Html | None:
    """Returns None where nothing was measured."""
    parts = [(NAMES[part], part, ms) for part, ms in time_parts(record).items() if ms >= _SHOWN_MS]
    rest = record.duration_ms - sum(ms for _, _, ms in parts)
    if not parts:
        return None
    shown: list[tuple[str, str, float]] = sorted(parts, key=lambda share: -share[2])
    if rest >= _SHOWN_MS:
        shown.append((UNEXPLAINED, "unexplained", rest))
    total = sum(ms for _, _, ms in shown)
    return tag(
        "section",
        tag("h3", "Where the time went"),
        _parts_bar(shown, total),
        tag("ul", [_legend_entry(name, kind, ms, total) for name, kind, ms in shown], class_="legend"),
        class_="spent",
    )


def _parts_bar(shown: Sequence[tuple[str, str, float]], total: float) -> Html:
    left, bars = 0.0, []
    for name, kind, ms in shown:
        width = ms / total * SCALE
        words = tag("title", f"{name}: {duration(ms)}")
        kinds, x = f"bar part {kind}", f"{left:.2f}"
        bars.append(tag("rect", words, class_=kinds, x=x, y=0, width=f"{width:.2f}", height=_HEIGHT))
        left += width
    return _svg_drawing(bars, "lane parts")


def _legend_entry(name: str, kind: str, ms: float, total: float) -> Html:
    share = f"{ms / total:.0%}" if ms / total >= 0.005 else "<1%"
    took = tag("b", duration(ms))
    return tag("li", tag("i", class_=f"swatch part {kind}"), f"{name} ", took, f" {share}")


def step_words(step: StepRecord) -> str:
    """ "settling 81 ms, acting 10 ms": one step, the longest part first."""
    parts = sorted(step_parts(step).items(), key=lambda share: -share[1])
    return ", ".join(f"{NAMES[part].lower()} {duration(ms)}" for part, ms in parts if ms >= _SHOWN_MS)
