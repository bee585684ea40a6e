"""Which element a Maestro selector means on a screen, by Maestro's own rules: the first match wins.

A text is held against text, hint and description; of nested matches only the deepest stay; relations, which
go by left and top edges alone, and what an element holds narrow them; clickable ones come first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from handrail.errors import InvalidAction
from handrail.screen.node import Node, Screen
from handrail_maestro.patterns import FLAGS, LONGEST, TextPattern, pattern

Slow = Callable[[str, int, Sequence[str]], Awaitable[list[bool]]]
"""Matches a pattern where it can be ended."""
_LEAST_SEEN = 0.1
"""The share of an element that must lie on the screen."""
_LONG_TEXT, _SQUARE = 200, 0.03
_STATES = ("enabled", "checked", "focused", "selected")
_EDGES: Mapping[str, Callable[[Node, Node], bool]] = {
    "below": lambda one, other: one.bounds.top > other.bounds.top,
    "above": lambda one, other: one.bounds.top < other.bounds.top,
    "leftOf": lambda one, other: one.bounds.left < other.bounds.left,
    "rightOf": lambda one, other: one.bounds.left > other.bounds.left,
}


@dataclass(frozen=True, slots=True)
class WantedElement:
    """One selector, filled."""

    text: TextPattern | None = None
    id: TextPattern | None = None
    states: Mapping[str, bool] = field(default_factory=dict)
    width: int | None = None
    height: int | None = None
    tolerance: int = 0
    traits: tuple[str, ...] = ()
    relations: Mapping[str, WantedElement] = field(default_factory=dict)
    child: WantedElement | None = None
    descendants: tuple[WantedElement, ...] = ()
    child_of: WantedElement | None = None
    index: int | None = None

    @classmethod
    def of(cls, given: Any) -> WantedElement:
        """From a text, or from fields by name, all of them texts. Raises `InvalidAction`."""
        if isinstance(given, str):
            return cls(text=pattern(given))
        if not isinstance(given, Mapping):
            raise InvalidAction(
                f"{given!r:.60} is not a selector", path="", hint="Give a text, or fields such as id."
            )
        relations = {name: cls.of(given[name]) for name in _EDGES if name in given}
        return cls(
            text=pattern(given["text"]) if "text" in given else None,
            id=pattern(given["id"]) if "id" in given else None,
            states={name: given[name].lower() == "true" for name in _STATES if name in given},
            width=_whole(given, "width"),
            height=_whole(given, "height"),
            tolerance=_whole(given, "tolerance") or 0,
            traits=tuple(str(given.get("traits", "")).split()),
            relations=relations,
            child=cls.of(given["containsChild"]) if "containsChild" in given else None,
            descendants=tuple(cls.of(one) for one in given.get("containsDescendants", ())),
            child_of=cls.of(given["childOf"]) if "childOf" in given else None,
            index=_whole(given, "index"),
        )

    @property
    def has_own(self) -> bool:
        """Says something of the element itself, not only of where it stands or what it holds."""
        sizes = self.width is not None or self.height is not None
        return bool(self.text or self.id or self.states or sizes or self.traits)

    def __str__(self) -> str:
        """As a person would name it."""
        named = (self.text.written if self.text else "") or (f"id {self.id.written}" if self.id else "")
        where = [f"{name} {other}" for name, other in self.relations.items()]
        states = [name if on else f"not {name}" for name, on in self.states.items()]
        return " ".join([named, *states, *where]).strip() or "any element"


def _whole(given: Mapping[str, Any], name: str) -> int | None:
    """Cut to an integer, as Maestro does."""
    if name not in given:
        return None
    try:
        return int(float(str(given[name]).replace("_", "")))
    except (ValueError, OverflowError):
        raise InvalidAction(
            f"{name}: {given[name]!r:.60} is not a number", path=name, hint="Give a number."
        ) from None


class Finder:
    """Looks for elements on one screen."""

    def __init__(self, screen: Screen, slow: Slow) -> None:
        self._screen = screen
        self._slow = slow
        self._nodes = [node for node in screen.nodes if _is_seen(screen, node)]

    async def first(self, wanted: WantedElement) -> Node | None:
        """The element that is meant, or None."""
        found = await self.all(wanted)
        if not found:
            return None
        if wanted.index is not None:
            ordered = sorted(found, key=lambda node: (node.bounds.top, node.bounds.left))
            at = wanted.index if wanted.index >= 0 else len(ordered) + wanted.index
            return ordered[at] if 0 <= at < len(ordered) else None
        return next((node for node in found if node.clickable), found[0])

    async def all(self, wanted: WantedElement) -> list[Node]:
        """Every match, in document order."""
        nodes = self._nodes
        if wanted.child_of is not None:
            parent = await self.first(wanted.child_of)
            if parent is None:
                return []
            nodes = [node for node in nodes if node is parent or node.is_inside(parent)]
        found = await self._own(wanted, nodes)
        for name, other in wanted.relations.items():
            anchors = await self.all(replace(other, index=None))
            if other.index is not None:
                one = await self.first(other)
                anchors = [one] if one is not None else []
            found = [node for node in found if any(_EDGES[name](node, anchor) for anchor in anchors)]
        return await self._holding(wanted, found)

    async def _own(self, wanted: WantedElement, nodes: list[Node]) -> list[Node]:
        """By what they are themselves; of nested ones the inner."""
        if not wanted.has_own:
            return nodes
        found = [node for node in nodes if _fits(wanted, node)]
        if wanted.text is not None:
            found = await self._like(wanted.text, found, _texts, exact=True)
        if wanted.id is not None:
            found = await self._like(wanted.id, found, _ids, exact=False)
        return [node for node in found if not any(other.is_inside(node) for other in found)]

    async def _holding(self, wanted: WantedElement, found: list[Node]) -> list[Node]:
        """By what they hold; without anything of their own the outermost comes first."""
        if wanted.child is not None:
            inside = {id(node) for node in await self.all(wanted.child)}
            found = [node for node in found if any(id(child) in inside for child in node.children)]
        for descendant in wanted.descendants:
            below = await self.all(descendant)
            found = [node for node in found if any(other.is_inside(node) for other in below)]
        return found

    async def _like(
        self, wanted: TextPattern, nodes: list[Node], said: Callable[[Node], Sequence[str]], *, exact: bool
    ) -> list[Node]:
        if not wanted.is_slow or wanted.compiled is None:
            return [node for node in nodes if any(wanted.is_like(one, exact=exact) for one in said(node))]
        texts = sorted(
            {form[:LONGEST] for node in nodes for one in said(node) for form in (one, one.replace("\n", " "))}
        )
        hits = await self._slow(wanted.compiled.pattern, FLAGS, texts)
        good = {text for text, hit in zip(texts, hits, strict=True) if hit} | (
            {wanted.written} if exact else set()
        )
        return [
            node
            for node in nodes
            if any(one[:LONGEST] in good or one[:LONGEST].replace("\n", " ") in good for one in said(node))
        ]


def _texts(node: Node) -> list[str]:
    """What a node says; a password field keeps its text to itself."""
    return [one for one in (node.masked_text, node.hint_text, node.description) if one]


def _ids(node: Node) -> list[str]:
    return [node.resource_id, node.resource_id.rpartition("/")[2]] if node.resource_id else []


def _fits(wanted: WantedElement, node: Node) -> bool:
    if any(getattr(node, name) != on for name, on in wanted.states.items()):
        return False
    for size, has in ((wanted.width, node.bounds.width), (wanted.height, node.bounds.height)):
        if size is not None and abs(size - has) > wanted.tolerance:
            return False
    return all(_has_trait(node, trait) for trait in wanted.traits)


def _has_trait(node: Node, trait: str) -> bool:
    if trait == "text":
        return bool(node.text)
    if trait == "long-text":
        return len(node.masked_text) > _LONG_TEXT
    return bool(node.bounds.height) and abs(node.bounds.width / node.bounds.height - 1) <= _SQUARE


def _is_seen(screen: Screen, node: Node) -> bool:
    """In the tree, with at least a tenth of it on the screen; what covers it does not count."""
    area = node.bounds.area
    if area <= 0:
        return False
    part = node.bounds.intersect(screen.bounds)
    return part.width > 0 and part.height > 0 and part.area >= _LEAST_SEEN * area


def share_seen(screen: Screen, node: Node) -> float:
    """How much of an element lies on the screen; one that covers it all is seen whole."""
    if node.bounds.intersect(screen.bounds) == screen.bounds:
        return 1.0
    part = node.bounds.intersect(screen.bounds)
    return part.area / node.bounds.area if part.width > 0 and part.height > 0 and node.bounds.area else 0.0
