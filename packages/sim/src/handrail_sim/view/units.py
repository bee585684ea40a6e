"""From dp, sp and words to px and fractions. Knows the screen's density, no views."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from handrail_sim.view.view import Edges, Rect


@dataclass(frozen=True, slots=True)
class Units:
    """px per dp and per sp."""

    dp: float
    sp: float

    def px(self, dp: float) -> int:
        return int(dp * self.dp + 0.5)


@lru_cache(maxsize=1024)
def edges(value: Edges, dp: float) -> tuple[int, int, int, int]:
    if not isinstance(value, tuple):
        side = int(value * dp + 0.5)
        return side, side, side, side
    sides = value * 2 if len(value) == 2 else value
    left, top, right, bottom = (int(side * dp + 0.5) for side in sides)
    return left, top, right, bottom


HORIZONTAL = {"start": 0.0, "left": 0.0, "end": 1.0, "right": 1.0, "center_h": 0.5}
VERTICAL = {"top": 0.0, "bottom": 1.0, "center_v": 0.5}


@lru_cache(maxsize=256)
def gravity(words: str) -> tuple[float | None, float | None]:
    """Fractions across and down; None where the words say nothing. "center" fills what is left open."""
    across: float | None = None
    down: float | None = None
    for word in words.split():
        across = HORIZONTAL.get(word, across)
        down = VERTICAL.get(word, down)
    if "center" in words.split():
        across = 0.5 if across is None else across
        down = 0.5 if down is None else down
    return across, down


def intersect(pair: Rect, other: Rect) -> Rect:
    """What two rectangles share; empty ones have no width or no height."""
    return (
        pair[0] if pair[0] > other[0] else other[0],
        pair[1] if pair[1] > other[1] else other[1],
        pair[2] if pair[2] < other[2] else other[2],
        pair[3] if pair[3] < other[3] else other[3],
    )


def contains(rect: Rect, x: float, y: float) -> bool:
    """Left and top edges belong to it, right and bottom do not."""
    return rect[0] <= x < rect[2] and rect[1] <= y < rect[3]
