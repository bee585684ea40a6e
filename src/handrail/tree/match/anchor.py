"""Links what is unmistakable wherever it stands: subtrees, labels and ids that each screen has exactly once.

Then lifts: a container whose children found their partners below one container goes with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

from handrail.tree.match.pairing import Pairing
from handrail.tree.match.sketch import Sketch

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
