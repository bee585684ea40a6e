"""What a flow's time was spent on: parts that add up to the whole, as a bar and as a list of terms.

What nothing accounts for is said as well. On several phones at once, the one that took longest counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from handrail.flow.report.markup import Html, tag
from handrail.flow.report.summary import duration
from handrail.flow.run_record import FlowRecord, StepRecord
from handrail.flow.time_spent import PARTS, TimePart, TimeSpent, add

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
_SCALE, _HEIGHT = 1000.0, 10


def time_parts(record: FlowRecord) -> TimeSpent:
    """By part, in milliseconds; without what nothing accounts for."""
    total: TimeSpent = {}
    beside: dict[tuple[int, ...], TimeSpent] = {}
    for one in record.stretches:
        add(beside.setdefault(one.path, {}), one.spent)
    for spent in (beside.get((), {}), *_of_steps(beside, record.steps)):
        add(total, spent)
    return {part: total[part] for part in PARTS if part in total}


def _of_steps(
    beside: Mapping[tuple[int, ...], TimeSpent], steps: Sequence[StepRecord]
) -> Iterator[TimeSpent]:
    for step in steps:
        yield beside.get(step.path, {})
        yield step_parts(step)
        if "parallel" in step.given and step.children:
            longest = max(step.children, key=lambda child: child.duration_ms)
            yield from _of_steps(beside, [longest])
        else:
            yield from _of_steps(beside, step.children)


def step_parts(step: StepRecord) -> TimeSpent:
    """One step's own time: all of it for a step that holds no others."""
    spent = dict(step.spent)
    if not step.children:
        add(spent, {step.rest: max(0.0, step.duration_ms - sum(spent.values()))})
    return {part: spent[part] for part in PARTS if part in spent}


def where_time_went(record: FlowRecord) -> Html | None:
    """None where nothing was measured."""
    parts = [(NAMES[part], part, ms) for part, ms in time_parts(record).items() if ms >= _SHOWN_MS]
    rest = record.duration_ms - sum(ms for _, _, ms in parts)
    if not parts:
        return None
    shown: list[tuple[str, str, float]] = sorted(parts, key=lambda one: -one[2])
    if rest >= _SHOWN_MS:
        shown.append((UNEXPLAINED, "unexplained", rest))
    whole = sum(ms for _, _, ms in shown)
    return tag(
        "section",
        tag("h3", "Where the time went"),
        _bar(shown, whole),
        tag("ul", [_term(name, kind, ms, whole) for name, kind, ms in shown], class_="legend"),
        class_="spent",
    )


def _bar(shown: Sequence[tuple[str, str, float]], whole: float) -> Html:
    left, bars = 0.0, []
    for name, kind, ms in shown:
        width = ms / whole * _SCALE
        words = tag("title", f"{name}: {duration(ms)}")
        kinds, x = f"bar part {kind}", f"{left:.2f}"
        bars.append(tag("rect", words, class_=kinds, x=x, y=0, width=f"{width:.2f}", height=_HEIGHT))
        left += width
    box = f"0 0 {_SCALE:.0f} {_HEIGHT}"
    return tag("svg", bars, class_="lane parts", viewBox=box, preserveAspectRatio="none", aria_hidden="true")


def _term(name: str, kind: str, ms: float, whole: float) -> Html:
    share = f"{ms / whole:.0%}" if ms / whole >= 0.005 else "<1%"
    took = tag("b", duration(ms))
    return tag("li", tag("i", class_=f"swatch part {kind}"), f"{name} ", took, f" {share}")


def step_words(step: StepRecord) -> str:
    """ "settling 81 ms, acting 10 ms": one step, the longest part first."""
    parts = sorted(step_parts(step).items(), key=lambda one: -one[1])
    return ", ".join(f"{NAMES[part].lower()} {duration(ms)}" for part, ms in parts if ms >= _SHOWN_MS)
