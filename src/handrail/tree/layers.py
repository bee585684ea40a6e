"""Layers within one window: a player over the page that opened it, a drawer over a list.

Dumps tell no opacity. But a person can't read two texts at one place. So where what is drawn later fills a
part of the screen and writes over what that part says, the part is behind, as a whole. Web content tells
nothing: there the order of the tree is not the order of drawing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from handrail.tree.node import ACTIONABLE, Bounds, Node, Screen

_LARGE = 4  # a layer takes more than this part of the screen
_FEW = 3  # what says less is no page: a picture under its caption
_CLASHES = 2  # places where two layers write over each other
_CLASH_SHARE = 0.1  # of what the lower one says; a list under its bar has fewer
_BANDS = 8  # in which the lower one is divided from top to bottom
_FILLED = 6  # of them have something of the upper one: bars and a floating button fill fewer
_PANE = 0.6  # of the lower one: what covers more is a pane, not a piece of writing
_OVERLAP = 0.2  # of the smaller of two; fonts and touch targets reach a little beyond their box
_CROWD = 120  # pieces that are compared


def behind(screen: Screen, shown: bytearray) -> list[Node]:
    """The outermost parts of a screen over which another layer is drawn, in document order."""
    large = screen.width * screen.height // _LARGE
    found: list[Node] = []
    said: _Said | None = None
    end = 0
    for node in screen.nodes:
        children = node.children
        if not children or node.order < end:
            continue
        if node.role == "web_view":
            end = node.end
            continue
        if len(children) < 2 or not node.class_name:
            continue
        for page in children:
            if page.end - page.order <= _FEW or page.bounds.area < large:
                continue
            later = _over(page, children)
            if later and _may_fill(page, later):
                said = said or _Said(screen, shown)
                if said.writes_over(page, later):
                    found.append(page)
                    end = max(end, page.end)
    return found


def _over(page: Node, children: Sequence[Node]) -> list[Node]:
    """Its siblings that are drawn later and reach into its bounds."""
    left, top, right, bottom = page.bounds
    mine, place = page.drawing_order, page.position
    return [
        one
        for one in children
        if one.bounds[0] < right and one.bounds[2] > left and one.bounds[1] < bottom and one.bounds[3] > top
        and (one.drawing_order > mine or (one.drawing_order == mine and one.position > place))
    ]  # fmt: skip


def _may_fill(page: Node, later: list[Node]) -> bool:
    """Bars and buttons are too small to write over a page; this is known without reading them."""
    if sum(one.end - one.order for one in later) < _FEW:
        return False
    return _filled(page.bounds, [one.bounds.intersect(page.bounds) for one in later]) >= _FILLED


class _Said:
    """What can be read or touched on a screen: the innermost nodes with words or a touch of their own."""

    def __init__(self, screen: Screen, shown: bytearray) -> None:
        self._at: list[int] = []
        self._bounds: list[Bounds] = []
        last = len(screen.nodes)
        for node in reversed(screen.nodes):
            if not shown[node.order] or not (node.text or node.description or node.flags & ACTIONABLE):
                continue
            if node.end <= last:  # nothing inside it speaks
                self._at.append(node.order)
                self._bounds.append(node.bounds)
                last = node.order
        self._at.reverse()
        self._bounds.reverse()

    def writes_over(self, page: Node, later: list[Node]) -> bool:
        below = self._inside(page)
        if not _FEW <= len(below) <= _CROWD:
            return False
        frame, pane = page.bounds, page.bounds.area * _PANE
        above = [box.intersect(frame) for one in later for box in self._inside(one)]
        above = [box for box in above if 0 < box.area < pane]
        if not _FEW <= len(above) <= _CROWD or _filled(frame, above) < _FILLED:
            return False
        clashes = sum(any(_overlap(box, other) for other in above) for box in below)
        return clashes >= max(_CLASHES, len(below) * _CLASH_SHARE)

    def _inside(self, node: Node) -> list[Bounds]:
        return self._bounds[bisect_left(self._at, node.order) : bisect_left(self._at, node.end)]


def _filled(frame: Bounds, boxes: list[Bounds]) -> int:
    """In how many bands of the frame there is a box."""
    tall = max(1, frame.height)
    filled: set[int] = set()
    for box in boxes:
        filled.update(
            range(_BANDS * (box.top - frame.top) // tall, _BANDS * (box.bottom - 1 - frame.top) // tall + 1)
        )
    return len(filled)


def _overlap(one: Bounds, other: Bounds) -> bool:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    if wide <= 0:
        return False
    tall = min(one[3], other[3]) - max(one[1], other[1])
    return tall > 0 and wide * tall > min(one.area, other.area) * _OVERLAP
