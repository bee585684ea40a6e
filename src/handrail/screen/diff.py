"""What changed between two screens, over the same matching that carries the refs: as data and as text.

Compared are elements and texts as an agent reads them. Noise is left out: volatile nodes, clocks, moves of
up to 2 px, and moves that a scroll explains. `changes` is complete and JSON; `capped` is for messages.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from handrail.screen.elements import elements as elements_of
from handrail.screen.match import Matching, match
from handrail.screen.node import (
    CHECKABLE,
    CHECKED,
    ENABLED,
    FOCUSED,
    JITTER_PX,
    SELECTED,
    Bounds,
    Element,
    Elements,
    Node,
    RefOf,
    Screen,
    no_refs,
    scrolls,
)
from handrail.screen.text import cut, is_clock_like, quoted
from handrail.screen.windows import has_keyboard, is_input_method

LIMIT = 30  # changes reported unless a caller wants all
_LONGEST = 1.1  # times the whole screen: what is longer is told as the screen
REDRAWN = "Much changed. The screen is now:"
_REPLACED = 3  # less than one in so many stayed: another screen

Change = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Diff:
    """All changes, in the order of importance."""

    changes: list[Change] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.changes)

    def _repr_html_(self) -> str:
        from handrail.protocol.notebook import changes_html  # noqa: PLC0415 - only those need it

        return changes_html(self.changes)

    @property
    def navigated(self) -> bool:
        return any(change["type"] == "navigated" for change in self.changes)

    def capped(self, limit: int = LIMIT) -> list[Change]:
        rest = len(self.changes) - limit
        if rest <= 0:
            return self.changes
        return [*self.changes[:limit], {"type": "more", "count": rest}]


def diff(
    old: Screen,
    new: Screen,
    *,
    matching: Matching | None = None,
    elements: tuple[Elements, Elements] | None = None,
    ref_of: RefOf = no_refs,
    volatile: Collection[Node] = frozenset(),
) -> Diff:
    """Compares two screens; `matching` and `elements` are computed where the caller has none.

    `volatile` may name nodes of both screens.
    """
    both_elements = elements or (elements_of(old), elements_of(new))
    comparison = _ScreenComparison(matching or match(old, new), both_elements, ref_of, volatile)
    changes = comparison.changes()
    if has_keyboard(old) != (shown := has_keyboard(new)):
        changes = [{"type": "keyboard", "shown": shown}, *changes]
    return Diff(changes)


class _ScreenComparison:
    def __init__(
        self,
        matching: Matching,
        elements: tuple[Elements, Elements],
        ref_of: RefOf,
        volatile: Collection[Node],
    ) -> None:
        self.matching = matching
        self.ref_of = ref_of
        self.old = _without_volatile(items_of(elements[0]), volatile)
        self.new = _without_volatile(items_of(elements[1]), volatile)
        self.pairs: list[tuple[ComparedItem, ComparedItem]] = []
        self.removed: list[ComparedItem] = []
        self.added: list[ComparedItem] = []
        # By node; by wrapper where another node of the same element stands for it now.
        to_new = self.matching.to_new
        wrapped = {item.wrapper.order: item for item in self.new.values() if item.wrapper}
        paired: set[int] = set()
        for item in self.old.values():
            partner = self.new.get(to_new[item.node.order]) or wrapped.get(to_new[item.node.order])
            if partner is None and item.wrapper is not None:
                partner = self.new.get(to_new[item.wrapper.order])
            if partner is None or partner.node.order in paired:
                self.removed.append(item)
            else:
                paired.add(partner.node.order)
                self.pairs.append((item, partner))
        self.added = [item for order, item in self.new.items() if order not in paired]

    def changes(self) -> list[Change]:
        changed = [change for old, new in self.pairs for change in self._changed_attributes(old, new)]
        if self._is_navigation():
            return [
                self._navigation_change(),
                *changed,
                *self._find_moves(),
                *map(self._addition, self.added),
            ]
        return [
            *[
                {
                    "type": "scrolled",
                    "class": scroll.new.short_class,
                    "ref": self.ref_of(scroll.new),
                    "node": scroll.new.id,
                    "was": scroll.old.id,
                    "dx": scroll.dx,
                    "dy": scroll.dy,
                }
                for scroll in self.matching.scrolls
            ],
            *changed,
            *map(self._addition, self.added),
            *[
                {**self._describe_subject("removed", item), "bounds": list(item.node.bounds)}
                for item in self.removed
            ],
            *self._find_moves(),
        ]

    def _is_navigation(self) -> bool:
        if self.matching.scrolls or not _is_mostly_replaced(self.pairs, self.removed, self.added):
            return False
        containers = [(old.node, new.node) for old, new in self.pairs if scrolls(old.node)]
        return not any(self._scrolled_past_all_rows(*pair) for pair in containers)

    def _scrolled_past_all_rows(self, old: Node, new: Node) -> bool:
        """True if a list scrolled so far that no old row is left: everything around it is unchanged,
        and the new rows are of the same kind.
        """
        pairs = [pair for pair in self.pairs if not pair[0].node.is_inside(old) and pair[0].node is not old]
        removed = [item for item in self.removed if not item.node.is_inside(old)]
        added = [item for item in self.added if not item.node.is_inside(new)]
        if old.bounds != new.bounds or not pairs or _is_mostly_replaced(pairs, removed, added):
            return False
        kinds = [
            {(item.node.class_name, item.node.resource_id) for item in items if item.node.is_inside(box)}
            for items, box in ((self.removed, old), (self.added, new))
        ]
        return bool(kinds[0] & kinds[1]) and all(a.attributes == b.attributes for a, b in pairs)

    def _navigation_change(self) -> Change:
        return {
            "type": "navigated",
            "old": self.matching.old.package,
            "new": self.matching.new.package,
            "kept": [old.node.id for old, _ in self.pairs],
        }

    def _changed_attributes(self, old: ComparedItem, new: ComparedItem) -> list[Change]:
        if old.attributes == new.attributes:
            return []
        subject = {**self._describe_subject("changed", new, old.name), "was": old.node.id}
        return [
            {**subject, "attribute": name, "old": a, "new": b}
            for name, a, b in zip(ATTRIBUTES, old.attributes, new.attributes, strict=True)
            if a != b
        ]

    def _describe_subject(self, kind: str, item: ComparedItem, name: str = "") -> Change:
        change: Change = {"type": kind, "class": item.node.short_class, "label": name or item.name}
        if ref := self.ref_of(item.node):
            change["ref"] = ref
        change["node"] = item.node.id
        return change

    def _addition(self, item: ComparedItem) -> Change:
        return {
            **self._describe_subject("added", item),
            "bounds": list(item.node.bounds),
            "attributes": item.by_name,
        }

    def _find_moves(self) -> list[Change]:
        """Elements that moved by the same distance are one change."""
        together: dict[tuple[int, int], list[ComparedItem]] = {}
        resized: list[Change] = []
        for old, new in self.pairs:
            a, b = old.node.bounds, new.node.bounds
            if a == b or self._is_explained_by_scroll(old.node, a, b):
                continue
            dx, dy = b.left - a.left, b.top - a.top
            if abs(b.width - a.width) > JITTER_PX or abs(b.height - a.height) > JITTER_PX:
                subject = {**self._describe_subject("resized", new), "was": old.node.id}
                resized.append({**subject, "old": list(a), "new": list(b)})
            elif abs(dx) > JITTER_PX or abs(dy) > JITTER_PX:
                together.setdefault((dx, dy), []).append(old)
        moved: list[Change] = []
        for (dx, dy), items in together.items():
            first = {"type": "moved", "class": items[0].node.short_class, "label": items[0].name}
            moved.append({**first, "dx": dx, "dy": dy, "was": [item.node.id for item in items]})
        return [*moved, *resized]

    def _is_explained_by_scroll(self, node: Node, old: Bounds, new: Bounds) -> bool:
        """True if the scroll of a container explains the move; an edge that the container cuts off may
        stay.
        """
        for scroll in self.matching.scrolls:
            if node.is_inside(scroll.old):
                down = {new.top - old.top, new.bottom - old.bottom}
                across = {new.left - old.left, new.right - old.right}
                return any(abs(distance - scroll.dy) <= JITTER_PX for distance in down) and any(
                    abs(distance - scroll.dx) <= JITTER_PX for distance in across
                )
        return False


def _is_mostly_replaced(pairs: Sequence[object], removed: Sequence[object], added: Sequence[object]) -> bool:
    needed = len(pairs) * _REPLACED
    return needed < len(pairs) + len(removed) and needed < len(pairs) + len(added)


def _without_volatile(items: dict[int, ComparedItem], volatile: Collection[Node]) -> dict[int, ComparedItem]:
    """Drops volatile nodes and everything inside them."""
    if not volatile:
        return items
    return {
        order: item
        for order, item in items.items()
        if item.node not in volatile and not any(around in volatile for around in item.node.ancestors())
    }


Value = str | bool | None

ATTRIBUTES = ("label", "text", "value", "hint", "state", "enabled", "focused", "checked", "selected")
"""In the order they are reported; None is an attribute that the item does not have."""


@dataclass(slots=True, eq=False)
class ComparedItem:
    """An element or a plain text."""

    node: Node
    name: str
    attributes: tuple[Value, ...]
    wrapper: Node | None = None

    @property
    def by_name(self) -> dict[str, Value]:
        return {
            name: value for name, value in zip(ATTRIBUTES, self.attributes, strict=True) if value is not None
        }


def items_of(elements: Elements) -> dict[int, ComparedItem]:
    """By node order, in document order. The keyboard's keys are not part of the screen."""
    items = {element.node.order: _item_of_element(element) for element in elements}
    for text in elements.texts:
        node = text.node
        if node.order not in items:
            name = "" if is_clock_like(text.text) else text.text
            items[node.order] = ComparedItem(node, text.text, (None, name, *_NO_STATES))
    return {
        order: item for order, item in sorted(items.items()) if not is_input_method(item.node.package_name)
    }


