"""From an element to the selector that will find it again: by id, text, description, hint, place or number.

The first rung of the ladder that means exactly this element on its own screen is taken; coordinates never.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from handrail.errors import TargetError
from handrail.protocol.target import Selector
from handrail.tree.mention import receiver
from handrail.tree.node import Node, Screen
from handrail.tree.portrait.anchors import anchors
from handrail.tree.portrait.own import in_list, thing_of
from handrail.tree.portrait.words import (
    has_digits,
    is_name,
    lasting_description,
    lasting_hint,
    lasting_id,
    lasting_text,
)
from handrail.tree.select import NO_HANDLES, Handles, find, find_all

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
