"""Who is who on two screens: a one-to-one matching of nodes, with no partner where identity is in doubt.

Unmistakable nodes are linked first (`anchor`), then their relatives (`align`); `doubt` takes back what the
surroundings do not support. Two nodes of different class or resource id are never matched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from handrail.tree.match.align import align
from handrail.tree.match.anchor import anchor
from handrail.tree.match.doubt import doubt
from handrail.tree.match.pairing import Pairing
from handrail.tree.match.sketch import Sketch
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