_NO_STATES = (None,) * 7


def _item_of_element(element: Element) -> ComparedItem:
    node, kind = element.node, element.kind
    flags = node.flags
    name = element.label
    if kind == "f":
        label, text, value = name, element.value, None
    elif kind == "v":
        label, text, value = name, None, element.value
    else:
        label, text, value = None, _label_without_clocks(element), None
    attributes = (
        label,
        text,
        value,
        element.hint or None,
        node.state_description or None,
        flags & ENABLED != 0,
        flags & FOCUSED != 0 if kind != "s" else None,
        flags & CHECKED != 0 if kind == "c" or flags & CHECKABLE else None,
        flags & SELECTED != 0,
    )
    return ComparedItem(node, name, attributes, element.wrapper)


def _label_without_clocks(element: Element) -> str:
    name = element.label
    if ":" not in name:
        return name
    return " · ".join([piece for piece in element.pieces if not is_clock_like(piece)])


NO_CHANGE = "No change on screen."
_MOVES = 3  # distances told one by one
_TEXT = 80  # characters of a label or value
_SECTIONS = (
    ("Elements changed:", ("keyboard", "scrolled", "changed", "moved", "resized", "shifted")),
    ("Elements added:", ("added",)),
    ("Elements removed:", ("removed",)),
)


