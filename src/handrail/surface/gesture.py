"""What fingers do, as one value: the engine computes it, safety judges it, `Touch.perform` sends it.

A new gesture is a kind here and one function that returns a `Gesture`. Our helper, the emulator and iPhones
play any strokes, plain adb those of one finger; u2 and browsers have a case for each kind that they can send.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from handrail.screen.node import ScreenPoint

GestureKind = Literal["tap", "hover", "double_tap", "long_press", "swipe", "drag", "path", "pinch", "rotate"]
"""A drag holds long enough to pick something up before it moves; a path passes through every point."""
TWO_FINGERS: frozenset[GestureKind] = frozenset({"pinch", "rotate"})
TOUCHES: frozenset[GestureKind] = frozenset(get_args(GestureKind)) - {"hover"}
"""What fingers do; a mouse does the others."""
Stroke = Sequence[ScreenPoint]
"""One finger's way, from where it comes down to where it lifts; a single point is a tap."""
_BETWEEN_DEG = 15.0


@dataclass(frozen=True, slots=True)
class Arc:
    """Two fingers opposite each other on a circle; angles grow clockwise, as y grows downwards."""

    cx: int
    cy: int
    radius: int
    start_deg: float
    end_deg: float

    def at(self, angle_deg: float) -> tuple[ScreenPoint, ScreenPoint]:
        angle = math.radians(angle_deg)
        dx, dy = round(self.radius * math.cos(angle)), round(self.radius * math.sin(angle))
        return ScreenPoint(self.cx + dx, self.cy + dy), ScreenPoint(self.cx - dx, self.cy - dy)


@dataclass(frozen=True, slots=True)
class Gesture:
    """One stroke for each finger. The kind tells a channel which native command sends it."""

    kind: GestureKind
    strokes: tuple[Stroke, ...]
    duration_ms: int = 0
    """Of the movement; of a long press, how long it is held."""
    arc: Arc | None = None
    """The exact curve of a rotation, which its strokes tell in straight legs."""
    button: str = "left"
    count: int = 1
    """Which click of a double click a tap is."""
    modifiers: tuple[str, ...] = ()
    """Keys that are held meanwhile, by their short names."""

    @property
    def needs_mouse(self) -> bool:
        return self.kind == "hover" or self.button != "left" or bool(self.modifiers)

    @property
    def start_point(self) -> ScreenPoint:
        """Where the first finger comes down."""
        return self.strokes[0][0]

    @property
    def end_point(self) -> ScreenPoint:
        """Where the first finger lifts."""
        return self.strokes[0][-1]

    @property
    def ends(self) -> tuple[ScreenPoint, ...]:
        """Where fingers come down and lift, each place once."""
        return tuple(dict.fromkeys(point for stroke in self.strokes for point in (stroke[0], stroke[-1])))


def tap(point: ScreenPoint, button: str = "left", modifiers: tuple[str, ...] = ()) -> Gesture:
    return Gesture("tap", ((point,),), button=button, modifiers=modifiers)


def hover(point: ScreenPoint) -> Gesture:
    return Gesture("hover", ((point,),))


def double_tap(point: ScreenPoint) -> Gesture:
    return Gesture("double_tap", ((point,),))


def long_press(point: ScreenPoint, duration_ms: int) -> Gesture:
    return Gesture("long_press", ((point,),), duration_ms)


def swipe(start: ScreenPoint, end: ScreenPoint, duration_ms: int) -> Gesture:
    return Gesture("swipe", ((start, end),), duration_ms)


def drag(start: ScreenPoint, end: ScreenPoint, duration_ms: int) -> Gesture:
    return Gesture("drag", ((start, end),), duration_ms)


def path(points: Sequence[ScreenPoint], duration_ms: int) -> Gesture:
    return Gesture("path", (tuple(points),), duration_ms)


def pinch(cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: int) -> Gesture:
    """Two fingers on a level, the left one first, towards or away from each other."""
    left, right = (
        (ScreenPoint(cx + side * start_radius, cy), ScreenPoint(cx + side * end_radius, cy))
        for side in (-1, 1)
    )
    return Gesture("pinch", (left, right), duration_ms)


def rotate(cx: int, cy: int, radius: int, start_deg: float, end_deg: float, duration_ms: int) -> Gesture:
    """The strokes follow at most one whole turn, and end where the fingers lift."""
    legs = min(math.ceil(abs(end_deg - start_deg) / _BETWEEN_DEG), round(360 / _BETWEEN_DEG)) or 1
    span = max(-360.0, min(360.0, end_deg - start_deg))
    arc = Arc(cx, cy, radius, start_deg, end_deg)
    angles = [start_deg + span * leg / legs for leg in range(legs + 1)] + [end_deg]
    first, second = zip(*map(arc.at, angles), strict=True)
    return Gesture("rotate", (first, second), duration_ms, arc)
