"""The failures of `select`: none, several, too few. Each names the elements the caller may have meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from handrail.errors import AmbiguousTarget, ElementNotFound
from handrail.protocol.target import Selector
from handrail.tree.mention import candidate, mention, receiver
from handrail.tree.node import Node, Point, Screen
from handrail.tree.packages import is_input_method
from handrail.tree.select.handles import Handles
from handrail.tree.select.nearest import nearest
from handrail.tree.visible import visible

_LISTED = 8  # candidates in a message


def ambiguous(selector: Selector, nodes: list[Node], every: list[Node], handles: Handles) -> AmbiguousTarget:
    """Several match equally well; `every` also holds the worse ones, which `index` counts."""
    indexes = {node: index for index, node in enumerate(every)}
    return AmbiguousTarget(
        f"{len(nodes)} elements match equally well: {mentions(nodes, handles)}",
        selector=said(selector),
        candidates=[
            candidate(node, ref_near(node, handles), index=indexes[node]) for node in nodes[:_LISTED]
        ],
    )


def no_such_index(selector: Selector, nodes: list[Node], handles: Handles) -> ElementNotFound:
    """The selector matches, and its index is beyond the last match."""
    count = f"Only {len(nodes)} elements match" if len(nodes) > 1 else "Only one element matches"
    return ElementNotFound(
        f"{count}, there is no index {selector.index}: {mentions(nodes, handles)}",
        hint=f"Use an index from 0 to {len(nodes) - 1}." if len(nodes) > 1 else "Leave `index` out.",
        selector=said(selector),
        candidates=candidates(nodes, handles),
    )


def not_found(screen: Screen, selector: Selector, handles: Handles) -> ElementNotFound:
    """Nothing matches; the three nearest are listed."""
    close = nearest_nodes(screen, _wanted(selector), handles)
    tail = f"; nearest: {mentions(close, handles)}" if close else ""
    return ElementNotFound(
        f"No element matches {said(selector)}{tail}",
        selector=said(selector),
        candidates=candidates(close, handles),
    )


def nothing_at(screen: Screen, point: Point) -> ElementNotFound:
    """A point outside everything."""
    return ElementNotFound(
        f"Nothing is at {point.x},{point.y}: the screen is {screen.width}x{screen.height}",
        selector={"x": point.x, "y": point.y},
    )


def said(selector: Selector) -> dict[str, Any]:
    """The selector as the caller gave it."""
    return selector.model_dump(exclude_none=True)


def candidates(nodes: Sequence[Node], handles: Handles) -> list[dict[str, Any]]:
    """Elements as data for an error's details."""
    return [candidate(node, ref_near(node, handles)) for node in nodes[:_LISTED]]


def mentions(nodes: Sequence[Node], handles: Handles) -> str:
    """Elements in a sentence."""
    listed = [mention(node, ref_near(node, handles)) for node in nodes[:_LISTED]]
    more = len(nodes) - len(listed)
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")


def ref_near(node: Node, handles: Handles) -> str | None:
    """The node's own ref, or that of the row it belongs to."""
    touched = receiver(node)
    return handles.ref_of(node) or (handles.ref_of(touched) if touched else None)


def _wanted(selector: Selector) -> str:
    fields = (selector.text, selector.text_contains, selector.description, selector.hint, selector.state)
    return next((one for one in fields if one), None) or selector.id or selector.id_contains or ""


def nearest_nodes(screen: Screen, wanted: str, handles: Handles) -> list[Node]:
    """Up to three visible elements whose label or id comes closest."""
    if not wanted:
        return []
    shown = visible(screen)
    labels: list[tuple[str, int]] = []
    listed: set[tuple[Node, str]] = set()
    for node in screen.nodes:
        label = node.text or node.description or handles.label_of(node) or node.id_tail
        if shown[node.order] and label and not is_input_method(node.package_name):
            touched = receiver(node) or node
            if (touched, label) not in listed:  # a row and the text in it are one candidate
                listed.add((touched, label))
                labels.append((label, node.order))
    return [screen.nodes[order] for order in nearest(wanted, labels)]
