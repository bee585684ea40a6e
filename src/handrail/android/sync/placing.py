"""Hosts on the screen: dp become pixels, and the window's offset is found by what both sides agree on.

Measurements are relative to a window that may begin below the status bar or not, by architecture and theme.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from handrail.android.sync.hosts import Host
from handrail.tree.node import Bounds, Node

SAME_SIZE_PX = 4
SMALLEST_PX, WIDEST_PX, TALLEST_PX = 10, 1_200, 2_200
LEAST_VOTES = 2
_CELL_PX = 4


class Placed(NamedTuple):
    """A host and where it is, in pixels of the screen."""

    host: Host
    bounds: Bounds


Offset = tuple[int, int]


def place(hosts: Iterable[Host], nodes: Sequence[Node], density: int) -> list[Placed]:
    """Those that were measured, where they are on this screen."""
    factor = density / 160
    measured = [Placed(host, _pixels(host.box, factor)) for host in hosts if host.box is not None]
    x, y = offset(measured, nodes)
    return [Placed(one.host, _moved(one.bounds, x, y)) for one in measured]


def offset(measured: Sequence[Placed], nodes: Sequence[Node]) -> Offset:
    """How far hosts lie from their nodes: by those that are surely the same, else by equal sizes."""
    return (
        _agreed(_sure_pairs(measured, nodes), 1)
        or _agreed(_alike_pairs(measured, nodes), LEAST_VOTES)
        or (0, 0)
    )


def _sure_pairs(measured: Sequence[Placed], nodes: Sequence[Node]) -> Iterator[Offset]:
    """A word that one host and one node have, and no other."""
    by_word: dict[str, list[Placed]] = defaultdict(list)
    for one in measured:
        for word in {one.host.test_id, one.host.text, one.host.props.get("accessibilityLabel", "")} - {""}:
            by_word[word].append(one)
    counted = Counter(word for node in nodes for word in _words(node))
    for node in nodes:
        for word in _words(node):
            if counted[word] == 1 and len(by_word[word]) == 1:
                yield from _difference(by_word[word][0], node)


def _words(node: Node) -> set[str]:
    return {node.id_tail, node.text, node.description} - {""}


def _alike_pairs(measured: Sequence[Placed], nodes: Sequence[Node]) -> Iterator[Offset]:
    for node in nodes:
        width, height = node.bounds.width, node.bounds.height
        if SMALLEST_PX <= width <= WIDEST_PX and SMALLEST_PX <= height <= TALLEST_PX:
            for one in measured:
                yield from _difference(one, node)


def _difference(one: Placed, node: Node) -> Iterator[Offset]:
    """Only between things of one size: a node that an edge has cut says nothing."""
    ours, theirs = one.bounds, node.bounds
    if abs(ours.width - theirs.width) <= SAME_SIZE_PX and abs(ours.height - theirs.height) <= SAME_SIZE_PX:
        yield theirs.left - ours.left, theirs.top - ours.top


def _agreed(votes: Iterable[Offset], least: int) -> Offset | None:
    """The middle of the fullest cell; of equally full ones, the nearest to no offset at all."""
    cells: dict[Offset, list[Offset]] = defaultdict(list)
    for x, y in votes:
        cells[round(x / _CELL_PX), round(y / _CELL_PX)].append((x, y))
    if not cells:
        return None
    best = max(cells.values(), key=lambda cell: (len(cell), -abs(cell[0][0]) - abs(cell[0][1])))
    if len(best) < least:
        return None
    return round(median(x for x, _ in best)), round(median(y for _, y in best))


def _pixels(box: tuple[float, float, float, float] | None, factor: float) -> Bounds:
    x, y, width, height = box or (0.0, 0.0, 0.0, 0.0)
    return Bounds(
        round(x * factor), round(y * factor), round((x + width) * factor), round((y + height) * factor)
    )


def _moved(bounds: Bounds, x: int, y: int) -> Bounds:
    return Bounds(bounds.left + x, bounds.top + y, bounds.right + x, bounds.bottom + y)
