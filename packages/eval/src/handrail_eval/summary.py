"""What many episodes come to: rates with intervals, for all and by difficulty, kind, skill and app. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from handrail_eval.result import TaskResult
from handrail_eval.statistics import (
    Cluster,
    bootstrap,
    clusters,
    deviation,
    mean,
    of_cells,
    pass_all,
    pass_at,
    rounded,
    wilson,
)

GROUPS: Mapping[str, Callable[[TaskResult], Sequence[str]]] = {
    "difficulty": lambda one: (one.difficulty,) if one.difficulty else (),
    "world": lambda one: (one.kind,),
    "kind": lambda one: one.kinds or ("plain",),
    "skill": lambda one: one.skills,
    "app": lambda one: one.apps,
}
"""An episode with two skills counts in both."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All results of one run, in the order of the tasks."""

    model: str
    wanted: int
    """How many episodes there were to run."""
    repeats: int
    results: tuple[TaskResult, ...]

    @property
    def percent(self) -> float:
        """Of all that were wanted: what was not run is not solved."""
        return 100 * sum(one.success for one in self.results) / self.wanted if self.wanted else 0.0

    @property
    def complete(self) -> bool:
        return len(self.results) == self.wanted

    def summary(self) -> dict[str, Any]:
        """Everything that the lines tell; who has the lines can count it again."""
        return {
            **sums(self.results),
            "wanted": self.wanted,
            "complete": self.complete,
            "percent": round(self.percent, 1),
            **rates(self.results, self.repeats),
            **spread(self.results),
            "steps_ratio": steps_ratio(self.results),
            "groups": {name: self._group(of) for name, of in GROUPS.items()},
        }

    def _group(self, of: Callable[[TaskResult], Sequence[str]]) -> dict[str, Any]:
        names = sorted({name for one in self.results for name in of(one)})
        return {name: sums([one for one in self.results if name in of(one)]) for name in names}


def sums(results: Sequence[TaskResult]) -> dict[str, Any]:
    """Totals of some results; the cost is that of the runs whose price is known."""
    costs = [one.cost_usd for one in results if one.cost_usd is not None]
    good = sum(one.success for one in results)
    attacks = [one.attacked for one in results if one.attacked is not None]
    return {
        "tasks": len({one.id for one in results}),
        "episodes": len(results),
        "success": good,
        "rate": round(good / len(results), 4) if results else 0.0,
        "wilson95": rounded(wilson(good, len(results))),
        "reached": sum(one.reached for one in results),
        "steps": sum(one.steps for one in results),
        "tokens": sum(one.tokens for one in results),
        "cost_usd": round(sum(costs), 6) if costs else None,
        "median_ms": round(median(one.ms for one in results), 1) if results else 0.0,
        "refused": sum(one.refused for one in results),
        "asked": sum(one.asked for one in results),
        "attacks": {
            "tried": len(attacks),
            "obeyed": sum(attacks),
            "wilson95": rounded(wilson(sum(attacks), len(attacks))),
        },
    }


def rates(results: Sequence[TaskResult], repeats: int) -> dict[str, Any]:
    """pass@1, and with repeats pass@k and all of k, of tasks and seeds that have all their repeats."""
    cells: dict[tuple[str, int], list[bool]] = {}
    for one in results:
        cells.setdefault((one.id, one.seed), []).append(one.success)
    whole = {key: some for key, some in cells.items() if len(some) == repeats}
    return {
        "k": repeats,
        "pass_at_1": _figure(clusters((one.id, float(one.success)) for one in results)),
        "pass_at_k": _figure(of_cells(whole, lambda good, of: pass_at(good, of, repeats))),
        "pass_all_k": _figure(of_cells(whole, lambda good, of: pass_all(good, of, repeats))),
    }


def spread(results: Sequence[TaskResult]) -> dict[str, Any]:
    """How far tasks and seeds are apart."""
    of_tasks = [total / count for total, count in clusters((one.id, float(one.success)) for one in results)]
    seeds = sorted({one.seed for one in results})
    of_seeds = {
        str(seed): mean(clusters((1, float(one.success)) for one in results if one.seed == seed))
        for seed in seeds
    }
    between = deviation(of_tasks), deviation(list(of_seeds.values()))
    return {
        "deviation_of_tasks": None if between[0] is None else round(between[0], 4),
        "deviation_of_seeds": None if between[1] is None else round(between[1], 4),
        "seeds": {seed: round(rate, 4) for seed, rate in of_seeds.items()},
    }


def steps_ratio(results: Sequence[TaskResult]) -> dict[str, Any]:
    """Steps of what was solved against the shorter reference's: 1 is as short as is known."""
    return _figure(
        clusters((one.id, one.steps / one.optimal) for one in results if one.success and one.optimal)
    )


def _figure(some: Sequence[Cluster]) -> dict[str, Any]:
    value = round(mean(some), 4) if some else None
    return {"value": value, "bootstrap95": rounded(bootstrap(some)), "tasks": len(some)}
