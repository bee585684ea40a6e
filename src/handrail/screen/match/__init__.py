"""Who is who on two screens: a one-to-one matching of nodes, with no partner where identity is in doubt.

Unmistakable nodes are linked first (`anchor`), then the children of linked parents (`align`). Both only
propose: `doubt` takes back what the labels around do not support, and `verdict` what is no longer the same
element. Nodes of different class or resource id are never matched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeVar

from handrail.screen.match.features import Links, ScreenFeatures
from handrail.screen.match.rows import displacement
from handrail.screen.match.rules import drop_unsupported_links, link_native_ids
from handrail.screen.node import Node, Screen


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
        for order, partner in enumerate(self.to_new):
            if partner != -1:
                yield self.old.nodes[order], self.new.nodes[partner]


def match(old: Screen | ScreenFeatures, new: Screen | ScreenFeatures) -> Matching:
    """Matches two screens; `ScreenFeatures` of a screen that were computed before are used as they are."""
    links = Links(_features(old), _features(new))
    if link_native_ids(links):
        pass  # a name says more than any place
    elif links.old.tree[0] == links.new.tree[0]:
        links.link_subtrees(0, 0)
    else:
        anchor(links)
        align(links)
    row_shifts = drop_unsupported_links(links)
    scrolls = []
    for order, row_shift in row_shifts.items():
        dx, dy = row_shift.shift
        if dx or dy:
            scrolls.append(Scroll(links.old.nodes[order], links.new.nodes[links.to_new[order]], dx, dy))
    return Matching(links.old.screen, links.new.screen, links.to_new, links.to_old, scrolls)


def _features(screen: Screen | ScreenFeatures) -> ScreenFeatures:
    return screen if isinstance(screen, ScreenFeatures) else ScreenFeatures(screen)


def align(links: Links) -> None:
    """Links children of linked parents, in document order, so a parent is done before its children."""
    old, new = links.old.nodes, links.new.nodes
    if links.alike(0, 0):
        links.link(0, 0)
    for node in old:
        partner = links.to_new[node.order]
        if partner != -1:
            if links.old.tree[node.order] == links.new.tree[partner]:
                links.link_subtrees(node.order, partner)
            else:
                _align_children(links, node.children, new[partner].children)


def _align_children(links: Links, old: Sequence[Node], new: Sequence[Node]) -> None:
    """Links children that look unlike all their siblings first, then the runs between linked siblings."""
    old_looks, new_looks = _looks(links.old, old, links.to_new), _looks(links.new, new, links.to_old)
    if not old_looks or not new_looks:
        return  # saves time: most are linked already
    _link_once(links, old_looks, new_looks)
    new_gaps = _gaps(new, links.to_old, range(len(links.to_old)))
    for gap, orders in _gaps(old, links.to_new, links.to_new).items():
        if gap in new_gaps:
            _fill_gap(links, gap, orders, new_gaps[gap])


def _looks(
    features: ScreenFeatures, children: Sequence[Node], linked: Sequence[int]
) -> list[tuple[int, int]]:
    return [(features.tree[node.order], node.order) for node in children if linked[node.order] == -1]


Gap = tuple[int | None, int | None]


def _gaps(children: Sequence[Node], linked: Sequence[int], names: Sequence[int]) -> dict[Gap, list[int]]:
    """Runs of unlinked siblings, keyed by the linked siblings around them (as orders in the new screen)."""
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


def _fill_gap(links: Links, gap: Gap, old: list[int], new: list[int]) -> None:
    """Runs of equal length and kinds are linked in order; otherwise only what is alone of its kind."""
    if len(old) == len(new) and all(map(links.alike, old, new)):
        for pair in zip(old, new, strict=True):
            links.link(*pair)
        return
    if old and links.old.unit[old[0]] == old[0]:
        _walk_from_anchors(links, gap, old, new)
    free_old = [order for order in old if links.to_new[order] == -1]
    free_new = [order for order in new if links.to_old[order] == -1]
    _link_once(links, _kinds(links.old, free_old), _kinds(links.new, free_new))


def _kinds(features: ScreenFeatures, orders: Sequence[int]) -> list[tuple[tuple[str, str, str], int]]:
    """Class and id; the label counts where there is no id."""
    nodes, label = features.nodes, features.label
    return [
        ((nodes[order].class_name, nodes[order].resource_id, nodes[order].resource_id or label[order]), order)
        for order in orders
    ]


def _walk_from_anchors(links: Links, gap: Gap, old: list[int], new: list[int]) -> None:
    """In a list, a row next to a linked row is the same one if it moved just as far.

    Walked from both ends; a row that both ends claim for different partners is linked to neither.
    """
    claims = {*_walk(links, gap[0], old, new), *_walk(links, gap[1], old[::-1], new[::-1])}
    new_once = once([(n, o) for o, n in claims])
    for order, partner in once(claims).items():
        if partner in new_once:
            links.link(order, partner)


def _walk(links: Links, anchor: int | None, old: list[int], new: list[int]) -> list[tuple[int, int]]:
    if anchor is None:
        return []
    row_shift = displacement(links, links.to_old[anchor], anchor)
    claims = []
    for o, n in zip(old, new, strict=False):
        if links.old.key[o] != links.new.key[n] or not displacement(links, o, n).agrees(row_shift):
            break
        claims.append((o, n))
    return claims


Key = TypeVar("Key", bound=Hashable)


def anchor(links: Links) -> None:
    # Largest first: document order meets a subtree before its parts.
    new_once = once(_subtrees(links.new))
    for tree, order in once(_subtrees(links.old)).items():
        if links.to_new[order] == -1 and tree in new_once:
            links.link_subtrees(order, new_once[tree])
    _link_once(links, _keys(links.old), _keys(links.new))
    _link_once(links, _ids(links.old), _ids(links.new))
    _lift(links)


def once(keyed: Collection[tuple[Key, int]]) -> dict[Key, int]:
    """Key to order, for the keys that occur exactly once."""
    counts = Counter(map(itemgetter(0), keyed))
    return {key: order for key, order in keyed if counts[key] == 1}


def _subtrees(features: ScreenFeatures) -> list[tuple[int, int]]:
    named = features.named
    return [(tree, order) for order, tree in enumerate(features.tree) if named[order]]


def _keys(features: ScreenFeatures) -> list[tuple[int, int]]:
    label = features.label
    return [(key, order) for order, key in enumerate(features.key) if label[order]]


def _ids(features: ScreenFeatures) -> list[tuple[tuple[str, str], int]]:
    return [((node.class_name, node.resource_id), node.order) for node in features.nodes if node.resource_id]


def _link_once(links: Links, old: Collection[tuple[Key, int]], new: Collection[tuple[Key, int]]) -> None:
    new_once = once(new)
    for key, order in once(old).items():
        if key in new_once:
            links.link(order, new_once[key])


def _lift(links: Links) -> None:
    """Links parents whose children are linked, bottom-up, so that a chain of containers follows its
    content.
    """
    new_nodes, to_new = links.new.nodes, links.to_new
    free = [node for node in links.old.nodes if node.children and to_new[node.order] == -1]
    for node in reversed(free):
        votes: dict[int, int] = {}
        for child in node.children:
            partner = to_new[child.order]
            parent = None if partner == -1 else new_nodes[partner].parent
            if parent is not None:
                votes[parent.order] = votes.get(parent.order, 0) + 1
        if votes:
            best = max(votes, key=votes.__getitem__)
            if links.alike(node.order, best):
                links.link(node.order, best)
