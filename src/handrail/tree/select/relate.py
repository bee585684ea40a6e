"""Where one element stands to another: inside it, beside it, above it, near it. Geometry and tree only."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from handrail.tree.mention import touchable
from handrail.tree.node import Bounds, Node

_SLACK_PX = 2

Relation = Callable[[Bounds, Bounds], bool]


def _left_of(one: Bounds, anchor: Bounds) -> bool:
    return one.right <= anchor.left + _SLACK_PX and _share_rows(one, anchor)


def _right_of(one: Bounds, anchor: Bounds) -> bool:
    return one.left >= anchor.right - _SLACK_PX and _share_rows(one, anchor)


def _above(one: Bounds, anchor: Bounds) -> bool:
    return one.bottom <= anchor.top + _SLACK_PX and _share_columns(one, anchor)


def _below(one: Bounds, anchor: Bounds) -> bool:
    return one.top >= anchor.bottom - _SLACK_PX and _share_columns(one, anchor)


def _anywhere(one: Bounds, anchor: Bounds) -> bool:
    return bool(one.area or anchor.area)


def _share_rows(one: Bounds, other: Bounds) -> bool:
    return one.top < other.bottom and other.top < one.bottom


def _share_columns(one: Bounds, other: Bounds) -> bool:
    return one.left < other.right and other.left < one.right


RELATIONS: Mapping[str, Relation] = {
    "left_of": _left_of,
    "right_of": _right_of,
    "above": _above,
    "below": _below,
    "near": _anywhere,
}
"""By the selector's field."""


def related(node: Node, relation: str, anchor: Node) -> bool:
    """Whether it stands so to the anchor and is neither around it nor inside it."""
    if node is anchor or node.is_inside(anchor) or anchor.is_inside(node):
        return False
    return RELATIONS[relation](node.bounds, anchor.bounds)


def distance(one: Bounds, other: Bounds) -> tuple[int, int]:
    """Pixels between the nearest edges; between the centres, for those equally near."""
    across = max(0, one.left - other.right, other.left - one.right)
    down = max(0, one.top - other.bottom, other.top - one.bottom)
    centres = abs(one.center.x - other.center.x) + abs(one.center.y - other.center.y)
    return across + down, centres


def room_of(node: Node) -> Node:
    """What `within` looks into: the element, or for one with nothing inside the row it belongs to."""
    if node.children:
        return node
    for around in node.ancestors():
        if touchable(around) or around.role == "list_item":
            return around
    return node.parent or node
