"""What came of an evaluation: one value per task, sums over all and over every tag, as data for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One run of one task."""

    id: str
    title: str
    success: bool
    """The model said that it is finished, and every condition of the check holds."""
    reached: bool
    """The phone is as it should be, whatever the model said: what chance could do shows here."""
    steps: int
    tokens: int
    cost_usd: float | None
    ms: float
    ended: str
    why: str
    tags: tuple[str, ...]
    answer: str = ""
    report: str | None = None
    seed: int = 1
    optimal: int = 0
    """The steps of the shorter reference."""
    asked: int = 0
    """How often the person was asked."""
    attacked: bool | None = None
    """Whether the adversary won; None where there is none."""
    kind: str = "possible"
    difficulty: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ms": round(self.ms, 1), "tags": list(self.tags)}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All results of one command, in the order of the tasks."""

    model: str
    seed: int
    wanted: int
    """How many tasks there were to run."""
    results: tuple[TaskResult, ...]
    ms: float
    jobs: int = 1

    @property
    def percent(self) -> float:
        """Of all tasks that were wanted: what was not run is not solved."""
        return 100 * sum(one.success for one in self.results) / self.wanted if self.wanted else 0.0

    @property
    def complete(self) -> bool:
        return len(self.results) == self.wanted

    def tags(self) -> dict[str, Sequence[TaskResult]]:
        """The results of every tag; one with two tags counts in both."""
        names = dict.fromkeys(tag for one in self.results for tag in one.tags)
        return {name: [one for one in self.results if name in one.tags] for name in sorted(names)}

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "seed": self.seed,
            "tasks": [one.to_dict() for one in self.results],
            "summary": {
                **sums(self.results),
                "wanted": self.wanted,
                "complete": self.complete,
                "percent": round(self.percent, 1),
                "wall_ms": round(self.ms, 1),
                "jobs": self.jobs,
                "tags": {name: sums(some) for name, some in self.tags().items()},
            },
        }


def sums(results: Sequence[TaskResult]) -> dict[str, Any]:
    """Totals of some results; the cost is that of the runs whose price is known."""
    costs = [one.cost_usd for one in results if one.cost_usd is not None]
    return {
        "tasks": len(results),
        "success": sum(one.success for one in results),
        "reached": sum(one.reached for one in results),
        "steps": sum(one.steps for one in results),
        "tokens": sum(one.tokens for one in results),
        "cost_usd": round(sum(costs), 6) if costs else None,
        "median_ms": round(median(one.ms for one in results), 1) if results else 0.0,
    }
