"""Which nodes a person can see: pruned by size, place and system bars, and by what later clickables cover.

Bounds and flags only; what a node says or is called is decided elsewhere.
"""

from __future__ import annotations

from handrail.tree.node import CHECKABLE, CLICKABLE, HIDDEN, LONG_CLICKABLE, SCROLLABLE, Bounds, Node, Screen
from handrail.tree.windows import SYSTEM_UI, is_system_bar

_TOUCHED = CLICKABLE | LONG_CLICKABLE | CHECKABLE | SCROLLABLE
_ENDLESS = 1 << 30

_BAND_SHIFT = 7  # bands of 128 px
_MANY_BANDS = 40  # what spans more, taller than any phone, is kept in one list
_CROWD = 64  # coverers looked at per band; keeps 10,000 stacked nodes linear


def visible(screen: Screen) -> bytearray:
    """One byte per node by `order`: 1 for what is on the screen, has a size and is not covered."""
    shown = on_screen(screen)
    _drop_covered(screen, shown)
    return shown


def on_screen(screen: Screen) -> bytearray:
    """As `visible`, before occlusion: what has a part inside the screen and its scroll containers."""
    nodes = screen.nodes
    shown = bytearray(len(nodes))
    system = False
    end, clip = len(nodes), Bounds(0, 0, screen.width or _ENDLESS, screen.height or _ENDLESS)
    clips = [(end, clip)]
    for order, node in enumerate(nodes):
        if order >= end:
            while clips[-1][0] <= order:
                clips.pop()
            end, clip = clips[-1]
        left, top, right, bottom = bounds = node.bounds
        if clip[0] < right > left < clip[2] and clip[1] < bottom > top < clip[3] and not node.flags & HIDDEN:
            shown[order] = 1
            system = system or node.package_name == SYSTEM_UI
            if node.flags & SCROLLABLE:
                end, clip = node.end, clip.intersect(bounds)
                clips.append((end, clip))
    if not nodes[0].class_name and nodes[0].children:
        shown[0] = 0
    if system and screen.package != SYSTEM_UI:
        _drop_system_bars(screen, shown)
    return shown


def _drop_system_bars(screen: Screen, shown: bytearray) -> None:
    """Status and navigation bar, unless they are all there is; a pulled-down shade is larger and stays."""
    bars = [window for window in screen.windows if is_system_bar(screen, window)]
    hidden = [order for bar in bars for order in range(bar.order, bar.end) if shown[order]]
    if len(hidden) < sum(shown):
        for order in hidden:
            shown[order] = 0


def _drop_covered(screen: Screen, shown: bytearray) -> None:
    """Clears what lies fully under a clickable of another branch that is drawn later."""
    cover = Cover()
    for node in reversed(paint_order(screen)):
        if not shown[node.order]:
            continue
        over = cover.over(node)
        if over is not None:
            if node.flags & _TOUCHED or not _is_glass(over, screen):
                shown[node.order] = 0
        elif node.flags & CLICKABLE and not node.flags & SCROLLABLE:
            cover.add(node)


def _is_glass(over: Node, screen: Screen) -> bool:
    """An empty tappable layer over a part of the screen takes the touches and shows the text behind it."""
    silent = not (over.children or over.text or over.description)
    return silent and over.bounds.area * 2 < screen.width * screen.height


def paint_order(screen: Screen) -> list[Node]:
    """Document order, except where the dump tells another drawing order among siblings."""
    if not any(node.drawing_order for node in screen.nodes):
        return screen.nodes
    painted: list[Node] = []
    stack = [screen.root]
    while stack:
        node = stack.pop()
        painted.append(node)
        # The sort is stable: siblings without a drawing order stay as they are.
        stack.extend(sorted(node.children, key=_drawing_order)[::-1])
    return painted


def _drawing_order(node: Node) -> int:
    return node.drawing_order


class Cover:
    """The clickables drawn later than the node in hand, kept by horizontal bands of the screen."""

    __slots__ = ("_bands", "_tall")

    def __init__(self) -> None:
        self._bands: dict[int, list[tuple[Bounds, int, Node]]] = {}
        self._tall: list[tuple[Bounds, int, Node]] = []

    def add(self, node: Node) -> None:
        first, last = node.bounds.top >> _BAND_SHIFT, node.bounds.bottom >> _BAND_SHIFT
        entry = (node.bounds, node.order, node)
        if last - first > _MANY_BANDS:
            if len(self._tall) < _CROWD:
                self._tall.append(entry)
            return
        for number in range(first, last + 1):
            band = self._bands.setdefault(number, [])
            if len(band) < _CROWD:
                band.append(entry)

    def over(self, node: Node) -> Node | None:
        """A clickable that hides the whole of `node` and is not inside it."""
        left, top, right, bottom = node.bounds
        band = self._bands.get(top >> _BAND_SHIFT, self._tall)
        for entries in (band, self._tall) if self._tall and band is not self._tall else (band,):
            for (its_left, its_top, its_right, its_bottom), order, over in entries:
                if (
                    its_top <= top
                    and its_bottom >= bottom
                    and its_left <= left
                    and its_right >= right
                    and not node.order < order < node.end
                ):
                    return over
        return None
