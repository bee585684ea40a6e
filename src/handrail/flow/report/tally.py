"""What a run comes to: attempts of the same flow, counts, the steps to look at first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from handrail.flow.records import FlowRecord, Outcome, StepRecord

BAD: frozenset[Outcome] = frozenset({"failed", "stopped"})
NOTABLE: frozenset[Outcome] = BAD | {"warned"}
WORST_FIRST: tuple[Outcome, ...] = ("failed", "stopped", "warned", "skipped", "passed")


def attempts(records: Sequence[FlowRecord]) -> list[list[FlowRecord]]:
    """Records of the same flow on the same device, in order; the last one counts."""
    runs: dict[tuple[str, str, str], list[FlowRecord]] = {}
    for record in records:
        runs.setdefault((record.file, record.name, record.device), []).append(record)
    return list(runs.values())


def finals(records: Sequence[FlowRecord]) -> list[FlowRecord]:
    """What each flow came to in the end."""
    return [run[-1] for run in attempts(records)]


def counts(records: Sequence[FlowRecord]) -> dict[Outcome, int]:
    """Of the final attempts, the worst first; outcomes that nothing had are left out."""
    found = Counter(record.outcome for record in finals(records))
    return {outcome: found[outcome] for outcome in WORST_FIRST if found[outcome]}


def overall(records: Sequence[FlowRecord]) -> Outcome:
    """The outcome of the whole run; skipped flows alone are no success and no failure."""
    return next(iter(counts(records)), "skipped") if records else "skipped"


def verdict(records: Sequence[FlowRecord]) -> str:
    """The run in one sentence: "1 of 3 flows failed"."""
    found, total = counts(records), len(finals(records))
    if not total:
        return "No flow was run"
    flows = "flow" if total == 1 else "flows"
    for outcome in ("failed", "stopped"):
        if found.get(outcome):
            verb = "was stopped" if outcome == "stopped" and found[outcome] == 1 else outcome
            return f"{found[outcome]} of {total} {flows} {verb}"
    if found.get("skipped") == total:
        return f"{total} {flows} skipped"
    passed = total - found.get("skipped", 0)
    return f"All {passed} flows passed" if passed > 1 else "The flow passed"


def walk(steps: Sequence[StepRecord]) -> Iterator[StepRecord]:
    """Every step, its inner ones after it."""
    for step in steps:
        yield step
        yield from walk(step.children)


def culprits(steps: Sequence[StepRecord], outcomes: frozenset[Outcome] = BAD) -> Iterator[StepRecord]:
    """The innermost steps that went wrong: what holds them only failed because of them."""
    for step in steps:
        if step.outcome in outcomes:
            inner = list(culprits(step.children, outcomes))
            yield from inner or [step]


def blamed(steps: Sequence[StepRecord], outcomes: frozenset[Outcome] = BAD) -> StepRecord | None:
    """The step that explains the outcome; on several devices, one that failed before those it stopped."""
    return min(culprits(steps, outcomes), key=lambda step: WORST_FIRST.index(step.outcome), default=None)


def is_quiet(steps: Sequence[StepRecord]) -> bool:
    """Nothing in here needs a look."""
    return not any(step.outcome in NOTABLE for step in walk(steps))


def number(step: StepRecord) -> str:
    """As people count: "3" or "3.1"."""
    return ".".join(str(index + 1) for index in step.path)
