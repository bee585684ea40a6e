"""In which directions a scroll container has more to show, as far as the bounds of its content tell."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from handrail.tree.node import Bounds, Node

_SLACK = 3  # px
_WRAPPERS = 6  # single boxes between a scroll container and its rows; a bound for degenerate trees
_CLIPPED = 0.9  # of the usual length: a shorter first or last row is cut by the edge


def arrows(node: Node) -> str:
    """Such as "↓", "↑↓", "←"; "↕" or "↔" where the bounds do not tell which way."""
    content = _content(node)
    sideways = _is_sideways(node, content)
    back, forward = _more(node.bounds, content, sideways)
    if not back and not forward:
        return "↔" if sideways else "↕"
    return ("←" if sideways else "↑") * back + ("→" if sideways else "↓") * forward


def _content(node: Node) -> list[Bounds]:
    """The bounds of the rows or pages, single wrappers passed over."""
    for _ in range(_WRAPPERS):
        if len(node.children) == 1:
            node = node.children[0]
    return [child.bounds for child in node.children if child.bounds.area]


def _is_sideways(node: Node, content: list[Bounds]) -> bool:
    name = node.short_class
    if "Horizontal" in name or "Pager" in name or "orkspace" in name or node.id_tail == "workspace":
        return True
    if "ScrollView" in name or len(content) < 2:
        return False
    first = content[0]
    return all(
        abs(one.top - first.top) <= _SLACK and one.left >= before.right - _SLACK
        for before, one in pairwise(content)
    )


def _more(frame: Bounds, content: list[Bounds], sideways: bool) -> tuple[bool, bool]:
    """Content that goes past an edge, is cut by it, or (forward) reaches it."""
    if len(content) < 2:
        return False, bool(content) and not sideways and content[0].bottom >= frame.bottom - _SLACK
    low, high = (0, 2) if sideways else (1, 3)
    start = min(one[low] for one in content)
    end = max(one[high] for one in content)
    usual = median(one[high] - one[low] for one in content)
    first = content[0]
    cut = abs(first[low] - frame[low]) <= _SLACK and first[high] - first[low] < usual * _CLIPPED
    return start < frame[low] - _SLACK or cut, end >= frame[high] - _SLACK
