"""Which container a scroll moves, and where a finger comes down so that it moves just that one. Pure."""

from __future__ import annotations

from typing import Literal

from handrail.engine.front import front
from handrail.engine.gestures import SHARE, Direction, Way, is_sideways, way
from handrail.tree.node import Bounds, Node, Screen
from handrail.tree.packages import is_input_method
from handrail.tree.reach import covering, visible_part

Axis = Literal["vertical", "sideways"]

LANES = (0.5, 0.25, 0.75, 0.15, 0.85)
"""Across the container, the middle first; never so near an edge that Android takes it for its own gesture."""
SHIFTS = (0.0, 0.15, -0.15)
"""Along the container: where the middle belongs to an inner list, its ends may not."""
_SLACK_PX = 3
_WRAPPERS = 6
"""Single boxes between a container and its rows; a bound for degenerate trees."""


def scroller_for(screen: Screen, direction: Direction) -> Node | None:
    """Of the window in front, the container that shows the most. What lies under a dialog is out of reach:
    a finger there would close the dialog."""
    window = front(screen)
    return _largest(screen, [window, *screen.inside(window)], direction)


def scroller_of(screen: Screen, node: Node, direction: Direction) -> Node:
    """What a caller means by a container: it scrolls, or something in it or around it does."""
    if _scrolls(node):
        return node
    around = (one for one in node.ancestors() if _fits(one, direction))
    return _largest(screen, screen.inside(node), direction) or next(around, None) or node


def anything_scrolls(screen: Screen) -> bool:
    """Whether containers tell of themselves at all; a canvas without semantics does not."""
    inside = screen.inside(front(screen))
    return any(_scrolls(node) and visible_part(screen, node).area for node in inside)


def _largest(screen: Screen, nodes: list[Node], direction: Direction) -> Node | None:
    """One that is known to scroll along this axis comes before one that may."""
    sure = axis_wanted(direction)
    ranked = [
        (axis_of(node) == sure, area, -node.order, node)
        for node in nodes
        if _fits(node, direction) and (area := visible_part(screen, node).area)
    ]
    return max(ranked)[-1] if ranked else None


def _scrolls(node: Node) -> bool:
    return node.scrollable or node.role in ("list", "web_view")


def _fits(node: Node, direction: Direction) -> bool:
    return _scrolls(node) and axis_of(node) in (None, axis_wanted(direction))


def axis_wanted(direction: Direction) -> Axis:
    """What a direction asks of a container."""
    return "sideways" if is_sideways(direction) else "vertical"


def axis_of(node: Node) -> Axis | None:
    """By its class, else by how its rows stand; None where neither tells."""
    name = node.short_class
    if "Horizontal" in name or "Pager" in name:
        return "sideways"
    if name.endswith(("ScrollView", "ListView", "GridView")):
        return "vertical"
    rows = _rows(node)
    if len(rows) < 2:
        return None
    if any(abs(row.top - rows[0].top) > _SLACK_PX for row in rows):
        return "vertical"
    return "sideways" if node.bounds.width > node.bounds.height else None


def _rows(node: Node) -> list[Bounds]:
    for _ in range(_WRAPPERS):
        if len(node.children) == 1:
            node = node.children[0]
    return [child.bounds for child in node.children if child.bounds.area]


def finger_way(screen: Screen, scroller: Node | None, finger: Direction, *, attempt: int = 0) -> Way:
    """A way inside the container that begins on nothing that would take the drag for itself.

    `attempt` skips that many usable lanes, for a container that did not move at the first one.
    """
    box = _above_keyboard(screen, visible_part(screen, scroller) if scroller else screen.bounds)
    ways = [way(finger, box, SHARE, lane, shift) for shift in SHIFTS for lane in LANES]
    taken = _takers(screen, scroller, box, finger) if scroller else []
    free = [one for one in ways if not any(place.holds(one[0], one[1]) for place in taken)] or ways
    return free[attempt % len(free)]


def _above_keyboard(screen: Screen, box: Bounds) -> Bounds:
    for window in screen.windows:
        bounds = window.bounds
        if is_input_method(window.package_name) and bounds.area and bounds.top > box.top:
            box = box._replace(bottom=min(box.bottom, bounds.top))
    return box


def _takers(screen: Screen, scroller: Node, box: Bounds, finger: Direction) -> list[Bounds]:
    """Where a finger that comes down would move something else: an inner list, a slider, what lies above."""
    inner = [
        node
        for node in screen.inside(scroller)
        if _fits(node, finger) or (is_sideways(finger) and node.role == "slider")
    ]
    return [node.bounds for node in (*inner, *covering(screen, scroller, box))]
