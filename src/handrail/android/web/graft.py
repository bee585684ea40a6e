"""A page's nodes in the place of what accessibility tells of its WebView. Pure: two trees in, one out.

Never both: what is doubled can't be told apart. The WebView itself stays, and so does all that is native.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from handrail.page.rows import Frame, PageLook, nodes_of
from handrail.tree.node import CLIPPED, FOCUSED, Bounds, Node, Screen

APART_PX = 24
"""So far the same thing may be apart in two readings: rounding, and borders that only one of them counts."""
ANCHORS = 3
WIDE, NARROW = 1.03, 0.97
"""How much wider or narrower than its view a page may seem, by rounding."""
_OWN_PLACES = ("file:", "about:")
"""Documents that an app brings along: they are the app's own."""
NOT_SHOWN = "Handrail's own page is not shown"


@dataclass(frozen=True, slots=True)
class PageTold:
    """What one page has told: its own look first, and those of frames that it can't see into."""

    looks: Sequence[tuple[str, PageLook]]
    is_own: bool = False
    """It is Handrail's own, which no agent sees: there are no looks, and no accessibility either."""

    @property
    def main(self) -> PageLook:
        return self.looks[0][1]

    @property
    def title(self) -> str:
        return self.main.title


def web_roots(screen: Screen) -> list[Node]:
    """The outermost WebViews that can be seen; an app's view holds the page's own, of the same class."""
    found: list[Node] = []
    for node in screen.nodes:
        if node.role == "web_view" and node.bounds.area and not (found and node.order < found[-1].end):
            found.append(node)
    return found


def title_of(root: Node) -> str:
    """What accessibility calls the page."""
    inner = root.children[0] if root.children else root
    return root.text or (inner.text if inner.role == "web_view" else "")


def frame_of(root: Node, look: PageLook) -> Frame | None:
    """Where the page is drawn, in device pixels; None where its width is not the view's."""
    view = look.viewport
    scale = view.device_scale * view.zoom
    shown = view.shown_width * scale
    if not root.bounds.width or not NARROW <= shown / root.bounds.width <= WIDE:
        return None
    left, top = root.bounds.left - view.left * scale, root.bounds.top - view.top * scale
    return Frame(left, top, scale, 0.0, 0.0)


def is_trusted(screen: Screen, root: Node, look: PageLook) -> bool:
    """Whether what both readings name is at the same place in both. With nothing in common it is believed."""
    at = frame_of(root, look)
    if at is None:
        return False
    told = _named(screen.inside(root))
    apart = []
    for name, node in _named(nodes_of(look, at=at)).items():
        other = told.get(name)
        if other is not None and root.bounds.covers(node.bounds):
            one, two = node.bounds.center, other.bounds.center
            apart.append(max(abs(one.x - two.x), abs(one.y - two.y)))
    return len(apart) < ANCHORS or median(apart) <= APART_PX


def _named(nodes: Sequence[Node]) -> dict[tuple[str, str], Node]:
    """By id, else by words and role; what has the name of another is left out."""
    found: dict[tuple[str, str], Node | None] = {}
    for node in nodes:
        name = ("id", node.resource_id) if node.resource_id else (node.role, node.text)
        if name[1] and node.bounds.area:
            found[name] = None if name in found else node
    return {name: node for name, node in found.items() if node is not None}


def grafted(screen: Screen, pages: Mapping[int, PageTold]) -> Screen:
    """A new screen; `pages` by the order of their WebView."""
    nodes: list[Node] = []
    root = _copied(screen, screen.root, None, pages)
    stack = [root]
    active: Node | None = None
    while stack:
        node = stack.pop()
        if screen.active is not None and node.order == screen.active.order and not node.native_id:
            active = node
        node.order = len(nodes)
        nodes.append(node)
        stack.extend(reversed(node.children))
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1
    return replace(screen, root=root, nodes=nodes, active=active, warnings=list(screen.warnings))


def _copied(screen: Screen, node: Node, parent: Node | None, pages: Mapping[int, PageTold]) -> Node:
    made = replace(node, parent=parent, children=[])
    told = pages.get(node.order)
    if told is None:
        made.children = [_copied(screen, one, made, pages) for one in node.children]
    elif told.is_own:
        made.text, made.description = "", NOT_SHOWN
    else:
        has_focus = any(one.flags & FOCUSED for one in (node, *screen.inside(node)))
        made.text = ""
        made.children = _page(made, told, has_focus)
    return made


def _page(root: Node, told: PageTold, has_focus: bool) -> list[Node]:
    """The page's nodes under their WebView, cut to it; those outside of it are left out."""
    at = frame_of(root, told.main)
    if at is None:
        return []
    nodes = nodes_of(told.main, dict(told.looks[1:]), at)
    kept: set[int] = set()
    for node in reversed(nodes):
        part = node.bounds.intersect(root.bounds)
        node.place, node.package_name = _place(node.package_name), root.package_name
        if not has_focus:
            node.flags &= ~FOCUSED
        if node.touch_at is not None and not root.bounds.holds(*node.touch_at):
            node.touch_at, node.covered_by = None, CLIPPED
        node.children = [one for one in node.children if id(one) in kept]
        if part.area or node.children or node.focused:
            kept.add(id(node))
            node.bounds = part if part.area else Bounds(*node.bounds[:2], *node.bounds[:2])
        for position, child in enumerate(node.children):
            child.position = child.index = position
    page = nodes[0]
    page.parent, page.position, page.index = root, 0, 0
    return [page]


def _place(origin: str) -> str:
    return "" if origin in _OWN_PLACES else origin
