"""By what a new screen is known: something that was not there before, nothing else says, and that stays."""

from __future__ import annotations

from collections import Counter

from handrail.tree.mention import receiver
from handrail.tree.node import Node, Screen
from handrail.tree.portrait.own import in_list, own_nodes
from handrail.tree.portrait.words import has_digits, lasting_id, lasting_text
from handrail.tree.visible import visible

_PASSING = ("snackbar", "toast")
_HEADINGS = frozenset({"toolbar", "tab"})
_QUARTER = 4  # a title stands in the uppermost one of its window, a passing message in the lowest


def landmark(before: Screen, after: Screen) -> dict[str, str] | None:
    """A selector, `{"text": …}` or `{"id": …}`; None where nothing new can be relied on."""
    seen = visible(after)
    shown = [
        node
        for node in own_nodes(after)
        if seen[node.order] and not in_list(node) and not _passes(after, node)
    ]
    return _by_text(before, after, shown) or _by_id(before, after, shown)


def _by_text(before: Screen, after: Screen, shown: list[Node]) -> dict[str, str] | None:
    old = {lasting_text(node) for node in before.nodes}
    often = Counter(map(lasting_text, after.nodes))
    texts = {node: lasting_text(node) for node in shown}
    new = [node for node, text in texts.items() if text and text not in old and often[text] == 1]
    steady = [node for node in new if not has_digits(texts[node])]
    return {"text": texts[min(steady, key=_rank)]} if steady else None


def _by_id(before: Screen, after: Screen, shown: list[Node]) -> dict[str, str] | None:
    old = {node.id_tail for node in before.nodes}
    often = Counter(node.id_tail for node in after.nodes)
    tails = (tail for node in shown if (tail := lasting_id(node)))
    return next(({"id": tail} for tail in tails if tail not in old and often[tail] == 1), None)


def _passes(screen: Screen, node: Node) -> bool:
    """A message that goes away by itself, or plain words where such messages stand."""
    if node.bounds.top * _QUARTER > screen.height * (_QUARTER - 1) and receiver(node) is None:
        return True
    for one in (node, *node.ancestors()):
        kind = f"{one.id_tail} {one.class_name}".casefold()
        if any(word in kind for word in _PASSING):
            return True
    return False


def _rank(node: Node) -> tuple[bool, bool, bool, int]:
    """Titles first, then what stands high, then plain text before buttons, then from above."""
    around = [node, *node.ancestors()]
    window = around[-1] if around[-1].class_name else around[max(0, len(around) - 2)]
    is_heading = any(one.role in _HEADINGS for one in around)
    is_high = node.bounds.top < window.bounds.top + window.bounds.height // _QUARTER
    return (not is_heading, not is_high, receiver(node) is not None, node.order)
