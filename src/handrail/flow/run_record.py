"""What a run of a flow leaves for the trace, the reports and the terminal, and where its time went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from handrail.errors import ERRORS
from handrail.film.scene import Picture
from handrail.protocol.envelope import Envelope
from handrail.protocol.flow import FlowTrace
from handrail.screen.node import Bounds

if TYPE_CHECKING:
    from handrail.clock import Clock
    from handrail.engine.session import Session
    from handrail.protocol.actions import AnyAction

__all__ = ["FlowRecord", "Observer", "Outcome", "Picture", "StepRecord"]

Outcome = Literal["passed", "failed", "skipped", "warned", "stopped"]
"""`warned`: an optional step that failed. `stopped`: interrupted by a person."""


@dataclass(slots=True)
class StepRecord:
    """One step as it went. `path` is its place: (2,) the third step, (2, 0) the first one inside it."""

    path: tuple[int, ...]
    label: str
    source: Mapping[str, Any]
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

    @property
    def number(self) -> str:
        """Counts as people do: 3.1 is the first step inside the third."""
        return ".".join(str(index + 1) for index in self.path)

    @property
    def typed_text(self) -> str | None:
        """What was typed, variables filled in and secrets not."""
        action = self.source.get("type_text")
        text = action.get("text") if isinstance(action, Mapping) else action
        return text if isinstance(text, str) else None

    @property
    def words(self) -> str:
        """Adds what was typed to the label."""
        return f"{self.label} “{self.typed_text}”" if self.typed_text else self.label


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
    repairs: Any = None
    """The `Repairs` of this run, for whoever offers the healed file; they do not travel."""
    stretches: list[TimeStretch] = field(default_factory=list)
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
    """The innermost failed step: it explains the failure better than the steps around it."""
    for step in steps:
        yield from _deepest(step.children)
        yield step


class Observer:
    """Is told of each step of a run: a terminal, the desk. This one does nothing about it."""

    def flow_started(self, record: FlowRecord, total: int) -> None: ...

    def step_started(self, record: StepRecord) -> None: ...

    def step_ended(self, record: StepRecord) -> None: ...

    def flow_ended(self, record: FlowRecord) -> None: ...


TimePart = Literal[
    "launch", "looking", "acting", "settling", "waiting", "approval", "retry", "evidence", "journal", "engine"
]
"""waiting: for what a step waits for or expects, or for a turn. settling: until the screen rests after an
action. retry: pauses between tries. evidence: pictures and logs for the report. engine: our own work.
"""
PARTS: tuple[TimePart, ...] = get_args(TimePart)
TimeSpent = dict[TimePart, float]
"""Milliseconds."""
PHASES: dict[str, TimePart] = {
    "queue": "waiting",
    "watch": "waiting",
    "expect": "waiting",
    "approval": "approval",
    "resolve": "looking",
    "look": "looking",
    "verify": "looking",
    "picture": "evidence",
    "work": "acting",
    "dispatch": "acting",
    "settle": "settling",
    "waiting": "settling",
    "journal": "journal",
}
"""By the engine's name of a phase; every other one is its own work."""


@dataclass(frozen=True, slots=True)
class TimeStretch:
    """A stretch of a flow's time that belongs to no step, or stands beside one."""

    words: str
    started_ms: int
    duration_ms: float
    spent: TimeSpent
    device: str = ""
    path: tuple[int, ...] = ()
    """The step beside which it stands; () where there is none."""

    @property
    def part(self) -> TimePart:
        return max(self.spent, key=lambda phase: self.spent[phase], default="engine")


def add_times(spent: TimeSpent, more: Mapping[TimePart, float]) -> None:
    for part, ms in more.items():
        spent[part] = spent.get(part, 0.0) + ms


def time_parts_of(envelope: Envelope, took_ms: float) -> TimeSpent:
    """One action as its caller saw it: the phases of its envelope, and the journal's entry of its end."""
    timings = dict(envelope.timings_ms or {})
    total = timings.pop("total", sum(timings.values()))
    spent: TimeSpent = {}
    if "expect" in timings:  # what it slept meanwhile was for that
        add_times(spent, {"waiting": timings.pop("waiting", 0.0)})
    for phase, ms in timings.items():
        add_times(spent, {PHASES.get(phase, "engine"): ms})
    add_times(spent, {"journal": max(0.0, took_ms - total)})
    return spent


@dataclass(slots=True)
class TimeBook:
    """The account of one run."""

    clock: Clock
    stretches: list[TimeStretch] = field(default_factory=list)

    @contextmanager
    def stretch(
        self, part: TimePart, words: str, device: str = "", path: tuple[int, ...] = ()
    ) -> Iterator[TimeSpent]:
        """Measures the block as time of this part. The block may write down that some belongs to others."""
        started, began = self.clock.now_ms(), self.clock.monotonic_ms()
        spent: TimeSpent = {}
        try:
            yield spent
        finally:
            took = self.clock.monotonic_ms() - began
            add_times(spent, {part: max(0.0, took - sum(spent.values()))})
            self.stretches.append(TimeStretch(words, started, round(took, 1), spent, device, path))

    async def run(self, session: Session, action: AnyAction, spent: TimeSpent, **how: Any) -> Envelope:
        began = self.clock.monotonic_ms()
        envelope = await session.run(action, **how)
        add_times(spent, time_parts_of(envelope, self.clock.monotonic_ms() - began))
        return envelope
