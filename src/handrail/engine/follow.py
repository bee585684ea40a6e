"""One element on two looks. The registry has matched the last two already; others are matched anew."""

from __future__ import annotations

from collections.abc import Iterable

from handrail.engine.sight import Sight
from handrail.tree.match.matching import Matching, match
from handrail.tree.node import Node, Screen


def follow(sight: Sight, old: Screen, new: Screen, node: Node) -> Node | None:
    """The same element on a later screen; None when it is gone."""
    return node if old is new else _matching(sight, old, new).new_of(node)


def partners(sight: Sight, old: Screen, new: Screen) -> Iterable[tuple[Node, Node]]:
    """Every element that is on both."""
    return ((node, node) for node in old.nodes) if old is new else _matching(sight, old, new).pairs()


def _matching(sight: Sight, old: Screen, new: Screen) -> Matching:
    known = sight.registry.matching
    return known if known is not None and known.old is old and known.new is new else match(old, new)
