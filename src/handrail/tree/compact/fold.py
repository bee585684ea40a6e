"""Runs of nameless like elements, such as the days of a calendar, become one line with a range of refs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from handrail.tree.element.labels import id_name
from handrail.tree.element.parts import Element
from handrail.tree.node import Bounds

SHORTEST = 3
_SLACK = 8  # px by which like elements may differ, because grids are rounded


def can_fold(element: Element) -> bool:
    """Keys of the keyboard, and what says nothing and holds nothing; a value or a state is worth its line."""
    if element.is_key:
        return True
    return bool(element.stand_in) and not (element.inner or element.texts or element.value or element.state)


def are_alike(one: Element, other: Element) -> bool:
    """Same kind, class, id and states, in the same box, and of about the same size; or both keys."""
    if one.kind != other.kind or one.is_key != other.is_key:
        return False
    mine, its = one.node, other.node
    return one.is_key or (
        one.parent is other.parent
        and mine.class_name == its.class_name
        and mine.resource_id == its.resource_id
        and one.states == other.states
        and abs(mine.bounds.width - its.bounds.width) <= _SLACK
        and abs(mine.bounds.height - its.bounds.height) <= _SLACK
    )


def folded(run: Sequence[Element], refs: Sequence[str]) -> str:
    """`@g3-44 42× month_view_background 7x6`, or `@b7-40 34× keyboard`."""
    first = run[0]
    words = [ref_range(refs), f"{len(run)}×"]
    if first.is_key:
        return " ".join([*words, "keyboard"])
    name = id_name(first.node) or first.stand_in
    return " ".join([*words, name, grid([element.node.bounds for element in run]), *first.states])


def ref_range(refs: Sequence[str]) -> str:
    """`@g3-9`, or `@g3-5,8-9` where numbers are missing; all refs share a letter."""
    spans: list[list[int]] = []
    for ref in refs:
        number = int(ref[2:])
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return refs[0][:2] + ",".join(f"{low}-{high}" if high > low else f"{low}" for low, high in spans)


def grid(places: Sequence[Bounds]) -> str:
    """Columns x rows by the distinct left and top edges."""
    return f"{_distinct([one.left for one in places])}x{_distinct([one.top for one in places])}"


def _distinct(edges: list[int]) -> int:
    edges.sort()
    return 1 + sum(later - earlier > _SLACK for earlier, later in pairwise(edges))
