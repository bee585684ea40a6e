"""The line of one element, and of a run of like ones that share a line.

Takes elements and refs as given; which lines there are, and how they are indented, is `compact`'s.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from handrail.tree.element.labels import id_name
from handrail.tree.element.parts import JOIN, LABEL, Element
from handrail.tree.node import Bounds
from handrail.tree.quote import cut, plain_enough, quoted

PIECE, PLAIN = 80, 240  # characters of one part of a label, and of a plain line
ECHO = 16  # characters of a label that the line above says whole
_ECHO_SLACK = 8
_NUMERIC = re.compile(r"-?\d+(?:[.,]\d+)?%?")


def element_line(ref: str, element: Element, *, whole: bool = False) -> str:
    """Such as `@f1 "First name" = "Ada" focused`; `whole` lifts the caps."""
    after = _after(element, whole)
    name = _label(element, whole)
    if name and name == element.value:
        name = ""
    elif name:
        name = name if not after and plain_enough(name) else quoted(name)
    else:
        name = element.stand_in
    words = [ref, name, *after] if name else [ref, *after]
    return " ".join(words)


def _label(element: Element, whole: bool) -> str:
    pieces = element.pieces
    if whole or not pieces:
        return JOIN.join(pieces)
    if element.source == "echo":
        label = pieces[0]
        return label if len(label) <= ECHO + _ECHO_SLACK else f"{label[:ECHO].rstrip()}…"
    if len(pieces) == 1:
        return cut(pieces[0], LABEL if len(pieces[0]) <= LABEL else PIECE)
    return cut(JOIN.join([cut(piece, PIECE) for piece in pieces]), LABEL)


def _after(element: Element, whole: bool) -> list[str]:
    words: list[str] = []
    limit = 0 if whole else LABEL
    if element.kind == "f":
        words.append(f"= {quoted(cut(element.value, limit))}" if element.value else "empty")
        if element.hint:
            words.append(f"hint {quoted(cut(element.hint, limit and PIECE))}")
    elif element.value:
        bare = _NUMERIC.fullmatch(element.value)
        words.append(element.value if bare else f"= {quoted(cut(element.value, limit))}")
    words.extend(element.states)
    if element.state:
        words.append(f"state {quoted(cut(element.state, limit and PIECE))}")
    if element.arrows:
        words.append(element.arrows)
    return words


SHORTEST = 3
_FOLD_SLACK = 8  # px by which like elements may differ, because grids are rounded


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
        and abs(mine.bounds.width - its.bounds.width) <= _FOLD_SLACK
        and abs(mine.bounds.height - its.bounds.height) <= _FOLD_SLACK
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
    return 1 + sum(later - earlier > _FOLD_SLACK for earlier, later in pairwise(edges))
