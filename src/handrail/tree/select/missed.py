"""The failures of `select`: none, several, too few. Each names the elements the caller may have meant.

An element may have been meant when its label (its id, where an id was asked for) is a slip of the pen away,
begins alike, or when one of both has all the words of the other. None is better than one that nobody meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from handrail.errors import AmbiguousTarget, ElementNotFound
from handrail.protocol.target import Selector
from handrail.tree.mention import Handles, candidate, mention, receiver
from handrail.tree.node import Node, Screen, ScreenPoint
from handrail.tree.windows import is_input_method, visible

_LISTED = 8  # candidates in a message
MEANT = "Did you mean"
"""Begins a hint that names the candidates."""


def ambiguous(selector: Selector, nodes: list[Node], every: list[Node], handles: Handles) -> AmbiguousTarget:
    """Several match equally well; `every` also holds the worse ones, which `index` counts."""
    indexes = {node: index for index, node in enumerate(every)}
    return AmbiguousTarget(
        f"{len(nodes)} elements match {selector} equally well",
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
    words = _wanted(selector)
    close = nearest_nodes(screen, words or _id(selector), handles, by_id=not words)
    return ElementNotFound(
        f"No element matches {selector}",
        hint=did_you_mean(close, handles),
        selector=said(selector),
        candidates=candidates(close, handles),
    )


def did_you_mean(nodes: Sequence[Node], handles: Handles) -> str | None:
    """The hint that names them; None, which is the code's own hint, where nothing is alike."""
    return f"{MEANT} {mentions(nodes, handles, ' or ')}?" if nodes else None


def nothing_at(screen: Screen, point: ScreenPoint) -> ElementNotFound:
    """A point outside everything."""
    return ElementNotFound(
        f"Nothing is at {point.x},{point.y}: the screen is {screen.width}x{screen.height}",
        hint="Give a point on the screen, or name an element.",
        selector={"x": point.x, "y": point.y},
    )


def said(selector: Selector) -> dict[str, Any]:
    """The selector as the caller gave it."""
    return selector.model_dump(exclude_none=True)


def candidates(nodes: Sequence[Node], handles: Handles) -> list[dict[str, Any]]:
    """Elements as data for an error's details."""
    return [candidate(node, ref_near(node, handles)) for node in nodes[:_LISTED]]


def mentions(nodes: Sequence[Node], handles: Handles, between: str = ", ") -> str:
    """Elements in a sentence."""
    listed = [mention(node, ref_near(node, handles)) for node in nodes[:_LISTED]]
    more = len(nodes) - len(listed)
    return between.join(listed) + (f" and {more} more" if more > 0 else "")


def ref_near(node: Node, handles: Handles) -> str | None:
    """The node's own ref, or that of the row it belongs to."""
    touched = receiver(node)
    return handles.ref_of(node) or (handles.ref_of(touched) if touched else None)


def _wanted(selector: Selector) -> str:
    fields = (selector.text, selector.text_contains, selector.description, selector.hint, selector.state)
    return next((one for one in fields if one), "")


def _id(selector: Selector) -> str:
    return (selector.id or selector.id_contains or "").rpartition("/")[2]


def nearest_nodes(screen: Screen, wanted: str, handles: Handles, *, by_id: bool = False) -> list[Node]:
    """Up to three visible elements whose label, or id, is like it; none where none is."""
    if not wanted:
        return []
    shown = visible(screen)
    labels: list[tuple[str, int]] = []
    for node in screen.nodes:
        label = node.id_tail if by_id else node.text or node.description or handles.label_of(node)
        if shown[node.order] and label and not is_input_method(node.package_name):
            labels.append((label, node.order))
    found = [screen.nodes[order] for order in nearest(wanted, labels, count=_MOST)]
    # A row and the text in it are one candidate.
    return list({receiver(node) or node: node for node in reversed(found)}.values())[::-1][:3]


_LENGTH = 60  # characters compared
_MOST = 500  # labels compared
_ALIKE = 1 / 3
"""Share of letters that a slip may change: `Dispaly` is `Display`, `Zebra` is not `Storage`."""
_WORD = re.compile(r"\w+")


def nearest(wanted: str, labels: Iterable[tuple[str, int]], count: int = 3) -> list[int]:
    """The keys of the labels that are alike, best first."""
    goal = wanted.casefold()[:_LENGTH]
    scored = [
        (difference, key)
        for label, key in islice(labels, _MOST)
        if (difference := _difference(goal, label.casefold()[:_LENGTH])) <= _ALIKE
    ]
    return [key for _, key in sorted(scored)[:count]]


def _difference(goal: str, label: str) -> float:
    """0 for equal, 1 for nothing in common."""
    longest = max(len(goal), len(label), 1)
    if _share_words(goal, label):
        return _ALIKE * abs(len(goal) - len(label)) / longest
    return edit_distance(goal, label, int(longest * _ALIKE)) / longest


def _share_words(goal: str, label: str) -> bool:
    """They begin alike, or one has all the words of the other."""
    words, others = _WORD.findall(goal), _WORD.findall(label)
    if not words or not others:
        return False
    begins = min(len(goal), len(label)) > 1 and (goal.startswith(label) or label.startswith(goal))
    same = words[0] == others[0] and len(words[0]) > 2
    return begins or same or set(words) <= set(others) or set(others) <= set(words)


def edit_distance(one: str, other: str, limit: int) -> int:
    """Insertions, deletions, replacements and neighbours that changed places; gives up above `limit` and
    answers the longer length.
    """
    longest = max(len(one), len(other))
    if abs(len(one) - len(other)) > limit:
        return longest
    before, previous = [0], list(range(len(other) + 1))
    for row, char in enumerate(one, 1):
        current = [row]
        for column, other_char in enumerate(other, 1):
            change = previous[column - 1] + (char != other_char)
            best = min(change, previous[column] + 1, current[-1] + 1)
            if row > 1 and column > 1 and char == other[column - 2] and one[row - 2] == other_char:
                best = min(best, before[column - 2] + 1)
            current.append(best)
        if min(current) > limit:
            return longest
        before, previous = previous, current
    return previous[-1]
