"""Numbers for screens: the same number for screens between which only clocks and the like differ."""

from __future__ import annotations

from collections.abc import Callable

from handrail.engine.look.looks import Look
from handrail.tree.node import Screen

KEPT = 24
"""Screens that are remembered: a guard that looks for rounds needs no more."""

Same = Callable[[Screen, Screen], bool]


class Places:
    """Every screen that a run has been on lately."""

    def __init__(self, same: Same) -> None:
        self._same = same
        self._known: list[tuple[int, Look]] = []
        self._next = 0

    def of(self, seen: Look) -> int:
        """Its number. Fingerprints are compared first: they cost nothing and nearly always decide."""
        for at, (number, other) in enumerate(reversed(self._known)):
            if other.fingerprint == seen.fingerprint and self._same(other.screen, seen.screen):
                index = len(self._known) - 1 - at
                self._known.append(self._known.pop(index))
                return number
        self._next += 1
        self._known.append((self._next, seen))
        del self._known[:-KEPT]
        return self._next
