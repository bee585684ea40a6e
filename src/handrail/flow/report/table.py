"""The steps of a flow as lines of plain text, for JUnit and terminals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from handrail.flow.records import FlowRecord, Outcome, StepRecord
from handrail.flow.report.tally import number
from handrail.flow.report.times import duration
from handrail.tree.quote import clean, cut

WORDS: dict[Outcome, str] = {
    "passed": "ok",
    "failed": "FAILED",
    "skipped": "skipped",
    "warned": "warning",
    "stopped": "stopped",
}
_LABEL = 60
"""Characters of a label in a table; a label can be what somebody typed."""


def step_table(steps: Sequence[StepRecord]) -> str:
    """One line per step, inner ones indented."""
    return "\n".join(_lines(steps, 0))


def place(record: FlowRecord, step: StepRecord) -> str:
    """ "checkout.yaml:14", as editors and terminals can open it."""
    file = _file_of(record, step)
    return file if step.line is None else f"{file}:{step.line}"


def _file_of(record: FlowRecord, step: StepRecord) -> str:
    """Steps that `run_flow` brought in stand in another file, named relative to the one that names it."""
    file, steps = record.file, record.steps
    for depth in range(1, len(step.path)):
        holder = next((one for one in steps if one.path == step.path[:depth]), None)
        if holder is None:
            break
        named = holder.given.get("run_flow")
        inner = named.get("file") if isinstance(named, Mapping) else named
        file = str(PurePath(file).parent / inner) if isinstance(inner, str) else file
        steps = holder.children
    return file


def complaint(step: StepRecord) -> str:
    """What went wrong, with its code in front."""
    said = step.error or (step.envelope.message if step.envelope else None) or f"the step {step.outcome}"
    return f"{step.code}: {said}" if step.code and not said.startswith(step.code) else said


def about_repair(record: FlowRecord) -> str:
    """What an edit of the file beside a run means."""
    return "The file was mended" if record.outcome == "passed" else "A repair of the file is proposed"


def short(label: str) -> str:
    """A label on one line, not longer than a table bears."""
    return cut(clean(label), _LABEL)


def _lines(steps: Sequence[StepRecord], depth: int) -> Iterator[str]:
    for step in steps:
        head = f"{WORDS[step.outcome]:<8}{'  ' * depth}{number(step):<4} {short(step.label)}"
        notes = [duration(step.duration_ms), *_notes(step)]
        yield f"{head}  ({', '.join(notes)})"
        yield from _lines(step.children, depth + 1)


def _notes(step: StepRecord) -> Iterator[str]:
    if step.tries > 1:
        yield f"{step.tries} tries"
    if step.code:
        yield step.code
