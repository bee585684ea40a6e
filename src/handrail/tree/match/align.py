"""Links the children of linked parents, top-down: the only ones of their kind, then by place
between linked siblings.

What it links is a proposal; `doubt` takes back what the labels around do not support.
"""

from __future__ import annotations

from collections.abc import Sequence

from handrail.tree.match.anchor import once
from handrail.tree.match.drift import displacement
from handrail.tree.match.pairing import Pairing
from handrail.tree.node import Node


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
