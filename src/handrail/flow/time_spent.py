"""Where the time of a flow goes: its app's start, looks, touches, waits, approvals, pictures for the report.

Everything is measured where it happens. The engine's phases never overlap, so parts can be added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from handrail.clock import Clock
from handrail.protocol.envelope import Envelope

if TYPE_CHECKING:
    from handrail.engine.session import Session
    from handrail.protocol.actions import AnyAction

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
    "work": "acting",
    "dispatch": "acting",
    "settle": "settling",
    "waiting": "settling",
    "journal": "journal",
}
"""By the engine's name of a phase; every other one is its own work."""


@dataclass(frozen=True, slots=True)
class Stretch:
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
        """What most of it was."""
        return max(self.spent, key=lambda one: self.spent[one], default="engine")


def add(spent: TimeSpent, more: Mapping[TimePart, float]) -> None:
    """Account for more."""
    for part, ms in more.items():
        spent[part] = spent.get(part, 0.0) + ms


def parts_of(envelope: Envelope, took_ms: float) -> TimeSpent:
    """One action as its caller saw it: the phases of its envelope, and the journal's entry of its end."""
    timings = dict(envelope.timings_ms or {})
    total = timings.pop("total", sum(timings.values()))
    spent: TimeSpent = {}
    if "expect" in timings:  # what it slept meanwhile was for that
        add(spent, {"waiting": timings.pop("waiting", 0.0)})
    for phase, ms in timings.items():
        add(spent, {PHASES.get(phase, "engine"): ms})
    add(spent, {"journal": max(0.0, took_ms - total)})
    return spent


@dataclass(slots=True)
class TimeBook:
    """The account of one run."""

    clock: Clock
    stretches: list[Stretch] = field(default_factory=list)

    @contextmanager
    def stretch(
        self, part: TimePart, words: str, device: str = "", path: tuple[int, ...] = ()
    ) -> Iterator[TimeSpent]:
        """What happens inside. Whoever knows that some of it was something else writes that down."""
        started, began = self.clock.now_ms(), self.clock.monotonic_ms()
        spent: TimeSpent = {}
        try:
            yield spent
        finally:
            took = self.clock.monotonic_ms() - began
            add(spent, {part: max(0.0, took - sum(spent.values()))})
            self.stretches.append(Stretch(words, started, round(took, 1), spent, device, path))

    async def run(self, session: Session, action: AnyAction, spent: TimeSpent, **how: Any) -> Envelope:
        """One action, its parts added to what was spent."""
        began = self.clock.monotonic_ms()
        envelope = await session.run(action, **how)
        add(spent, parts_of(envelope, self.clock.monotonic_ms() - began))
        return envelope
