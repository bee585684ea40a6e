"""The failures of `select`: none, several, too few. Each names the elements the caller may have meant.

The nearest labels are found by edit distance, bounded in length and number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from handrail.errors import AmbiguousTarget, ElementNotFound
from handrail.protocol.target import Selector
from handrail.tree.mention import Handles, candidate, mention, receiver
from handrail.tree.node import Node, Screen, ScreenPoint
from handrail.tree.windows import is_input_method, visible

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


def nothing_at(screen: Screen, point: ScreenPoint) -> ElementNotFound:
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


_LENGTH = 60  # characters compared
_MOST = 500  # labels compared
_FAR = 0.7  # share of edits above which two labels have nothing in common


def nearest(wanted: str, labels: Iterable[tuple[str, int]], count: int = 3) -> list[int]:
    """The keys of the closest labels, best first; labels that have nothing in common with it come last."""
    goal = wanted.casefold()[:_LENGTH]
    scored: list[tuple[float, int]] = []
    for number, (label, key) in enumerate(labels):
        if number >= _MOST:
            break
        scored.append((_difference(goal, label.casefold()[:_LENGTH]), key))
    return [key for _, key in sorted(scored)[:count]]


def _difference(goal: str, label: str) -> float:
    """0 for equal, 1 for nothing in common; a label that contains the other is close."""
    longest = max(len(goal), len(label), 1)
    if goal and label and (goal in label or label in goal):
        return 0.5 * abs(len(goal) - len(label)) / longest
    return edit_distance(goal, label, int(longest * _FAR)) / longest


def edit_distance(one: str, other: str, limit: int) -> int:
    """Insertions, deletions and replacements; gives up above `limit` and answers the longer length."""
    longest = max(len(one), len(other))
    if abs(len(one) - len(other)) > limit:
        return longest
    previous = list(range(len(other) + 1))
    for row, char in enumerate(one, 1):
        current = [row]
        for column, other_char in enumerate(other, 1):
            change = previous[column - 1] + (char != other_char)
            current.append(min(change, previous[column] + 1, current[-1] + 1))
        if min(current) > limit:
            return longest
        previous = current
    return previous[-1]
