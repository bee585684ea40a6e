"""Gestures by plain coordinates."""

from __future__ import annotations

from handrail.screen.node import ScreenPoint
from handrail.surface import gesture
from handrail.surface.gesture import Gesture, pinch, rotate

__all__ = ["double_tap", "drag", "long_press", "pinch", "rotate", "swipe", "tap"]


def tap(x: int, y: int) -> Gesture:
    return gesture.tap(ScreenPoint(x, y))


def double_tap(x: int, y: int) -> Gesture:
    return gesture.double_tap(ScreenPoint(x, y))


def long_press(x: int, y: int, duration_ms: int) -> Gesture:
    return gesture.long_press(ScreenPoint(x, y), duration_ms)


def swipe(x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> Gesture:
    return gesture.swipe(ScreenPoint(x1, y1), ScreenPoint(x2, y2), duration_ms)


def drag(x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> Gesture:
    return gesture.drag(ScreenPoint(x1, y1), ScreenPoint(x2, y2), duration_ms)
