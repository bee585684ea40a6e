"""Who is who on two screens: a one-to-one matching of nodes, with no partner where identity is in doubt.

Unmistakable nodes are linked first (`anchor`), then the children of linked parents (`align`). Both only
propose: `doubt` takes back what the labels around do not support, and `verdict` what is no longer the same
element. Nodes of different class or resource id are never matched.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from handrail.tree.match.doubt import doubt
from handrail.tree.match.drift import displacement
from handrail.tree.match.native import link_named
from handrail.tree.match.sketch import Pairing, Sketch
from handrail.tree.node import Node, Screen


@dataclass(frozen=True, slots=True)
class Scroll:
    """The rows of a scroll container moved; positive is right and down, in pixels."""

    old: Node
    new: Node
    dx: int
    dy: int


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """One-to-one between the nodes of two screens."""

    old: Screen
    new: Screen
    to_new: list[int]  # old order -> new order, or -1
    to_old: list[int]
    scrolls: list[Scroll]

    def new_of(self, node: Node) -> Node | None:
        partner = self.to_new[node.order]
        return None if partner == -1 else self.new.nodes[partner]

    def old_of(self, node: Node) -> Node | None:
        partner = self.to_old[node.order]
        return None if partner == -1 else self.old.nodes[partner]

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """In the old screen's document order."""
        for order, partner in enumerate(self.to_new):
            if partner != -1:
                yield self.old.nodes[order], self.new.nodes[partner]


def match(old: Screen | Sketch, new: Screen | Sketch) -> Matching:
    """Matches two screens; a sketch already made of one saves making it again."""
    pairing = Pairing(_sketch(old), _sketch(new))
    if link_named(pairing):
        pass  # a name says more than any place
    elif pairing.old.tree[0] == pairing.new.tree[0]:
        pairing.link_subtrees(0, 0)
    else:
        anchor(pairing)
        align(pairing)
    drifts = doubt(pairing)
    scrolls = []
    for order, drift in drifts.items():
        dx, dy = drift.shift
        if dx or dy:
            scrolls.append(Scroll(pairing.old.nodes[order], pairing.new.nodes[pairing.to_new[order]], dx, dy))
    return Matching(pairing.old.screen, pairing.new.screen, pairing.to_new, pairing.to_old, scrolls)


def _sketch(screen: Screen | Sketch) -> Sketch:
    return screen if isinstance(screen, Sketch) else Sketch(screen)


def align(pairing: Pairing) -> None:
    """Document order: a parent is always done before its children."""
    old, new = pairing.old.nodes, pairing.new.nodes
    if pairing.alike(0, 0):
        pairing.link(0, 0)
    for node in old:
        partner = pairing.to_new[node.order]
        if partner != -1:
            if pairing.old.tree[node.order] == pairing.new.tree[partner]:
                pairing.link_subtrees(node.order, partner)
            else:
                _align_children(pairing, node.children, new[partner].children)


def _align_children(pairing: Pairing, old: Sequence[Node], new: Sequence[Node]) -> None:
    """Links what looks like none of its siblings first; what is between linked siblings then."""
    old_looks, new_looks = _looks(pairing.old, old, pairing.to_new), _looks(pairing.new, new, pairing.to_old)
    if not old_looks or not new_looks:
        return  # saves time: most are linked already
    _link_once(pairing, old_looks, new_looks)
    new_gaps = _gaps(new, pairing.to_old, range(len(pairing.to_old)))
    for gap, orders in _gaps(old, pairing.to_new, pairing.to_new).items():
        if gap in new_gaps:
            _fill_gap(pairing, gap, orders, new_gaps[gap])


def _looks(sketch: Sketch, children: Sequence[Node], linked: Sequence[int]) -> list[tuple[int, int]]:
    return [(sketch.tree[node.order], node.order) for node in children if linked[node.order] == -1]


Gap = tuple[int | None, int | None]


def _gaps(children: Sequence[Node], linked: Sequence[int], names: Sequence[int]) -> dict[Gap, list[int]]:
    """Runs without partner, named by the linked siblings before and after (as orders in the new screen)."""
    gaps: dict[Gap, list[int]] = {}
    before, run = None, list[int]()
    for child in children:
        if linked[child.order] == -1:
            run.append(child.order)
        else:
            gaps[before, names[child.order]] = run
            before, run = names[child.order], []
    gaps[before, None] = run
    return gaps


