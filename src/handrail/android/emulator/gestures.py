"""Gestures as frames: where each finger is, 60 times a second. Pure; knows no emulator."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, radians, sin

from handrail.android.constants import GRPC_FRAMES_PER_SEC
from handrail.android.driver import Display

Point = tuple[int, int]
Frame = tuple[Point, ...]
"""One point for each finger."""


def swipe_frames(x1: int, y1: int, x2: int, y2: int, duration_ms: float) -> list[Frame]:
    """One finger along a line."""

    def at(share: float) -> Frame:
        return ((_between(x1, x2, share), _between(y1, y2, share)),)

    return _frames(at, duration_ms)


def pinch_frames(cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: float) -> list[Frame]:
    """Two fingers on a horizontal line, the same distance left and right of the centre."""

    def at(share: float) -> Frame:
        radius = _between(start_radius, end_radius, share)
        return (cx - radius, cy), (cx + radius, cy)

    return _frames(at, duration_ms)


def rotate_frames(
    cx: int, cy: int, radius: int, start_deg: float, end_deg: float, duration_ms: float
) -> list[Frame]:
    """Two fingers opposite each other on a circle; angles grow clockwise, as y grows downwards."""

    def at(share: float) -> Frame:
        angle = radians(start_deg + (end_deg - start_deg) * share)
        dx, dy = round(radius * cos(angle)), round(radius * sin(angle))
        return (cx + dx, cy + dy), (cx - dx, cy - dy)

    return _frames(at, duration_ms)


def natural(point: Point, display: Display) -> Point:
    """The same place on the screen as it was built: touch panels do not know how they are held."""
    x, y = point
    right, bottom = display.width - 1, display.height - 1
    return [(x, y), (bottom - y, x), (right - x, bottom - y), (y, right - x)][display.rotation % 4]


def _frames(at: Callable[[float], Frame], duration_ms: float) -> list[Frame]:
    steps = max(2, round(duration_ms * GRPC_FRAMES_PER_SEC / 1000))
    return [at(number / steps) for number in range(steps + 1)]


def _between(start: int, end: int, share: float) -> int:
    return round(start + (end - start) * share)
