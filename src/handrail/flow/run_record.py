"""What a run of a flow leaves behind, for the trace, the reports and the terminal. Values only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

from handrail.errors import ERRORS
from handrail.film.scene import Picture
from handrail.flow.time_spent import Stretch, TimePart, TimeSpent
from handrail.protocol.envelope import Envelope
from handrail.protocol.flow import FlowTrace
from handrail.tree.node import Bounds

__all__ = ["FlowRecord", "Observer", "Outcome", "Picture", "StepRecord"]

Outcome = Literal["passed", "failed", "skipped", "warned", "stopped"]
"""`warned`: an optional step that failed. `stopped`: interrupted by a person."""


@dataclass(slots=True)
class StepRecord:
    """One step as it went. `path` is its place: (2,) the third step, (2, 0) the first one inside it."""

    path: tuple[int, ...]
    label: str
    given: Mapping[str, Any]
    """The step as it stands in the file, variables filled in, secrets not."""
    device: str
    started_ms: int
    line: int | None = None
    outcome: Outcome = "passed"
    duration_ms: float = 0.0
    tries: int = 1
    envelope: Envelope | None = None
    """Of the last try; None for steps that only hold others."""
    error: str | None = None
    code: str | None = None
    hint: str | None = None
    diff: str = ""
    """What changed on the screen, as text."""
    touched: Bounds | None = None
    """The element that was touched, on the picture before."""
    before: Picture | None = None
    after: Picture | None = None
    log: list[str] = field(default_factory=list)
    """The device's log, after a failure."""
    loading: str | None = None
    spent: TimeSpent = field(default_factory=dict)
    """Where its own time went; steps inside it keep their own account."""
    rest: TimePart = "engine"
    """What the time is that nothing of this accounts for."""
    children: list[StepRecord] = field(default_factory=list)


@dataclass(slots=True)
class FlowRecord:
    """One run of one flow on one device (or several, for parallel steps)."""

    name: str
    file: str
    tags: tuple[str, ...]
    device: str
    """Serial and model, for people."""
    started_ms: int
    duration_ms: float = 0.0
    outcome: Outcome = "passed"
    steps: list[StepRecord] = field(default_factory=list)
    trace: FlowTrace | None = None
    traces: dict[str, FlowTrace] = field(default_factory=dict)
    """One per device name, where the flow has parallel steps."""
    error: str | None = None
    journal_head: str = ""
    attempt: int = 1
    proposals: list[str] = field(default_factory=list)
    """Edits of the file that would heal it, as unified diffs."""
    stretches: list[Stretch] = field(default_factory=list)
    """What took time beside the steps."""
    video: str = ""
    """The file of its film, as the report links to it."""

    def or_raise(self) -> Self:
        """Itself when it passed; otherwise raises the error of the step that it ended with."""
        __tracebackhide__ = True
        if self.outcome in ("passed", "skipped", "warned"):
            return self
        blamed = next((step for step in _deepest(self.steps) if step.outcome == "failed"), None)
        code = "CANCELLED" if self.outcome == "stopped" else (blamed and blamed.code) or "UNKNOWN"
        error = ERRORS[code](f"{self.name}: {self.error}", hint=blamed.hint if blamed else None)
        error.envelope = blamed.envelope if blamed else None
        error.add_note(error.hint)
        raise error


def _deepest(steps: Sequence[StepRecord]) -> Iterator[StepRecord]:
    """What failed is told by the step itself before those that hold it."""
    for step in steps:
        yield from _deepest(step.children)
        yield step


class Observer(Protocol):
    """Somebody who watches a run: a terminal, a report, the desk."""

    def flow_started(self, record: FlowRecord, total: int) -> None: ...

    def step_started(self, record: StepRecord) -> None: ...

    def step_ended(self, record: StepRecord) -> None: ...

    def flow_ended(self, record: FlowRecord) -> None: ...
