"""What a device would feel: which elements fingers come down on, lift from or move, and which a key presses.

Pure. Policy judges what is felt, whatever the action is called that moves the finger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from handrail.protocol.actions import AnyAction
from handrail.protocol.keys import KeyEffect, effect_of, effect_of_chord, types_only
from handrail.protocol.traits import Pressed
from handrail.tree.mention import touchable
from handrail.tree.node import Bounds, Node, Screen, ScreenPoint
from handrail.tree.reach import felt_at
from handrail.tree.windows import is_input_method

Felt = Callable[[Screen], list[Node]]
"""What would be felt, on the screen that is there when it is asked."""
Stroke = Sequence[ScreenPoint]
"""One finger's way, from where it comes down to where it lifts; a single point is a tap."""
Way = tuple[int, int, int, int]
"""From x, y to x, y."""
_NARROWEST_DP = 360
_SLOP_DP = 8
"""So far a device may take a finger for one that did not move."""
_MOVED = ("slider", "spinner")
"""What a finger on its way, or an arrow key, sets to another value."""
_BETWEEN_DEG = 15.0
_KEYBOARD_FROM = 0.4
"""Of the screen's height: no keyboard reaches higher while its field can be seen."""


def needs_fresh_screen(action: AnyAction) -> bool:
    """Whether only a fresh screen can tell what it would press."""
    return action.presses in (Pressed.PATH, Pressed.FOCUS)


def slop_of(screen: Screen) -> int:
    """In pixels. Few phones are narrower than 360 dp, so this is seldom too little. A pointer has none."""
    if screen.is_exact:
        return 0
    return math.ceil(min(screen.width, screen.height) * _SLOP_DP / _NARROWEST_DP)


def by_fingers(strokes: Sequence[Stroke]) -> Felt:
    """Elements under a finger that comes down or lifts, and what it would move on its way."""
    return lambda screen: list(dict.fromkeys(_felt(screen, strokes)))


def _felt(screen: Screen, strokes: Sequence[Stroke]) -> Iterator[Node]:
    for stroke in strokes:
        ends = (stroke[0], stroke[-1]) if stroke[0] != stroke[-1] else (stroke[0],)
        for point in ends:
            felt = felt_at(screen, _on_screen(screen, point), slop_of(screen))
            yield from felt
            if _is_key(screen, point, felt):
                yield from by_key("enter")(screen)
        if len(stroke) > 1:
            for node in screen.nodes:
                if node.role in _MOVED and any(_crosses(node.bounds, *leg) for leg in pairwise(stroke)):
                    yield node


def _is_key(screen: Screen, point: ScreenPoint, felt: Iterable[Node]) -> bool:
    """Whether a finger there may press a key of the on-screen keyboard, whose keys do what real ones do.

    A dump of one window does not show the keyboard: then it may be wherever keyboards are.
    """
    if any(is_input_method(node.package_name) for node in felt):
        return True
    if len(screen.windows) > 1 or screen.is_exact:
        return False
    fields = [node for node in _focused(screen) if node.role == "text_field"]
    is_low = point.y >= screen.height * _KEYBOARD_FROM
    return is_low and any(point.y >= field.bounds.bottom for field in fields)


def _on_screen(screen: Screen, point: ScreenPoint) -> ScreenPoint:
    """Some devices take a place beyond the edge for one at the edge."""
    box = screen.bounds
    if not box.area or box.holds(*point):
        return point
    x, y = point
    return ScreenPoint(min(max(x, box.left), box.right - 1), min(max(y, box.top), box.bottom - 1))


def _crosses(box: Bounds, start: ScreenPoint, end: ScreenPoint) -> bool:
    """Whether a straight way touches a box, by clipping it at each side."""
    enters, leaves = 0.0, 1.0
    for at, to, low, high in (
        (start.x, end.x, box.left, box.right),
        (start.y, end.y, box.top, box.bottom),
    ):
        if at == to:
            if not low <= at < high:
                return False
            continue
        first, last = sorted(((low - at) / (to - at), (high - at) / (to - at)))
        enters, leaves = max(enters, first), min(leaves, last)
    return enters <= leaves


def by_key(key: str) -> Felt:
    """What has the focus, as far as this key can do something to it."""
    return _by_effect(effect_of(key))


def by_chord(keys: Sequence[str]) -> Felt:
    """The same of keys that are down together."""
    return _by_effect(effect_of_chord(keys))


def _by_effect(effect: KeyEffect) -> Felt:
    def felt(screen: Screen) -> list[Node]:
        focused = _focused(screen)
        if effect is KeyEffect.MOVES:
            return [node for node in focused if node.role in _MOVED]
        if effect is KeyEffect.TYPES:
            return [node for node in focused if node.role != "text_field"]
        if effect is KeyEffect.PRESSES:
            return [*focused, *submitted(screen, focused)]
        return []

    return felt


def _focused(screen: Screen) -> list[Node]:
    """What has the focus in each window: a box around it that claims to have it as well has not."""
    marked = [node for node in screen.nodes if node.focused]
    return [one for one in marked if not any(other.is_inside(one) for other in marked if other is not one)]


def by_text(text: str) -> Felt:
    """What a text's line breaks press: the focused field's own action, and what a tab may lead to."""

    def felt(screen: Screen) -> list[Node]:
        if types_only(text):
            return []
        if "\t" in text:
            return [node for node in screen.nodes if touchable(node) and node.role != "text_field"]
        return by_key("enter")(screen)

    return felt


def submitted(screen: Screen, focused: Iterable[Node]) -> Iterator[Node]:
    """The buttons of the form that a field belongs to: the smallest box around it that has any."""
    for field in focused:
        if field.role == "text_field":
            for box in field.ancestors():
                buttons = [one for one in screen.inside(box) if one.role == "button" and one.clickable]
                if buttons:
                    yield from buttons
                    break


def pinched(cx: int, cy: int, start_radius: int, end_radius: int) -> list[Stroke]:
    """Two fingers on a level, towards or away from each other."""
    return [
        (ScreenPoint(cx + side * start_radius, cy), ScreenPoint(cx + side * end_radius, cy))
        for side in (-1, 1)
    ]


def turned(cx: int, cy: int, radius: int, start_deg: float, end_deg: float) -> list[Stroke]:
    """Two fingers opposite each other around a point; the arc as short straight legs."""
    legs = min(math.ceil(abs(end_deg - start_deg) / _BETWEEN_DEG), round(360 / _BETWEEN_DEG)) or 1
    span = max(-360.0, min(360.0, end_deg - start_deg))
    angles = [start_deg + span * leg / legs for leg in range(legs + 1)] + [end_deg]
    return [
        [
            ScreenPoint(
                cx + round(side * radius * math.cos(math.radians(angle))),
                cy + round(side * radius * math.sin(math.radians(angle))),
            )
            for angle in angles
        ]
        for side in (1, -1)
    ]


Direction = Literal["up", "down", "left", "right"]

SHARE = 0.6
"""Of the element's or screen's size, centred (seed 003)."""
LANES = (0.5, 0.25, 0.75, 0.15, 0.85)
"""Across the box, the middle first; never so near an edge that Android takes it for its own gesture."""
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


def stroke_of(one: Way) -> Stroke:
    """The same as a finger's way."""
    x1, y1, x2, y2 = one
    return (ScreenPoint(x1, y1), ScreenPoint(x2, y2))
