"""From a target to one element of a screen, or to a failure that tells the caller how to go on.

Works over the whole tree. Refs and compact labels belong to the session; they come in as `Handles`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from handrail.errors import ElementNotFound
from handrail.protocol.target import Point as PointTarget
from handrail.protocol.target import Selector
from handrail.tree.mention import receiver
from handrail.tree.node import ENABLED, Node, Point, Screen
from handrail.tree.reach import element_at, tap_point
from handrail.tree.select.grade import BY_LABEL, EXACT, NOTES, Wish
from handrail.tree.select.handles import NO_HANDLES, Handles
from handrail.tree.select.missed import ambiguous, no_such_index, not_found, nothing_at
from handrail.tree.select.relate import RELATIONS, distance, related, room_of
from handrail.tree.visible import visible

_DEEPEST = 8  # selectors inside selectors
_CONTROLS = frozenset({"text_field", "switch", "check_box", "radio_button", "slider", "spinner"})
_HOW = ("exact", "label", "part", "ignoring_case")  # by grade


@dataclass(frozen=True, slots=True)
class Found:
    """One element, how it was found, and where to touch it."""

    screen: Screen
    node: Node
    how: str
    """ref, point, exact, label, part or ignoring_case."""
    handles: Handles
    notes: list[str] = field(default_factory=list)
    place: Point | None = None
    """Given by the caller; decides alone where to touch."""

    @property
    def receiver(self) -> Node:
        """What a tap reaches: the node, or the row that a plain text belongs to."""
        return receiver(self.node) or self.node

    @property
    def point(self) -> Point:
        """Where to touch. Raises `ElementNotInteractable`."""
        return self.place or tap_point(self.screen, self.node, self.handles.ref_of)


@dataclass(frozen=True, slots=True)
class _Matches:
    """The nodes with the best grade, in document order, and the anchors they were measured by."""

    nodes: list[Node]
    grade: int
    anchors: Mapping[str, Node]


def find(screen: Screen, target: Selector | PointTarget, handles: Handles = NO_HANDLES) -> Found:
    """The one element a target means. Raises `ElementNotFound`, `StaleReference` or `AmbiguousTarget`."""
    return _find(screen, target, handles, _DEEPEST)


def find_all(screen: Screen, target: Selector | PointTarget, handles: Handles = NO_HANDLES) -> list[Node]:
    """Every element that matches equally well, in document order; [] for none."""
    if isinstance(target, PointTarget):
        node = element_at(screen, target.x, target.y)
        return [node] if node else []
    if target.handle:
        return [handles.resolve(target.handle)]
    return _matches(screen, target, handles, _DEEPEST).nodes


def _find(screen: Screen, target: Selector | PointTarget, handles: Handles, depth: int) -> Found:
    if isinstance(target, PointTarget):
        return _at_point(screen, Point(target.x, target.y), handles)
    if target.handle:
        return Found(screen, handles.resolve(target.handle), "ref", handles)
    matches = _matches(screen, target, handles, depth)
    if not matches.nodes:
        raise not_found(screen, target, handles)
    if target.index is None:
        node = _only_one(screen, target, matches, handles)
    elif target.index < len(matches.nodes):
        node = matches.nodes[target.index]
    else:
        raise no_such_index(target, matches.nodes, handles)
    notes = [NOTES[matches.grade]] if matches.grade in NOTES else []
    return Found(screen, node, _HOW[matches.grade], handles, notes)


def _at_point(screen: Screen, point: Point, handles: Handles) -> Found:
    node = element_at(screen, *point)
    if node is None:
        raise nothing_at(screen, point)
    return Found(screen, node, "point", handles, place=point)


def _matches(screen: Screen, selector: Selector, handles: Handles, depth: int) -> _Matches:
    nodes = screen.nodes
    if selector.within is not None:
        nodes = screen.inside(room_of(_anchor(screen, selector.within, handles, depth)))
    wish = Wish.of(selector)
    graded = [(grade, node) for node in nodes if (grade := wish.grade(node, handles.label_of)) is not None]
    anchors = {
        relation: _anchor(screen, target, handles, depth)
        for relation in RELATIONS
        if (target := getattr(selector, relation)) is not None
    }
    for relation, anchor in anchors.items():
        graded = [(grade, node) for grade, node in graded if related(node, relation, anchor)]
    best = _best_grade(graded)
    return _Matches([node for grade, node in graded if grade == best], best, anchors)


def _best_grade(graded: list[tuple[int, Node]]) -> int:
    """The lowest there is; but a caption that nobody could tap gives way to the control it names."""
    best = min((grade for grade, _ in graded), default=EXACT)
    if best == EXACT and any(grade == BY_LABEL and node.role in _CONTROLS for grade, node in graded):
        captions = [node for grade, node in graded if grade == EXACT]
        if all(receiver(node) is None and not node.scrollable for node in captions):
            return BY_LABEL
    return best


def _anchor(screen: Screen, target: Selector | PointTarget, handles: Handles, depth: int) -> Node:
    if depth <= 0:
        raise ElementNotFound("The selector is nested too deeply", hint="Use a ref instead.")
    return _find(screen, target, handles, depth - 1).node


def _only_one(screen: Screen, selector: Selector, matches: _Matches, handles: Handles) -> Node:
    nodes = matches.nodes
    if len(nodes) == 1:
        return nodes[0]
    ranks = _ranks(screen, nodes)
    best = min(ranks)
    good = [node for node, rank in zip(nodes, ranks, strict=True) if rank == best]
    for anchor in matches.anchors.values():
        good = _closest(good, anchor)
    good = _one_per_receiver(good)
    if len(good) > 1:
        raise ambiguous(selector, good, nodes, handles)
    return good[0]


def _ranks(screen: Screen, nodes: list[Node]) -> list[int]:
    """0 visible, enabled and actionable; 1 visible and enabled; 2 visible; 3 not visible."""
    shown = visible(screen)
    ranks = []
    for node in nodes:
        touched = receiver(node)
        enabled = node.flags & ENABLED and (touched is None or touched.flags & ENABLED)
        if not shown[node.order]:
            ranks.append(3)
        elif not enabled:
            ranks.append(2)
        else:
            ranks.append(0 if touched is not None or node.scrollable else 1)
    return ranks


def _closest(nodes: list[Node], anchor: Node) -> list[Node]:
    far = [distance(node.bounds, anchor.bounds) for node in nodes]
    return [node for node, pixels in zip(nodes, far, strict=True) if pixels == min(far)]


def _one_per_receiver(nodes: list[Node]) -> list[Node]:
    """A row and the text in it are one target; the innermost says best where to touch."""
    kept: dict[Node, Node] = {}
    for node in nodes:
        touched = receiver(node) or node
        held = kept.get(touched)
        if held is None or node.is_inside(held):
            kept[touched] = node
    return list(kept.values())
