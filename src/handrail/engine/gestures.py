"""Where fingers go: the geometry of swipes over an element or the screen. Pure."""

from __future__ import annotations

from typing import Literal

from handrail.tree.node import Bounds

Direction = Literal["up", "down", "left", "right"]
Way = tuple[int, int, int, int]
"""From x, y to x, y."""

SHARE = 0.6
"""Of the element's or screen's size, centred (seed 003)."""
OPPOSITE: dict[Direction, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}


def way(
    direction: Direction, box: Bounds, share: float = SHARE, lane: float = 0.5, shift: float = 0.0
) -> Way:
    """A finger's way inside a box, in the finger's own direction.

    `lane` is where it runs across the box; `shift` moves it back towards where the finger comes from.
    """
    forward = 1 if direction in ("right", "down") else -1
    start, end = (0.5 - forward * (share / 2 + shift), 0.5 + forward * (share / 2 - shift))
    if is_sideways(direction):
        y = box.top + round(box.height * lane)
        return box.left + round(box.width * start), y, box.left + round(box.width * end), y
    x = box.left + round(box.width * lane)
    return x, box.top + round(box.height * start), x, box.top + round(box.height * end)


def is_sideways(direction: Direction) -> bool:
    """Along the x axis."""
    return direction in ("left", "right")
