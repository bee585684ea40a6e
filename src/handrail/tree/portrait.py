"""An element in words that outlive its screen: a robust selector, an identity, a landmark. Pure.

`robust` is the first rung of its ladder that means exactly this element on its own screen; never coordinates.
`identity` is the element as it was, to know it again. `landmark` is by what a new screen is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from handrail.errors import TargetError
from handrail.protocol.target import Selector
from handrail.tree.mention import receiver, touchable
from handrail.tree.node import PASSWORD, Node, Screen
from handrail.tree.quote import cut
from handrail.tree.select import NO_HANDLES, Handles, find, find_all
from handrail.tree.select.find import distance, related
from handrail.tree.windows import is_input_method, is_system_bar, on_screen, visible
from handrail.tree.words import (
    has_digits,
    is_name,
    lasting_description,
    lasting_hint,
    lasting_id,
    lasting_text,
)

Fields = dict[str, Any]

_MOST_TRIES = 16
"""Searches for one element; each reads the whole screen."""
_MOST_INSIDE = 40
"""Descendants whose words may name the element around them."""
_CONTROLS = frozenset({"text_field", "switch", "check_box", "radio_button", "slider", "spinner"})
_SURE = frozenset({"exact", "label"})


def robust(screen: Screen, node: Node, handles: Handles = NO_HANDLES) -> Selector:
    """A selector that means this element on this screen, in the words most likely to stay."""
    subject = _Subject(screen, node, handles)
    for fields in subject.ladder():
        if subject.is_meant(fields):
            return Selector.model_validate(fields)
    return subject.by_number()


class _Subject:
    """One element, the nodes whose words are its words, and how often it was looked for."""

    def __init__(self, screen: Screen, node: Node, handles: Handles) -> None:
        self.screen = screen
        self.node = node
        self.handles = handles
        self.thing = thing_of(node)
        self.tries = 0

    def ladder(self) -> Iterator[Fields]:
        """From the best words to the poorest."""
        is_row = in_list(self.thing)
        ids = list(self._ids())
        if not is_row:  # a row's id is its template's: all rows have it, even if today there is only one
            yield from ids
        words = list(self._words())
        yield from (fields for fields in words if not _counts(fields))
        yield from (fields for fields in words if _counts(fields))
        yield from self._placed([*words, *ids, *self._kinds()])
        if is_row:
            yield from ids

    def _ids(self) -> Iterator[Fields]:
        for node in dict.fromkeys((self.thing, self.node)):
            if tail := lasting_id(node):
                yield {"id": tail}

    def _words(self) -> Iterator[Fields]:
        for node in self._named():
            if text := lasting_text(node):
                yield {"text": text}
            if text := lasting_description(node):
                yield {"description": text}
            if text := lasting_hint(node):
                yield {"hint": text}
        label = self.handles.label_of(self.thing)
        if self.thing.role in _CONTROLS and is_name(label) and " · " not in label:
            yield {"text": label}  # a caption beside it

    def _named(self) -> Iterable[Node]:
        """The element itself, then what it says inside, a title first."""
        inside = self.screen.inside(self.thing)[:_MOST_INSIDE]
        return dict.fromkeys((self.node, self.thing, *(one for one in inside if receiver(one) is self.thing)))

    def _kinds(self) -> Iterator[Fields]:
        if self.thing.role != "unknown":
            yield {"role": self.thing.role}
        if self.thing.class_name:
            yield {"class_name": self.thing.short_class or self.thing.class_name}

    def _placed(self, selves: list[Fields]) -> Iterator[Fields]:
        """Words that others share, with the place beside something that nobody else is called."""
        for relation, anchor in anchors(self.screen, self.thing):
            for fields in selves:
                yield fields | {relation: anchor}

    def is_meant(self, fields: Fields) -> bool:
        """The search for it ends here, without having been stretched."""
        if self.tries >= _MOST_TRIES or not self._can_be_alone(fields):
            return False
        self.tries += 1
        try:
            found = find(self.screen, Selector.model_validate(fields), self.handles)
        except TargetError:
            return False
        return found.how in _SURE and thing_of(found.node) is self.thing

    def _can_be_alone(self, fields: Fields) -> bool:
        """An id that another node has as well is not worth a search."""
        if fields.keys() != {"id"}:
            return True
        wanted = str(fields["id"])
        ids = (one.resource_id for one in self.screen.nodes)
        return sum(one == wanted or one.endswith(f":id/{wanted}") for one in ids) == 1

    def by_number(self) -> Selector:
        """Its kind and its number among its kind, inside the nearest thing with a name of its own."""
        kind = next(self._kinds(), {"class_name": self.thing.class_name or "View"})
        for around in self.thing.ancestors():
            tail = lasting_id(around)
            if tail and self._can_be_alone({"id": tail}):
                fields = self._numbered(kind | {"within": {"id": tail}})
                if fields is not None:
                    return Selector.model_validate(fields)
        return Selector.model_validate(self._numbered(kind) or kind)

    def _numbered(self, fields: Fields) -> Fields | None:
        found = find_all(self.screen, Selector.model_validate(fields), self.handles)
        return fields | {"index": found.index(self.thing)} if self.thing in found else None


def _counts(fields: Fields) -> bool:
    return any(has_digits(words) for words in fields.values())


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


_NEIGHBOURS = 5
_LONGEST = 60


def identity(screen: Screen, node: Node, handles: Handles = NO_HANDLES) -> dict[str, Any]:
    """Plain data; what does not apply is left out. Never what a field holds."""
    thing = thing_of(node)
    name = _name(thing, handles)
    beside = {lasting_description(thing), lasting_hint(thing)} - {name}
    facts = {
        "package": thing.package_name or screen.package,
        "class": thing.short_class,
        "role": thing.role if thing.role != "unknown" else "",
        "id": lasting_id(thing) or lasting_id(node),
        "text": name,
        "description": cut(" · ".join(sorted(beside - {""})), _LONGEST),
        "path": thing.id,
        "bounds": list(thing.bounds),
        "screen": [screen.width, screen.height],
        "neighbours": _neighbours(screen, thing),
    }
    return {key: value for key, value in facts.items() if value}


def _name(thing: Node, handles: Handles) -> str:
    """What a person would call it: its first text, else its label; for a field, what stands beside."""
    said = lasting_text(thing) or lasting_description(thing) or lasting_hint(thing)
    if not said and thing.role != "text_field":
        said = next((text for one in _plain_inside(thing) if (text := lasting_text(one))), "")
    return cut(said or handles.label_of(thing).replace("${", "$ {"), _LONGEST)


def _neighbours(screen: Screen, thing: Node) -> list[str]:
    """The names of what stands nearest; rows of a list, which come and go, only for want of others."""
    lists = [one for one in screen.nodes if one.role == "list"]
    near: dict[str, tuple[bool, tuple[int, int]]] = {}
    for one in own_nodes(screen):
        if not (one.text or one.description) or one is thing or one.is_inside(thing) or thing.is_inside(one):
            continue
        if said := lasting_text(one) or lasting_description(one):
            rank = (any(map(one.is_inside, lists)), distance(one.bounds, thing.bounds))
            near[said] = min(rank, near.get(said, rank))
    return [cut(said, _LONGEST) for said in sorted(near, key=near.__getitem__)[:_NEIGHBOURS]]


def _plain_inside(thing: Node) -> list[Node]:
    found, stack = [], list(reversed(thing.children))
    while stack:
        one = stack.pop()
        if not touchable(one):
            found.append(one)
            stack.extend(reversed(one.children))
    return found


_PASSING = ("snackbar", "toast")
_HEADINGS = frozenset({"toolbar", "tab"})
_QUARTER = 4  # a title stands in the uppermost one of its window, a passing message in the lowest


def landmark(before: Screen, after: Screen) -> dict[str, str] | None:
    """A selector, `{"text": …}` or `{"id": …}`; None where nothing new can be relied on."""
    return _by_text(before, after) or _by_id(before, after)


def _by_text(before: Screen, after: Screen) -> dict[str, str] | None:
    """Words are compared raw first: most taps change a switch and no word, and then nothing is read."""
    known = set(map(_raw_text, before.nodes))
    new = [node for node in after.nodes if node.text and _raw_text(node) not in known and lasting_text(node)]
    if not new:
        return None
    old = {lasting_text(node) for node in before.nodes}
    often = Counter(map(lasting_text, after.nodes))
    texts = {node: lasting_text(node) for node in new}
    only = {node for node, text in texts.items() if text not in old and often[text] == 1}
    steady = [node for node in _lasting(after, only) if not has_digits(texts[node])]
    return {"text": texts[min(steady, key=_rank)]} if steady else None


def _raw_text(node: Node) -> tuple[str, str, int]:
    """All that `lasting_text` looks at."""
    return node.text, node.role, node.flags & PASSWORD


def _by_id(before: Screen, after: Screen) -> dict[str, str] | None:
    old = {node.id_tail for node in before.nodes}
    often = Counter(node.id_tail for node in after.nodes)
    new = {node for node in after.nodes if node.id_tail not in old and often[node.id_tail] == 1}
    tails = (tail for node in _lasting(after, new) if (tail := lasting_id(node)))
    return next(({"id": tail} for tail in tails), None)


def _lasting(screen: Screen, nodes: set[Node]) -> list[Node]:
    """Those of the nodes that can be seen and stay, in the order of the screen."""
    if not nodes:
        return []
    seen = visible(screen)
    return [
        node
        for node in own_nodes(screen)
        if node in nodes and seen[node.order] and not in_list(node) and not _passes(screen, node)
    ]


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


_POINTED_AT = frozenset(
    {"text_field", "switch", "check_box", "radio_button", "slider", "spinner", "button", "image_button"}
)


def stands_alone(node: Node) -> bool:
    """It is meant itself, also where only the row around it takes touches."""
    return touchable(node) or node.scrollable or node.role in _POINTED_AT


def thing_of(node: Node) -> Node:
    """The element that is meant: for a plain text or icon, the row or button it belongs to."""
    return node if stands_alone(node) else receiver(node) or node


def own_nodes(screen: Screen) -> Iterator[Node]:
    """On the display, without keyboard and system bars; what something else covers is there too."""
    shown = on_screen(screen)
    for window in screen.windows:
        if is_input_method(window.package_name) or is_system_bar(screen, window):
            continue
        for node in screen.nodes[window.order : window.end]:
            if shown[node.order]:
                yield node


def in_list(node: Node) -> bool:
    """A row, or a part of one: others with the same template may stand beside it tomorrow."""
    return node.role == "list_item" or any(around.role == "list" for around in node.ancestors())
