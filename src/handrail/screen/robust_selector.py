"""An element in words that outlive its screen: a robust selector, an identity, a landmark. Pure.

`robust` is the first rung of its ladder that means exactly this element on its own screen; never coordinates.
`identity` is the element as it was, to know it again. `landmark` is by what a new screen is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import compress
from typing import Any

from handrail.errors import TargetError
from handrail.protocol.target import Selector
from handrail.screen.node import Node, Screen, once_per_screen, receiver, touchable
from handrail.screen.select import NO_HANDLES, Handles, distance, find, find_all, is_related
from handrail.screen.text import (
    cut,
    has_digits,
    is_name,
    lasting_description,
    lasting_hint,
    lasting_id,
    lasting_text,
)
from handrail.screen.windows import is_input_method, is_system_bar, on_screen, visible

Fields = dict[str, Any]

_MOST_TRIES = 16
"""Searches for one element; each reads the whole screen."""
_MOST_INSIDE = 40
"""Descendants whose words may name the element around them."""
_CAPTIONED = frozenset({"text_field", "switch", "check_box", "radio_button", "slider", "spinner"})
"""Roles that a caption beside them names."""
_SURE = frozenset({"exact", "label"})


def robust_selector(screen: Screen, node: Node, handles: Handles = NO_HANDLES) -> Selector:
    """A selector for this element on this screen, in the words most likely to last."""
    subject = _SelectorSearch(screen, node, handles)
    for fields in subject.candidate_fields():
        if subject.finds_only_this(fields):
            return Selector.model_validate(fields)
    return subject.selector_by_index()


def selector_choices(
    screen: Screen, node: Node, handles: Handles = NO_HANDLES, most: int = 8
) -> list[tuple[Selector, int]]:
    """Selectors that name this element, the robust one first, each with how many elements it means."""
    fields = _SelectorSearch(screen, node, handles).candidate_fields()
    others = (Selector.model_validate(each) for each in fields)
    choices = list(dict.fromkeys((robust_selector(screen, node, handles), *others)))[:most]
    return [(selector, _count_matches(screen, selector, handles)) for selector in choices]


def _count_matches(screen: Screen, selector: Selector, handles: Handles) -> int:
    try:
        return len(find_all(screen, selector, handles))
    except TargetError:
        return 0


class _SelectorSearch:
    """One element, the nodes whose words name it, and the number of searches for it."""

    def __init__(self, screen: Screen, node: Node, handles: Handles) -> None:
        self.screen = screen
        self.node = node
        self.handles = handles
        self.thing = activation_target(node)
        self.tries = 0

    def candidate_fields(self) -> Iterator[Fields]:
        is_row = in_list(self.thing)
        tails = (lasting_id(node) for node in dict.fromkeys((self.thing, self.node)))
        ids: list[Fields] = [{"id": tail} for tail in tails if tail]
        if not is_row:  # a row's id is its template's: all rows have it, even if today there is only one
            yield from ids
        words = list(self._fields_by_words())
        yield from (fields for fields in words if not _has_number(fields))
        yield from (fields for fields in words if _has_number(fields))
        yield from self._fields_by_place([*words, *ids, *self._fields_by_kind()])
        if is_row:
            yield from ids

    def _fields_by_words(self) -> Iterator[Fields]:
        # The element itself, then what it says inside, a title first.
        inside = self.screen.inside(self.thing)[:_MOST_INSIDE]
        for node in dict.fromkeys(
            (self.node, self.thing, *(part for part in inside if receiver(part) is self.thing))
        ):
            if text := lasting_text(node):
                yield {"text": text}
            if text := lasting_description(node):
                yield {"description": text}
            if text := lasting_hint(node):
                yield {"hint": text}
        label = self.handles.label_of(self.thing)
        if self.thing.role in _CAPTIONED and is_name(label) and " · " not in label:
            yield {"text": label}  # a caption beside it

    def _fields_by_kind(self) -> Iterator[Fields]:
        if self.thing.role != "unknown":
            yield {"role": self.thing.role}
        if self.thing.class_name:
            yield {"class_name": self.thing.short_class or self.thing.class_name}

    def _fields_by_place(self, selves: list[Fields]) -> Iterator[Fields]:
        """Words that others share, combined with a position relative to a unique text."""
        for relation, anchor in anchors_near(self.screen, self.thing):
            for fields in selves:
                yield fields | {relation: anchor}

    def finds_only_this(self, fields: Fields) -> bool:
        """True if an exact search for the fields finds this element and nothing else."""
        if self.tries >= _MOST_TRIES or not self._can_be_alone(fields):
            return False
        self.tries += 1
        try:
            match = find(self.screen, Selector.model_validate(fields), self.handles)
        except TargetError:
            return False
        return match.how in _SURE and activation_target(match.node) is self.thing

    def _can_be_alone(self, fields: Fields) -> bool:
        """An id that several nodes share needs no search."""
        if fields.keys() != {"id"}:
            return True
        wanted = str(fields["id"])
        ids = (node.resource_id for node in self.screen.nodes)
        return sum(resource_id == wanted or resource_id.endswith(f":id/{wanted}") for resource_id in ids) == 1

    def selector_by_index(self) -> Selector:
        """Selects by kind and index, inside the nearest ancestor with a unique id."""
        kind = next(self._fields_by_kind(), {"class_name": self.thing.class_name or "View"})
        for around in self.thing.ancestors():
            tail = lasting_id(around)
            if tail and self._can_be_alone({"id": tail}):
                fields = self._with_index(kind | {"within": {"id": tail}})
                if fields is not None:
                    return Selector.model_validate(fields)
        return Selector.model_validate(self._with_index(kind) or kind)

    def _with_index(self, fields: Fields) -> Fields | None:
        matches = find_all(self.screen, Selector.model_validate(fields), self.handles)
        return fields | {"index": matches.index(self.thing)} if self.thing in matches else None


def _has_number(fields: Fields) -> bool:
    return any(has_digits(words) for words in fields.values())


_SIDES = ("right_of", "left_of", "below", "above")
_PER_SIDE = 2
_IN_ROW = 2


def anchors_near(screen: Screen, node: Node) -> Iterator[tuple[str, dict[str, str]]]:
    """(field of a selector, anchor), the best first."""
    # Texts that can be seen, that nothing else says, and that do not count anything.
    texts = {other: text for other in own_nodes(screen) if (text := lasting_text(other))}
    often = Counter(texts.values())
    texts = {
        other: text
        for other, text in texts.items()
        if often[text] == 1 and not has_digits(text) and other is not node and not other.is_inside(node)
    }
    row = row_of(node)
    inside = [anchor for anchor in texts if row is not None and anchor.is_inside(row)]
    for anchor in inside[:_IN_ROW]:
        yield "within", {"text": texts[anchor]}
    for side in _SIDES:
        near = [anchor for anchor in texts if is_related(node, side, anchor)]
        near.sort(key=lambda anchor: distance(anchor.bounds, node.bounds))
        for anchor in near[:_PER_SIDE]:
            yield side, {"text": texts[anchor]}


def row_of(node: Node) -> Node | None:
    for around in node.ancestors():
        if touchable(around) or around.role == "list_item":
            return around
        if around.scrollable:
            return None
    return None


_NEIGHBOURS = 5
_LONGEST = 60


def identity(screen: Screen, node: Node, handles: Handles = NO_HANDLES) -> dict[str, Any]:
    """Plain data; what does not apply is left out. Never what a field holds."""
    thing = activation_target(node)
    # Its first text, else its label; for a field, the label beside it.
    label = lasting_text(thing) or lasting_description(thing) or lasting_hint(thing)
    if not label and thing.role != "text_field":
        label = next((text for part in _plain_inside(thing) if (text := lasting_text(part))), "")
    name = cut(label or handles.label_of(thing).replace("${", "$ {"), _LONGEST)
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


def _neighbours(screen: Screen, thing: Node) -> list[str]:
    """The names of the nearest nodes; rows of lists come last, because they come and go."""
    lists = [node for node in screen.nodes if node.role == "list"]
    texts, near = lasting_texts(screen), dict[str, tuple[bool, tuple[int, int]]]()
    for node in own_nodes(screen):
        if (
            not (node.text or node.description)
            or node is thing
            or node.is_inside(thing)
            or thing.is_inside(node)
        ):
            continue
        if label := texts[node.order] or lasting_description(node):
            rank = (any(map(node.is_inside, lists)), distance(node.bounds, thing.bounds))
            near[label] = min(rank, near.get(label, rank))
    return [cut(label, _LONGEST) for label in sorted(near, key=near.__getitem__)[:_NEIGHBOURS]]


def _plain_inside(thing: Node) -> list[Node]:
    parts, stack = [], list(reversed(thing.children))
    while stack:
        part = stack.pop()
        if not touchable(part):
            parts.append(part)
            stack.extend(reversed(part.children))
    return parts


_PASSING = ("snackbar", "toast")
_HEADINGS = frozenset({"toolbar", "tab"})
_QUARTER = 4  # a title stands in the uppermost one of its window, a passing message in the lowest


def landmark(before: Screen, after: Screen) -> dict[str, str] | None:
    """A selector, `{"text": …}` or `{"id": …}`; None where nothing new can be relied on."""
    old, now = set(lasting_texts(before)), lasting_texts(after)
    often = Counter(now)
    new = [node for node in after.nodes if now[node.order] and now[node.order] not in old]
    only = {node for node in new if often[now[node.order]] == 1}
    steady = [node for node in _lasting(after, only) if not has_digits(now[node.order])]
    return ({"text": now[min(steady, key=_landmark_rank).order]} if steady else None) or _by_id(before, after)


@once_per_screen
def lasting_texts(screen: Screen) -> list[str]:
    """What each node says that lasts, by `order`."""
    return list(map(lasting_text, screen.nodes))


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
    in_sight = visible(screen)
    return [
        node
        for node in own_nodes(screen)
        if node in nodes
        and in_sight[node.order]
        and not in_list(node)
        and not _is_passing_message(screen, node)
    ]


def _is_passing_message(screen: Screen, node: Node) -> bool:
    """True for a message that disappears by itself, or plain words where such messages appear."""
    if node.bounds.top * _QUARTER > screen.height * (_QUARTER - 1) and receiver(node) is None:
        return True
    for part in (node, *node.ancestors()):
        kind = f"{part.id_tail} {part.class_name}".casefold()
        if any(word in kind for word in _PASSING):
            return True
    return False


def _landmark_rank(node: Node) -> tuple[bool, bool, bool, int]:
    """Titles first, then the upper quarter, then plain text before buttons, then document order."""
    around = [node, *node.ancestors()]
    window = around[-1] if around[-1].class_name else around[max(0, len(around) - 2)]
    is_heading = any(part.role in _HEADINGS for part in around)
    is_high = node.bounds.top < window.bounds.top + window.bounds.height // _QUARTER
    return (not is_heading, not is_high, receiver(node) is not None, node.order)


_POINTED_AT = frozenset(
    {"text_field", "switch", "check_box", "radio_button", "slider", "spinner", "button", "image_button"}
)


def stands_alone(node: Node) -> bool:
    """True if it is a target itself, even if only the row around it takes touches."""
    return touchable(node) or node.scrollable or node.role in _POINTED_AT


def activation_target(node: Node) -> Node:
    """The node itself, or for a plain text or icon the row or button it belongs to."""
    return node if stands_alone(node) else receiver(node) or node


@once_per_screen
def own_nodes(screen: Screen) -> list[Node]:
    """On the display, without keyboard and system bars; what something else covers is there too."""
    shown = on_screen(screen)
    own: list[Node] = []
    for window in screen.windows:
        if not is_input_method(window.package_name) and not is_system_bar(screen, window):
            span = slice(window.order, window.end)
            own += compress(screen.nodes[span], shown[span])
    return own


def in_list(node: Node) -> bool:
    """True for a row or a part of one: tomorrow others may share its template."""
    return node.role == "list_item" or any(around.role == "list" for around in node.ancestors())
