"""A slider on its way to a value: move, read back, correct. Its scale is learned while it moves.

One that tells no value is placed by geometry and not called verified.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from operator import itemgetter

from handrail.engine.look.conditions import Amount, amount, reading
from handrail.engine.look.resolve import follow
from handrail.engine.run import Outcome, Stage
from handrail.errors import ControlConvergenceFailed, SemanticMismatch
from handrail.protocol.device import SetValue
from handrail.protocol.envelope import Verification
from handrail.protocol.target import in_words
from handrail.tree.node import Bounds, Node
from handrail.tree.reach import tap_point, visible_part

MOVES = 8
SLIDE_MS = 300
SLOP_PX = 48
"""A finger that moves less may be taken for a tap, which a slider that must be dragged ignores."""
STEPPED = 2
"""Tries between two values that gave one of them again: the slider moves in steps."""
INSET = 0.25
"""Of the slider's thickness, at each end: toolkits let the thumb's centre begin 10 to 24 dp inside its 48."""
FINGER_PX = 2.0
"""No finger aims better: a value this near is there, and one between two places this near is not."""

Place = tuple[float, float]
"""Where the thumb was, and the value that was read there."""


@dataclass(frozen=True, slots=True)
class SliderTrack:
    """Where the thumb can go. `place` is 0 at the low end and 1 at the high end."""

    box: Bounds

    @property
    def upright(self) -> bool:
        return self.box.height > 2 * self.box.width

    @property
    def inset(self) -> float:
        return min(self.box.width, self.box.height) * INSET

    @property
    def length(self) -> float:
        return max(self.box.width, self.box.height) - 2 * self.inset

    @property
    def beyond(self) -> float:
        """How far past 0 and 1 the element itself reaches."""
        return (self.inset - 1) / self.length

    def point(self, place: float) -> tuple[int, int]:
        along = round(self.inset + place * self.length)
        centre = self.box.center
        return (centre.x, self.box.bottom - along) if self.upright else (self.box.left + along, centre.y)


class Slide:
    """One slider, one wish."""

    def __init__(self, stage: Stage, action: SetValue, node: Node) -> None:
        wanted = amount(str(action.value))
        if wanted is None:
            raise SemanticMismatch(
                f"A slider takes a number, not {in_words(action.value)}",
                hint="Give a number, such as 40 or 40%.",
            )
        self.stage = stage
        self.wanted = wanted
        self.tolerance = max(action.tolerance, 1e-9)
        self.most = action.max_moves or MOVES
        self.node = node
        self.seen = stage.before
        self.known: list[Place] = []
        tap_point(self.seen.screen, node, stage.looks.registry.ref_of)  # covered or disabled is said first

    async def run(self) -> Outcome:
        told = reading(self.seen.screen, self.node)
        if told is None or (self.wanted.percent and not told.percent):
            return await self._by_geometry()
        thumb = self._guess(told.value, told.percent)
        while not self._is_there(told):
            place = self._next(told.percent)
            if place is None or len(self.known) == self.most:
                raise self._stuck(told.value)
            await self._move(thumb, place)
            told = reading(self.seen.screen, self.node)
            if told is None:
                raise self._stuck(None)
            thumb = place
            self.known.append((place, told.value))
        verdict = Verification(
            mode="built_in", expected=self.wanted.value, observed=told.value, outcome="verified"
        )
        return Outcome(details={"moves": len(self.known)}, verification=verdict, settle="none")

    async def _by_geometry(self) -> Outcome:
        """Nothing tells the value in this unit, so nothing can verify it."""
        if not 0 <= self.wanted.value <= 100:
            raise SemanticMismatch(
                f"This slider does not tell its value, so it takes per cent, not {self.wanted.value:g}",
                hint="Give a number from 0 to 100.",
            )
        place = self._guess(self.wanted.value, True)
        await self._move(1 - place, place)
        return Outcome(details={"moves": 1, "placed_at_percent": self.wanted.value}, settle="none")

    def _is_there(self, told: Amount) -> bool:
        """Once it was moved, a continuous value need not be nearer than a finger can aim."""
        off = abs(told.value - self.wanted.value)
        aimed = bool(self.known) and off * abs(self._slope(told.percent)) * self.track.length <= FINGER_PX
        return off <= self.tolerance or aimed

    def _guess(self, value: float, percent: bool) -> float:
        """On a scale of a hundred, which is all that is known at first; its ends are the element's own."""
        if value <= 0:
            return -self.track.beyond
        if percent and value >= 100:
            return 1 + self.track.beyond
        return min(1.0, max(0.0, value / 100))

    @property
    def track(self) -> SliderTrack:
        return SliderTrack(visible_part(self.seen.screen, self.node))

    def _next(self, percent: bool) -> float | None:
        """Where the value should be by all that is known; None when there is no such place."""
        wanted = self.wanted.value
        if not self.known:
            return self._guess(wanted, percent)
        below = _best([one for one in self.known if one[1] < wanted], wanted)
        above = _best([one for one in self.known if one[1] > wanted], wanted)
        if below and above:
            return self._between(*min(product(below, above), key=_distance))
        slope = self._slope(percent)
        places = [place + (wanted - value) * slope for place, value in below or above]
        furthest = max if (slope > 0) == bool(below) else min
        return self._unless_tried(furthest(places))

    def _slope(self, percent: bool) -> float:
        """Places per unit: by the two values that are furthest apart, else by a scale that begins at 0."""
        low, high = (pick(self.known, key=itemgetter(1, 0)) for pick in (min, max))
        if low[1] != high[1]:
            return (high[0] - low[0]) / (high[1] - low[1])
        place, value = self.known[-1]
        return place / value if value > 0 and place > 0 and not percent else 0.01

    def _between(self, below: Place, above: Place) -> float | None:
        """By proportion, then in the middle; no further where two tries in between gave nothing new."""
        values = [value for _, value in self.known]
        tries = len(values) - 1 - max(values.index(below[1]), values.index(above[1]))
        if tries >= STEPPED or abs(above[0] - below[0]) * self.track.length <= FINGER_PX:
            return None
        share = (self.wanted.value - below[1]) / (above[1] - below[1])
        place = below[0] + share * (above[0] - below[0])
        return self._unless_tried(place) or (below[0] + above[0]) / 2

    def _unless_tried(self, place: float) -> float | None:
        beyond = self.track.beyond
        place = min(1 + beyond, max(-beyond, place))
        half_pixel = 0.5 / self.track.length
        return None if any(abs(place - tried) < half_pixel for tried, _ in self.known) else place

    async def _move(self, start: float, end: float) -> None:
        track, stage = self.track, self.stage
        if abs(end - start) * track.length < SLOP_PX:
            start = end - SLOP_PX / track.length if end > 0.5 else end + SLOP_PX / track.length
        await stage.hands.swipe(*track.point(start), *track.point(end), SLIDE_MS)
        settled = await stage.settle(self.seen)
        stage.run.settled = settled.report
        self.node = follow(stage.looks, self.seen.screen, settled.seen.screen, self.node) or self.node
        stage.run.after = self.seen = settled.seen

    def _stuck(self, value: float | None) -> ControlConvergenceFailed:
        tried = [value for _, value in self.known]
        return ControlConvergenceFailed(
            f"The slider would not take {self.wanted.value:g}; it stopped at "
            + (f"{value:g}" if value is not None else "a value that can't be read"),
            expected=self.wanted.value,
            observed=value,
            tried=tried,
        )


def _best(known: list[Place], wanted: float) -> list[Place]:
    """The places where the value came nearest."""
    nearest = min((abs(value - wanted) for _, value in known), default=0.0)
    return [one for one in known if abs(one[1] - wanted) == nearest]


def _distance(pair: tuple[Place, Place]) -> float:
    return abs(pair[0][0] - pair[1][0])
