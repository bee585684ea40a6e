"""Figures with their doubt: rates with intervals, k of k, paired tests. Pure; same data, same figures.

Episodes of one task are alike, so intervals of means draw whole tasks. Chance has one seed for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import comb, sqrt
from random import Random
from typing import Any

Z95 = 1.959963984540054
DRAWS = 2_000
FLIPS = 10_000
EXACT_FLIPS = 12
"""Up to so many tasks every way to flip them is tried; above it `FLIPS` ways at random."""
SEED = 20_260_101
Interval = tuple[float, float]
Cluster = tuple[float, int]
"""A task's sum and how many values are in it."""


def wilson(good: int, of: int) -> Interval | None:
    """Wilson's score interval of a rate, 95 %; as if all episodes were independent."""
    if of == 0:
        return None
    rate, z2 = good / of, Z95 * Z95
    middle = (rate + z2 / (2 * of)) / (1 + z2 / of)
    half = Z95 * sqrt(rate * (1 - rate) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return (max(0.0, middle - half), min(1.0, middle + half))


def pass_at(good: int, of: int, k: int) -> float:
    """The chance that at least one of k, drawn from these, is good."""
    return 1 - comb(of - good, k) / comb(of, k)


def pass_all(good: int, of: int, k: int) -> float:
    """The chance that all of k, drawn from these, are good."""
    return comb(good, k) / comb(of, k)


def clusters(values: Iterable[tuple[Hashable, float]]) -> list[Cluster]:
    """By task, in the order of their first value."""
    found: dict[Hashable, list[float]] = {}
    for key, value in values:
        found.setdefault(key, []).append(value)
    return [(sum(some), len(some)) for some in found.values()]


def mean(some: Sequence[Cluster]) -> float:
    """Of all values, whichever task they belong to."""
    return sum(total for total, _ in some) / sum(count for _, count in some)


def bootstrap(some: Sequence[Cluster]) -> Interval | None:
    """The mean's percentile interval, 95 %: tasks are drawn with replacement. None for fewer than two."""
    if len(some) < 2:
        return None
    random = Random(SEED)  # noqa: S311  (not for secrets)
    means = sorted(mean(random.choices(some, k=len(some))) for _ in range(DRAWS))
    return (means[round(0.025 * (DRAWS - 1))], means[round(0.975 * (DRAWS - 1))])


def shown_interval(figure: Mapping[str, Any]) -> Sequence[float] | None:
    """Where all tasks came out alike, drawing anew says nothing: then Wilson's, a task counting once."""
    drawn: Sequence[float] | None = figure["bootstrap95"]
    if drawn is None or drawn[0] != drawn[1] or figure["value"] not in (0, 1):
        return drawn
    return wilson(round(figure["value"] * figure["tasks"]), figure["tasks"])


def deviation(values: Sequence[float]) -> float | None:
    """The sample's standard deviation."""
    if len(values) < 2:
        return None
    middle = sum(values) / len(values)
    return sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))


def mcnemar(only_a: int, only_b: int) -> float:
    """Exact and two-sided, on the episodes that only one of two solved."""
    count = only_a + only_b
    tail = sum(comb(count, at) for at in range(min(only_a, only_b) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**count)))


def sign_flips(differences: Sequence[float]) -> float:
    """How often chance alone makes a mean difference of tasks at least as large: two-sided."""
    real = [difference for difference in differences if difference]
    if not real:
        return 1.0
    seen = abs(sum(real)) - 1e-12
    if len(real) <= EXACT_FLIPS:
        ways = list(product((1, -1), repeat=len(real)))
        return sum(abs(_flipped(real, signs)) >= seen for signs in ways) / len(ways)
    random = Random(SEED)  # noqa: S311
    hits = sum(abs(_flipped(real, random.choices((1, -1), k=len(real)))) >= seen for _ in range(FLIPS))
    return (hits + 1) / (FLIPS + 1)


def _flipped(values: Sequence[float], signs: Sequence[int]) -> float:
    return sum(value * sign for value, sign in zip(values, signs, strict=True))


def rounded(interval: Sequence[float] | None) -> list[float] | None:
    """As it is written down."""
    return None if interval is None else [round(one, 4) for one in interval]


def of_cells(
    cells: Mapping[tuple[str, int], Sequence[bool]], how: Callable[[int, int], float]
) -> list[Cluster]:
    """A figure of every task and seed, in clusters of tasks."""
    return clusters((task, how(sum(some), len(some))) for (task, _), some in cells.items())
