"""What an action reaches without naming it: the element under a finger, or the focused one. Pure."""

from __future__ import annotations

import math
from typing import Literal

from handrail.protocol.actions import AnyAction
from handrail.protocol.device import Pinch, PressKey, Rotate, Swipe, TypeText
from handrail.protocol.keys import android_key
from handrail.tree.node import Bounds, Node, Screen
from handrail.tree.reach import element_at, visible_part

_CONFIRMING = frozenset(
    {"KEYCODE_ENTER", "KEYCODE_DPAD_CENTER", "KEYCODE_SPACE", "KEYCODE_NUMPAD_ENTER", "KEYCODE_BUTTON_A"}
)
"""Keys that press what has the focus."""
_CONFIRMING_CODES = frozenset({"66", "23", "62", "160", "96"})


def presses_unnamed(action: AnyAction) -> bool:
    """Whether only a fresh screen can tell what it would press."""
    return isinstance(action, Swipe | Pinch | Rotate) or _goes_to_focus(action)


def reached(action: AnyAction, screen: Screen, named: Node | None) -> list[Node]:
    """Elements besides the named ones that a finger or a key of this action comes down on."""
    if _goes_to_focus(action) and named is None:
        return [node for node in screen.nodes if node.focused][-1:]
    under = (element_at(screen, x, y) for x, y in _fingers(action, screen, named))
    return list(dict.fromkeys(node for node in under if node is not None))


def _goes_to_focus(action: AnyAction) -> bool:
    return isinstance(action, TypeText) or (isinstance(action, PressKey) and _confirms(action))


def _confirms(action: PressKey) -> bool:
    return android_key(action.key) in _CONFIRMING or str(action.key) in _CONFIRMING_CODES


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
