"""Where a window may be: pure rules over bounds and viewports."""

from __future__ import annotations

from handrail.desk.state import Birth, Bounds, Viewport, Window

MIN_W, MIN_H = 200, 150
"""The least size of a standard window, and of a viewport."""
GRAB_W, TITLE_H = 100, 36
"""What must stay visible of a window, so that a person can get hold of it."""


def viewport_of(w: float, h: float) -> Viewport:
    """A browser's size; one that is too small to show a window counts as the smallest that can."""
    return Viewport(max(MIN_W, round(w)), max(MIN_H, round(h)))


def filling(viewport: Viewport) -> Bounds:
    """The bounds of a maximised window."""
    return Bounds(0, 0, viewport.w, viewport.h)


def placed(birth: Birth, wanted: Bounds, viewport: Viewport) -> Bounds:
    """Bounds of a new window: wholly inside the viewport, shrunk where it does not fit."""
    sized = sized_for(birth, wanted.w, wanted.h)
    w, h = min(sized[0], viewport.w), min(sized[1], viewport.h)
    if birth.variant == "panel":
        return docked(birth, Bounds(wanted.x, 0, w, h), viewport)
    return Bounds(_within(wanted.x, 0, viewport.w - w), _within(wanted.y, 0, viewport.h - h), w, h)


def sized_for(birth: Birth, w: float, h: float) -> tuple[int, int]:
    """A size that this kind of window may have."""
    least_w, least_h = (MIN_W, MIN_H) if birth.variant == "standard" else (1, 1)
    return max(least_w, round(w)), max(least_h, round(h))


def docked(birth: Birth, wanted: Bounds, viewport: Viewport) -> Bounds:
    """A panel's place: on its edge, whatever was asked for."""
    w, h = min(wanted.w, viewport.w), min(wanted.h, viewport.h)
    y = 0 if birth.dock_edge == "top" else viewport.h - h
    return Bounds(_within(wanted.x, 0, viewport.w - w), y, w, h)


def reachable(birth: Birth, wanted: Bounds, viewport: Viewport) -> Bounds:
    """The nearest bounds of which a person can grab something.

    With a title bar it is the bar that has to be visible in its whole height; without one, any part will do.
    """
    if birth.variant == "panel":
        return docked(birth, wanted, viewport)
    grab_w, grab_h = min(GRAB_W, wanted.w), min(TITLE_H, wanted.h)
    top = grab_h - wanted.h if birth.frameless else 0
    x = _within(wanted.x, grab_w - wanted.w, viewport.w - grab_w)
    return Bounds(x, _within(wanted.y, top, viewport.h - grab_h), wanted.w, wanted.h)


def refit(window: Window, viewport: Viewport) -> Bounds:
    """A window's bounds when the viewport changes under it."""
    if window.maximized:
        return filling(viewport)
    return reachable(window.birth, window.bounds, viewport)


def _within(value: float, least: int, most: int) -> int:
    return max(least, min(round(value), most))
