"""Notices a run that goes round in circles: the same act without effect, or the same screens again and again.

Acts are texts, and screens are numbers: screens between which only clocks and the like differ have the same
number. The model is told once; if it goes on, it is stuck.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from handrail.engine.look.looks import Look
from handrail.tree.node import Screen

REPEATS = 2
"""The same act on the same screen without any effect, before the model is told."""
PATIENT_REPEATS = 5
"""The same for acts that only wait: something may still come."""
LONGEST_ROUND = 4
"""Steps of a cycle: A-B-A-B has rounds of two."""
ROUNDS = 2
"""Equal rounds, acts included, before the model is told."""
LOOSE_ROUNDS = 3
"""Rounds of the same screens with other acts on them."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One act, and the screen on which it was done."""

    place: int
    act: str
    waits: bool = False


class StuckGuard:
    """The trail of one run."""

    def __init__(self) -> None:
        self._trail: list[Moment] = []
        self._told: frozenset[tuple[int, str]] = frozenset()
        self._told_screens = False

    def note(self, moment: Moment) -> None:
        """It was done."""
        self._trail.append(moment)
        del self._trail[: -2 * LONGEST_ROUND * LOOSE_ROUNDS]

    def warning(self, place: int) -> str:
        """What the model should be told before it chooses its next act here; '' for nothing."""
        if count := self._repeats(place):
            last = self._trail[-1]
            self._told |= {(last.place, last.act)}
            return f"You did the same {count} times and the screen did not change. Do something else."
        if length := self._round(place):
            self._told |= {(one.place, one.act) for one in self._trail[-length:]}
            return (
                f"Your last {length * ROUNDS} steps went round in a circle of {length} and ended where they "
                "began. Try another way, or finish and say why it can't be done."
            )
        if length := self._loose_round(place, LOOSE_ROUNDS):
            self._told_screens = True
            return (
                f"The same {length} screens came {LOOSE_ROUNDS} times in turn. "
                "Try another way, or finish and say why it can't be done."
            )
        return ""

    def stuck(self, moment: Moment) -> str:
        """Why this act must not be done any more: the model was told, and goes on; '' when it may."""
        if (moment.place, moment.act) in self._told:
            if self._repeats(moment.place) and self._trail[-1].act == moment.act:
                return "the same act again on a screen that does not change"
            if self._continues_round(moment):
                return "the same round of steps again"
        if self._told_screens and self._loose_round(moment.place, LOOSE_ROUNDS + 1):
            return "the same screens again"
        return ""

    def forget(self) -> None:
        """A person has spoken: a new start."""
        self._trail.clear()
        self._told = frozenset()
        self._told_screens = False

    def _repeats(self, place: int) -> int:
        """How often the last act was done here without effect; 0 when that is not yet too often."""
        if not self._trail:
            return 0
        last = self._trail[-1]
        count = 0
        for one in reversed(self._trail):
            if one != last or one.place != place:
                break
            count += 1
        return count if count >= (PATIENT_REPEATS if last.waits else REPEATS) else 0

    def _round(self, place: int) -> int:
        """The length of the round that was walked twice and ends where it began."""
        for length in range(2, LONGEST_ROUND + 1):
            steps = self._trail[-length * ROUNDS :]
            if len(steps) < length * ROUNDS or steps[0].place != place:
                continue
            if steps[:length] == steps[length:] and len(set(steps)) > 1:
                return length
        return 0

    def _continues_round(self, moment: Moment) -> bool:
        length = self._round(moment.place)
        return bool(length) and self._trail[-length] == moment

    def _loose_round(self, place: int, rounds: int) -> int:
        """The same by the screens alone."""
        places = self._places(place)
        for length in range(2, LONGEST_ROUND + 1):
            walked = places[-length * rounds - 1 : -1]
            if len(walked) < length * rounds or walked[0] != place:
                continue
            first = walked[:length]
            if walked == first * rounds and len(set(first)) > 1:
                return length
        return 0

    def _places(self, place: int) -> tuple[int, ...]:
        return (*(one.place for one in self._trail), place)


KEPT = 24
"""Screens that are remembered: a guard that looks for rounds needs no more."""

Same = Callable[[Screen, Screen], bool]


class ScreenNumbers:
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