def diff_text(diff: Diff, *, limit: int = LIMIT, screen_text: str = "", shortest: bool = False) -> str:
    """Sections with a line per change. `screen_text`, the screen as it is now, stands for all of them after a
    navigation, and with `shortest` where it is shorter."""
    if not diff:
        return NO_CHANGE
    changes = _sum_up_many_moves(diff.changes)
    head = [
        f"Screen changed: {old} -> {new}" if old != new else "Screen changed."
        for old, new in ((each["old"], each["new"]) for each in changes if each["type"] == "navigated")
    ]
    if head and screen_text:
        return "\n".join([*head, screen_text])
    lines: list[str] = []
    room, left_out = limit, 0
    for title, kinds in _SECTIONS:
        entries = [change for change in changes if change["type"] in kinds]
        shown = entries[: max(0, room)]
        room -= len(shown)
        left_out += len(entries) - len(shown)
        if shown:
            lines += [title, *map(_change_line, shown)]
    more = [f"... +{left_out} more"] if left_out else []
    text = "\n".join([*head, *lines, *more])
    is_shorter = shortest and 0 < _LONGEST * len(screen_text) < len(text)
    return f"{REDRAWN}\n{screen_text}" if is_shorter else text


def _sum_up_many_moves(changes: list[Change]) -> list[Change]:
    """A layout shift moves its parts by many distances; they are reported as one count."""
    moves = [change for change in changes if change["type"] in ("moved", "resized")]
    if len(moves) <= _MOVES:
        return changes
    count = sum(len(change["was"]) if change["type"] == "moved" else 1 for change in moves)
    others = [change for change in changes if change["type"] not in ("moved", "resized")]
    return [*others, {"type": "shifted", "count": count}]


def _change_line(change: Change) -> str:
    match change["type"]:
        case "keyboard":
            return "Keyboard appeared" if change["shown"] else "Keyboard hidden"
        case "scrolled":
            return f"{change['class']} scrolled {_scroll_words(change['dx'], change['dy'])}"
        case "moved":
            count = len(change["was"])
            who = _subject_words(change) if count == 1 else f"{count} elements"
            return f"{who} moved by {change['dx']},{change['dy']}"
        case "shifted":
            return f"{change['count']} elements moved"
        case "resized":
            return f"{_subject_words(change)} {Bounds(*change['old'])} -> {Bounds(*change['new'])}"
        case "changed":
            name = change["attribute"]
            old, new = _value_words(change["old"]), _value_words(change["new"])
            return f"{_subject_words(change)} {name}={old} -> {name}={new}"
        case _:
            return f"{_subject_words(change)} {Bounds(*change['bounds'])}"


def _scroll_words(dx: int, dy: int) -> str:
    """Content that moves up is a scroll down."""
    ways = []
    if dy:
        ways.append(f"{abs(dy)} px {'down' if dy < 0 else 'up'}")
    if dx:
        ways.append(f"{abs(dx)} px {'right' if dx < 0 else 'left'}")
    return " and ".join(ways)


def _subject_words(change: Change) -> str:
    label = change["label"]
    return f"{change['class']} {quoted(cut(label, _TEXT))}" if label else str(change["class"])


def _value_words(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return quoted(cut(value or "", _TEXT))