def _fill_gap(pairing: Pairing, gap: Gap, old: list[int], new: list[int]) -> None:
    """As many of the same kinds on both sides are the same; else only what is alone of its kind."""
    if len(old) == len(new) and all(map(pairing.alike, old, new)):
        for pair in zip(old, new, strict=True):
            pairing.link(*pair)
        return
    if old and pairing.old.unit[old[0]] == old[0]:
        _walk_from_anchors(pairing, gap, old, new)
    free_old = [order for order in old if pairing.to_new[order] == -1]
    free_new = [order for order in new if pairing.to_old[order] == -1]
    _link_once(pairing, _kinds(pairing.old, free_old), _kinds(pairing.new, free_new))


def _kinds(sketch: Sketch, orders: Sequence[int]) -> list[tuple[tuple[str, str, str], int]]:
    """Class and id; without an id the label belongs to it."""
    nodes, label = sketch.nodes, sketch.label
    return [
        ((nodes[order].class_name, nodes[order].resource_id, nodes[order].resource_id or label[order]), order)
        for order in orders
    ]


def _walk_from_anchors(pairing: Pairing, gap: Gap, old: list[int], new: list[int]) -> None:
    """In a list, a row next to a linked row is the same one if it moved just as far.

    Walked from both ends; a row that both ends claim for different partners is linked to neither.
    """
    claims = {*_walk(pairing, gap[0], old, new), *_walk(pairing, gap[1], old[::-1], new[::-1])}
    new_once = once([(n, o) for o, n in claims])
    for order, partner in once(claims).items():
        if partner in new_once:
            pairing.link(order, partner)


def _walk(pairing: Pairing, anchor: int | None, old: list[int], new: list[int]) -> list[tuple[int, int]]:
    if anchor is None:
        return []
    drift = displacement(pairing, pairing.to_old[anchor], anchor)
    claims = []
    for o, n in zip(old, new, strict=False):
        if pairing.old.key[o] != pairing.new.key[n] or not displacement(pairing, o, n).agrees(drift):
            break
        claims.append((o, n))
    return claims


Key = TypeVar("Key", bound=Hashable)


def anchor(pairing: Pairing) -> None:
    """The strongest evidence first."""
    _link_subtrees(pairing)
    _link_once(pairing, _keys(pairing.old), _keys(pairing.new))
    _link_once(pairing, _ids(pairing.old), _ids(pairing.new))
    _lift(pairing)


def once(keyed: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    """Key to order, for the keys that occur exactly once."""
    found: dict[Key, int] = {}
    for key, order in keyed:
        found[key] = -1 if key in found else order
    return {key: order for key, order in found.items() if order != -1}


def _link_subtrees(pairing: Pairing) -> None:
    """Largest first: document order meets a subtree before its parts."""
    new_once = once(_subtrees(pairing.new))
    for tree, order in once(_subtrees(pairing.old)).items():
        if pairing.to_new[order] == -1 and tree in new_once:
            pairing.link_subtrees(order, new_once[tree])


def _subtrees(sketch: Sketch) -> list[tuple[int, int]]:
    named = sketch.named
    return [(tree, order) for order, tree in enumerate(sketch.tree) if named[order]]


def _keys(sketch: Sketch) -> list[tuple[int, int]]:
    label = sketch.label
    return [(key, order) for order, key in enumerate(sketch.key) if label[order]]


def _ids(sketch: Sketch) -> list[tuple[tuple[str, str], int]]:
    return [
        ((node.class_name, node.resource_id), order)
        for order, node in enumerate(sketch.nodes)
        if node.resource_id
    ]


def _link_once(pairing: Pairing, old: Iterable[tuple[Key, int]], new: Iterable[tuple[Key, int]]) -> None:
    new_once = once(new)
    for key, order in once(old).items():
        if key in new_once:
            pairing.link(order, new_once[key])


def _lift(pairing: Pairing) -> None:
    """Bottom-up, so that a whole chain of containers follows its content."""
    new_nodes, to_new = pairing.new.nodes, pairing.to_new
    free = [node for node in pairing.old.nodes if node.children and to_new[node.order] == -1]
    for node in reversed(free):
        votes: dict[int, int] = {}
        for child in node.children:
            partner = to_new[child.order]
            parent = None if partner == -1 else new_nodes[partner].parent
            if parent is not None:
                votes[parent.order] = votes.get(parent.order, 0) + 1
        if votes:
            best = max(votes, key=votes.__getitem__)
            if pairing.alike(node.order, best):
                pairing.link(node.order, best)
