"""Where fingers go, and which elements an action touches: named, under a finger, or focused. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from handrail.protocol.actions import AnyAction
from handrail.protocol.device import Pinch, Rotate, Swipe
from handrail.protocol.traits import Pressed
from handrail.tree.node import Bounds, Node, Screen
from handrail.tree.reach import element_at, visible_part

Way = tuple[int, int, int, int]
"""From x, y to x, y."""


def needs_fresh_screen(action: AnyAction) -> bool:
    """Whether only a fresh screen can tell what it would press."""
    return action.presses in (Pressed.PATH, Pressed.FOCUS)


def touched(action: AnyAction, screen: Screen, named: Sequence[Node]) -> list[Node]:
    """Every element that the action names, or that a finger or a key of it comes down on."""
    found = [*named]
    if action.presses is Pressed.FOCUS and not named:
        found += [node for node in screen.nodes if node.focused][-1:]
    if action.presses is Pressed.PATH:
        places = _fingers(action, screen, named[0] if named else None)
        found += [node for x, y in places if (node := element_at(screen, x, y)) is not None]
    return list(dict.fromkeys(found))


def _fingers(action: AnyAction, screen: Screen, named: Node | None) -> list[tuple[int, int]]:
    match action:
        case Swipe(from_=start) if start is not None:
            return [(start.x, start.y)]
        case Swipe(direction=direction) if direction is not None:
            box = visible_part(screen, named) if named is not None else screen.bounds
            return [way(direction, box)[:2]]
        case Pinch():
            return [
                (action.cx - action.start_radius, action.cy),
                (action.cx + action.start_radius, action.cy),
            ]
        case Rotate():
            return _pair(action)
    return []


def _pair(action: Rotate) -> list[tuple[int, int]]:
    turned = math.radians(action.start_angle_deg)
    dx, dy = round(action.radius * math.cos(turned)), round(action.radius * math.sin(turned))
    return [(action.cx + dx, action.cy + dy), (action.cx - dx, action.cy - dy)]


Direction = Literal["up", "down", "left", "right"]

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
