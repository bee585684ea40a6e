"""What an element can be placed by: the words of its row, and the nearest ones beside, above and below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from handrail.tree.mention import touchable
from handrail.tree.node import Node, Screen
from handrail.tree.portrait.own import own_nodes
from handrail.tree.portrait.words import has_digits, lasting_text
from handrail.tree.select.relate import distance, related

_SIDES = ("right_of", "left_of", "below", "above")
_PER_SIDE = 2
_IN_ROW = 2


def anchors(screen: Screen, node: Node) -> Iterator[tuple[str, dict[str, str]]]:
    """(field of a selector, anchor), the best first."""
    known = _unique_texts(screen, node)
    row = row_of(node)
    inside = [one for one in known if row is not None and one.is_inside(row)]
    for one in inside[:_IN_ROW]:
        yield "within", {"text": known[one]}
    for side in _SIDES:
        near = [one for one in known if related(node, side, one)]
        near.sort(key=lambda one: distance(one.bounds, node.bounds))
        for one in near[:_PER_SIDE]:
            yield side, {"text": known[one]}


def row_of(node: Node) -> Node | None:
    """The list item or tappable row around it."""
    for around in node.ancestors():
        if touchable(around) or around.role == "list_item":
            return around
        if around.scrollable:
            return None
    return None


def _unique_texts(screen: Screen, node: Node) -> dict[Node, str]:
    """Texts that can be seen, that nothing else says, and that do not count anything."""
    said = {one: text for one in own_nodes(screen) if (text := lasting_text(one))}
    often = Counter(said.values())
    return {
        one: text
        for one, text in said.items()
        if often[text] == 1 and not has_digits(text) and one is not node and not one.is_inside(node)
    }
