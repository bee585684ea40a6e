"""Moving what scrolls, by a drag or by a fling. Offsets live in the view's memory; knows no touch."""

from __future__ import annotations

from math import exp, log

from handrail_sim.view.layout import reach
from handrail_sim.view.lists import line_count
from handrail_sim.view.units import Units
from handrail_sim.view.view import View

VERTICAL = frozenset({"scroll", "list"})
HORIZONTAL = frozenset({"hscroll", "pager"})

# How Android's scroller decelerates: public constants of its overscroll physics.
DECELERATION = log(0.78) / log(0.9)
INFLEXION = 0.35
FRICTION = 0.015
MIN_FLING_DP = 50.0  # per second
MAX_FLING_DP = 8000.0


def can_scroll(view: View, vertical: bool, units: Units) -> bool:
    if view.layout == "list":
        return vertical and bool(view.items)
    if view.layout == "scroll":
        return vertical and reach(view, units) > 0
    if view.layout == "hscroll":
        return not vertical and reach(view, units) > 0
    return view.layout == "pager" and not vertical


def scroll_by(view: View, distance: int, units: Units) -> bool:
    """Move the content by px towards its end (or start, when negative); false at the edge."""
    memory = view.memory if view.memory is not None else {}
    before = (memory.get("first", 0), memory.get("offset", 0))
    if view.layout == "list":
        if distance > 0 and not view.scrollable:
            return False
        if distance < 0 and before == (0, 0):
            return False
        memory["offset"] = before[1] + distance
        return True
    memory["offset"] = max(0, min(reach(view, units), before[1] + distance))
    return bool(memory["offset"] != before[1])


def at_end(view: View, units: Units) -> bool:
    memory = view.memory or {}
    if view.layout != "list":
        return bool(memory.get("offset", 0) >= reach(view, units))
    if not view.children or memory.get("last", 0) < line_count(view) - 1:
        return not view.children
    last = view.children[-1]
    return last.y + last.h <= view.y + view.h


def at_start(view: View) -> bool:
    memory = view.memory or {}
    return not memory.get("first", 0) and not memory.get("offset", 0)


def fling(velocity: float, units: Units) -> tuple[int, float]:
    speed = min(abs(velocity), MAX_FLING_DP * units.dp)
    if speed < MIN_FLING_DP * units.dp:
        return 0, 0.0
    coefficient = 9.80665 * 39.37 * units.dp * 160.0 * 0.84 * FRICTION
    pull = log(INFLEXION * speed / coefficient)
    distance = coefficient * exp(DECELERATION / (DECELERATION - 1.0) * pull)
    duration = 1000.0 * exp(pull / (DECELERATION - 1.0))
    return int(distance if velocity > 0 else -distance), duration


def eased(fraction: float) -> float:
    """How much of a fling is done: fast first, then slower."""
    rest = 1.0 - min(1.0, max(0.0, fraction))
    return 1.0 - rest * rest * rest


def scrollers_above(view: View | None) -> list[View]:
    views = []
    while view is not None:
        if view.layout in VERTICAL or view.layout in HORIZONTAL:
            views.append(view)
        view = view.parent
    return views
