"""A run in a few lines for a terminal: what failed, where in the file, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handrail.flow.records import FlowRecord, StepRecord
from handrail.flow.report.markup import visible
from handrail.flow.report.table import WORDS, about_repair, complaint, place, short
from handrail.flow.report.tally import BAD, NOTABLE, attempts, blamed, counts, culprits, number, verdict
from handrail.flow.report.times import duration
from handrail.tree.quote import clean


def summary(records: Sequence[FlowRecord]) -> str:
    """Plain text without colours. Passed flows are only counted."""
    lines: list[str] = []
    for run in attempts(records):
        lines += _flow(run)
    return "\n".join([*lines, *([""] if lines else []), _last_line(records)])


def _last_line(records: Sequence[FlowRecord]) -> str:
    total = duration(sum(record.duration_ms for record in records))
    found = ", ".join(f"{count} {outcome}" for outcome, count in counts(records).items())
    return f"{verdict(records)} in {total}" + (f" ({found})." if found else ".")


def _flow(run: Sequence[FlowRecord]) -> Iterator[str]:
    last = run[-1]
    troubled = list(culprits(last.steps, NOTABLE))
    unplayed = last.outcome == "skipped" and last.error
    if last.outcome in BAD or troubled or last.proposals or unplayed:
        yield f"{WORDS[last.outcome]:<8}{short(last.name)}  {last.file}  {_after(run)}"
    elif len(run) > 1:
        yield f"{'flaky':<8}{short(last.name)}  {last.file}  {_after(run)}"
    if last.error and blamed(last.steps) is None:
        yield f"        {clean(last.error)}"
    for step in troubled:
        yield from _step(last, step)
    for proposal in last.proposals:
        yield f"        {about_repair(last)}:"
        yield from (f"        {visible(line)}" for line in proposal.splitlines())


def _step(record: FlowRecord, step: StepRecord) -> Iterator[str]:
    yield f"  step {number(step)}  {short(step.label)}  ({place(record, step)})"
    yield f"        {clean(complaint(step))}"
    if step.hint:
        yield f"        Hint: {clean(step.hint)}"


def _after(run: Sequence[FlowRecord]) -> str:
    took = duration(sum(record.duration_ms for record in run))
    return f"({took}, {len(run)} attempts)" if len(run) > 1 else f"({took})"
