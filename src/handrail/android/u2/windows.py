"""The order of windows in a u2 dump: it lists the active window first, then all others from the top down.

A `Screen` has the topmost last, and covering is decided by that order.
"""

from __future__ import annotations

from handrail.android.last_screen import LastScreen
from handrail.tree.node import Bounds, Node, Screen
from handrail.tree.parse.build import Draft, Window, complete


class Stacked:
    """Reads dumps; the same bytes again give the same object, as `LastScreen` promises."""

    def __init__(self) -> None:
        self._last = LastScreen()
        self._parsed: Screen | None = None
        self._stacked: Screen | None = None

    async def read(self, raw: bytes) -> Screen:
        parsed = await self._last.read(raw)
        if self._stacked is None or parsed is not self._parsed:
            self._parsed, self._stacked = parsed, restack(parsed)
        return self._stacked


def restack(screen: Screen) -> Screen:
    """The same windows as they are drawn; the active one says which app is in front."""
    windows = screen.windows
    if len(windows) < 2:
        return screen
    active, others = windows[0], windows[:0:-1]
    below = [window for window in others if _covers(window.bounds, active.bounds)]
    above = [window for window in others if window not in below]
    stack = [
        Window(root, focused=root is active, layer=layer)
        for layer, root in enumerate([*below, active, *above])
    ]
    return complete(_draft(screen, stack))


def _covers(outer: Bounds, inner: Bounds) -> bool:
    """What spans the active window lies under it; bars, keyboard and pop-ups do not, and are above."""
    return outer.intersect(inner) == inner


def _draft(screen: Screen, stack: list[Window]) -> Draft:
    nodes: list[Node] = screen.nodes[1:]
    for window in stack:
        window.root.parent = None
    return Draft(stack, nodes, screen.width, screen.height, screen.rotation, warnings=screen.warnings)
