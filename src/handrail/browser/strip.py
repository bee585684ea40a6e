"""The tabs of a browser as a window below the page, where there is more than one.

It is drawn nowhere: headless browsers have no tabs to see. It stands below the viewport, so that no place of
the page is another one because of it, and is tapped as anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from handrail.tree.node import CLICKABLE, ENABLED, SELECTED, Bounds, Node, Screen
from handrail.tree.quote import cut

HEIGHT = 32
_CLOSE = 28
_TITLE = 40
"""Characters of a title."""
PACKAGE = "browser"


class TabTitle(NamedTuple):
    """One tab as it is shown."""

    id: str
    title: str
    is_front: bool


class TabPress(NamedTuple):
    """What a tap on the strip means."""

    id: str
    closes: bool


def with_strip(page: Screen, tabs: Sequence[TabTitle]) -> Screen:
    """The page's screen with its tabs below it."""
    width, top = page.width, page.height
    frame = Bounds(0, 0, width, top + HEIGHT)
    root = Node("", "", "", "", page.package, frame, 0, "container", 0)
    strip = Node("tabs", "", "", "", PACKAGE, Bounds(0, top, width, top + HEIGHT), ENABLED, "toolbar", 0)
    for tab, box in zip(tabs, _boxes(page, len(tabs)), strict=True):
        title = cut(tab.title, _TITLE)
        flags = ENABLED | CLICKABLE | (SELECTED if tab.is_front else 0)
        left = box._replace(right=box.right - _CLOSE)
        _under(strip, Node("tab", "", title, "", PACKAGE, left, flags, "tab", 0, native_id=f"tab.{tab.id}"))
        right = box._replace(left=box.right - _CLOSE)
        closing = f"Close tab {title}"
        _under(
            strip,
            Node(
                "close", "", "", closing, PACKAGE, right, ENABLED | CLICKABLE, "button", 0,
                native_id=f"close.{tab.id}",
            ),
        )  # fmt: skip
    _under(root, page.root)
    _under(root, strip)
    nodes = [root, *page.nodes, strip, *strip.children]
    for order, node in enumerate(nodes):
        node.order = order
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1
    return Screen(
        root,
        nodes,
        width,
        top + HEIGHT,
        page.package,
        warnings=page.warnings,
        active=page.root,
        is_exact=True,
    )


def _boxes(page: Screen, count: int) -> list[Bounds]:
    wide = max(_CLOSE * 2, min(220, page.width // max(1, count)))
    return [Bounds(at * wide, page.height, (at + 1) * wide, page.height + HEIGHT) for at in range(count)]


def pressed(screen: Screen, x: int, y: int) -> TabPress | None:
    """What is there, if it is a part of the strip."""
    for node in screen.nodes:
        kind, _, target = node.native_id.partition(".")
        if kind in ("tab", "close") and node.package_name == PACKAGE and node.bounds.holds(x, y):
            return TabPress(target, kind == "close")
    return None


def _under(parent: Node, node: Node) -> None:
    node.parent, node.position, node.index = parent, len(parent.children), len(parent.children)
    parent.children.append(node)
