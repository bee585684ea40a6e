"""Who is who on two screens: a one-to-one matching of nodes, with no partner where identity is in doubt.

Unmistakable nodes are linked first (`anchor`), then the children of linked parents (`align`). Both only
propose: `doubt` takes back what the labels around do not support. Nodes of
different class or resource id are never matched.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from handrail.tree.match.doubt import doubt
from handrail.tree.match.drift import displacement
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
        return self.new.nodes[partner] if partner >= 0 else None

    def old_of(self, node: Node) -> Node | None:
        partner = self.to_old[node.order]
        return self.old.nodes[partner] if partner >= 0 else None

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """In the old screen's document order."""
        for order, partner in enumerate(self.to_new):
            if partner >= 0:
                yield self.old.nodes[order], self.new.nodes[partner]


def match(old: Screen | Sketch, new: Screen | Sketch) -> Matching:
    """Matches two screens; a sketch already made of one saves making it again."""
    pairing = Pairing(_sketch(old), _sketch(new))
    if pairing.old.tree[0] == pairing.new.tree[0]:
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
    _align_windows(pairing)
    for node in old:
        partner = pairing.to_new[node.order]
        if partner >= 0 and node.children and new[partner].children:
            if pairing.old.tree[node.order] == pairing.new.tree[partner]:
                pairing.link_subtrees(node.order, partner)
            else:
                _align_children(pairing, node.children, new[partner].children)


def _align_windows(pairing: Pairing) -> None:
    """A second window puts a virtual root above the first one, so roots are compared as lists of windows."""
    old, new = pairing.old.screen.windows, pairing.new.screen.windows
    if pairing.alike(0, 0):
        pairing.link(0, 0)
    elif len(old) != len(new) or old[0].order != new[0].order:
        _align_children(pairing, old, new)


def _align_children(pairing: Pairing, old: Sequence[Node], new: Sequence[Node]) -> None:
    free_old = [node.order for node in old if pairing.to_new[node.order] < 0]
    free_new = [node.order for node in new if pairing.to_old[node.order] < 0]
    if not free_old or not free_new:
        return
    _link_only_ones(pairing, free_old, free_new, pairing.old.tree, pairing.new.tree)
    _link_only_ones(pairing, free_old, free_new, pairing.old.key, pairing.new.key)
    new_gaps = _gaps(new, pairing.to_old, None)
    for gap, orders in _gaps(old, pairing.to_new, pairing.to_new).items():
        if gap in new_gaps:
            _fill_gap(pairing, gap, orders, new_gaps[gap])


def _link_only_ones(
    pairing: Pairing, old: Sequence[int], new: Sequence[int], old_keys: Sequence[int], new_keys: Sequence[int]
) -> None:
    """Links what is alone with its key among the children still without a partner."""
    new_once = once([(new_keys[order], order) for order in new if pairing.to_old[order] < 0])
    for key, order in once([(old_keys[order], order) for order in old if pairing.to_new[order] < 0]).items():
        if key in new_once:
            pairing.link(order, new_once[key])


def _gaps(
    children: Sequence[Node], linked: Sequence[int], names: Sequence[int] | None
) -> dict[tuple[int, int], list[int]]:
    """Runs without partner, named by the linked siblings before and after (as orders in the new screen)."""
    gaps: dict[tuple[int, int], list[int]] = {}
    before, run = -1, list[int]()
    for child in children:
        order = child.order
        if linked[order] < 0:
            run.append(order)
            continue
        name = order if names is None else names[order]
        if run:
            gaps[before, name] = run
            run = []
        before = name
    if run:
        gaps[before, -1] = run
    return gaps


def _fill_gap(pairing: Pairing, gap: tuple[int, int], old: list[int], new: list[int]) -> None:
    if len(old) == len(new) and all(map(pairing.alike, old, new)):
        for pair in zip(old, new, strict=True):
            pairing.link(*pair)
        return
    if pairing.old.unit[old[0]] == old[0]:
        _walk_from_anchors(pairing, gap, old, new)
    nodes = pairing.old.nodes
    old_once = once([((nodes[o].class_name, nodes[o].resource_id), o) for o in old if pairing.to_new[o] < 0])
    nodes = pairing.new.nodes
    new_once = once([((nodes[n].class_name, nodes[n].resource_id), n) for n in new if pairing.to_old[n] < 0])
    for key, order in old_once.items():
        partner = new_once.get(key, -1)
        if partner >= 0 and (
            nodes[partner].resource_id or pairing.old.label[order] == pairing.new.label[partner]
        ):
            pairing.link(order, partner)


def _walk_from_anchors(pairing: Pairing, gap: tuple[int, int], old: list[int], new: list[int]) -> None:
    """In a list, a row next to a linked row is the same one if it moved just as far.

    Walked from both ends; a row that both ends claim for different partners is linked to neither.
    """
    claims = _walk(pairing, gap[0], old, new) + _walk(pairing, gap[1], old[::-1], new[::-1])
    old_once = once([(o, n) for o, n in set(claims)])
    new_once = once([(n, o) for o, n in set(claims)])
    for order, partner in old_once.items():
        if new_once.get(partner) == order:
            pairing.link(order, partner)


def _walk(pairing: Pairing, anchor: int, old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    if anchor < 0:
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
    return {key: order for key, order in found.items() if order >= 0}


def _link_subtrees(pairing: Pairing) -> None:
    """Largest first: document order meets a subtree before its parts."""
    new_once = once(_subtrees(pairing.new))
    for tree, order in once(_subtrees(pairing.old)).items():
        if pairing.to_new[order] < 0 and tree in new_once:
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
        if pairing.to_new[order] < 0 and key in new_once:
            pairing.link(order, new_once[key])


def _lift(pairing: Pairing) -> None:
    """Bottom-up, so that a whole chain of containers follows its content."""
    new_nodes, to_new = pairing.new.nodes, pairing.to_new
    for node in reversed(pairing.old.nodes):
        if to_new[node.order] >= 0 or not node.children:
            continue
        votes: dict[int, int] = {}
        for child in node.children:
            partner = to_new[child.order]
            if partner >= 0:
                parent = new_nodes[partner].parent
                if parent is not None:
                    weight = 1 + pairing.old.counted[child.end] - pairing.old.counted[child.order]
                    votes[parent.order] = votes.get(parent.order, 0) + weight
        if votes:
            best = max(votes, key=votes.__getitem__)
            if pairing.alike(node.order, best):
                pairing.link(node.order, best)
