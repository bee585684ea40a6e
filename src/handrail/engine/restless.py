"""The nodes of a session's screens that are known to change by themselves: learned, left out, and forgotten.

Only the kind of change that was learned is left out: a ticker whose words run may still vanish or be greyed.
Nothing that a person sets (switch, field, slider) is ever learned, so a person's doing is always news.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handrail.engine.volatile import Key, Kind, Track, key_of, kinds_between
from handrail.tree.loading import loading_indicators
from handrail.tree.node import CHECKABLE, CLICKABLE, LONG_CLICKABLE, SCROLLABLE, Bounds, Node, Screen

TICKS = 3
"""A slow ticker: it ticked so often with no touch between the looks."""
STRETCHES = 2
"""Or: it ticked twice between two touches, and that so often."""
STILL_MS = 15_000.0
"""What was quiet for so long is not restless any more."""
STILL_LOOKS = 3
AT_HAND = 8
"""Screens whose restless nodes are kept ready."""
MOST_STRETCHES = 5_000

_SET_BY_PEOPLE = frozenset({"text_field", "slider", "spinner", "switch", "check_box", "radio_button"})
_TOUCHED = CLICKABLE | LONG_CLICKABLE | CHECKABLE

Value = tuple[str, str, str, Bounds, int]


@dataclass(slots=True)
class _Known:
    kinds: Kind
    value: Value | None = None
    since_ms: float = 0.0
    looks: int = 0


class Restless:
    """What was learned of each screen; screens are told apart by their build."""

    def __init__(self) -> None:
        self._known: dict[int, dict[Key, _Known]] = {}
        self._stretches: dict[tuple[int, Key], int] = {}
        self._at_hand: dict[int, tuple[Screen, dict[Key, Node]]] = {}
        self.version = 0
        """Another one whenever something was learned or forgotten."""

    def learn(self, screen: Screen, kinds: Mapping[Key, Kind]) -> None:
        """What moves for ever; what may not be left out is not learned."""
        nodes = {key_of(node): node for node in screen.nodes} if kinds else {}
        busy = {sign.node for sign in loading_indicators(screen)} if kinds else set()
        for key, kind in kinds.items():
            node = nodes.get(key)
            if node is not None and node not in busy and may_be_left_out(screen, node, kind):
                known = self._known.setdefault(build_of(screen), {}).setdefault(key, _Known(kind))
                known.kinds |= kind
                self._changed()

    def learn_slow(self, screen: Screen, ticks: Mapping[Key, Track]) -> None:
        """Slow tickers: what keeps changing between looks with no touch between them."""
        slow = {key: track.kinds for key, track in ticks.items() if self._is_slow(key, track)}
        if slow:
            plain = {key_of(node) for node in screen.nodes if is_plain(node)}
            self.learn(screen, {key: kinds for key, kinds in slow.items() if key in plain})

    def _is_slow(self, key: Key, track: Track) -> bool:
        if track.kinds & ~(Kind.WORDS | Kind.PLACE):
            return False
        if track.ticks >= TICKS:
            return True
        stretches = self._stretches.get((track.build, key), 0)
        if track.ticks == 2:
            stretches += 1
            if len(self._stretches) >= MOST_STRETCHES:
                self._stretches.clear()
            self._stretches[track.build, key] = stretches
        return stretches >= STRETCHES

    def see(self, screen: Screen, at_ms: float) -> None:
        """One more look: what stays still for long is forgotten."""
        known = self._known.get(build_of(screen)) if self._known else None
        if not known:
            return
        nodes = self._nodes(screen)
        for key, one in list(known.items()):
            value = _value(nodes[key]) if key in nodes else None
            if value != one.value:
                one.value, one.since_ms, one.looks = value, at_ms, 0
            one.looks += 1
            if one.looks > STILL_LOOKS and at_ms - one.since_ms >= STILL_MS:
                del known[key]
                self._changed()

    def _changed(self) -> None:
        self._at_hand.clear()
        self.version += 1

    def nodes(self, screen: Screen) -> frozenset[Node]:
        """The restless nodes of a screen."""
        return frozenset(self._nodes(screen).values()) if self._known else frozenset()

    def between(self, old: Screen, new: Screen) -> frozenset[Node]:
        """The nodes of both screens that may be left out when these two are compared."""
        if not self._known:
            return frozenset()
        before, after = self._nodes(old), self._nodes(new)
        if not before and not after:
            return frozenset()
        hidden = set()
        for key in before.keys() & after.keys():
            if self._is_expected(old, new, before[key], after[key], key):
                hidden |= {before[key], after[key]}
        return frozenset(hidden)

    def _is_expected(self, old: Screen, new: Screen, before: Node, after: Node, key: Key) -> bool:
        """Only what was learned of it changed, in it and, as leaving it out hides them, in its parts."""
        known = self._known[build_of(new)]
        kinds = known[key].kinds
        if kinds_between(before, after) & ~kinds:
            return False
        if kinds & (Kind.PARTS | Kind.SCROLL):
            return True
        parts, now = old.inside(before), new.inside(after)
        if len(parts) != len(now):
            return False
        return not any(
            kinds_between(a, b) & ~_allowed(known, b, kinds) for a, b in zip(parts, now, strict=True)
        )

    def _nodes(self, screen: Screen) -> dict[Key, Node]:
        held = self._at_hand.get(id(screen))
        if held is not None and held[0] is screen:
            return held[1]
        known = self._known.get(build_of(screen), {})
        alike = {key[1:] for key in known}
        candidates = (n for n in screen.nodes if (n.class_name, n.resource_id) in alike) if known else ()
        found = {key: node for node in candidates if (key := key_of(node)) in known}
        if len(self._at_hand) >= AT_HAND:
            del self._at_hand[next(iter(self._at_hand))]
        self._at_hand[id(screen)] = (screen, found)
        return found


def _allowed(known: Mapping[Key, _Known], part: Node, around: Kind) -> Kind:
    own = known.get(key_of(part))
    return (own.kinds if own else Kind(0)) | around & Kind.PLACE


def _value(node: Node) -> Value:
    return node.text, node.description, node.state_description, node.bounds, node.end - node.order


def may_be_left_out(screen: Screen, node: Node, kinds: Kind) -> bool:
    """Never a window, never what a person sets, never a container that holds such things or half a screen."""
    if node.parent is None or node in screen.windows or node.role in _SET_BY_PEOPLE:
        return False
    if node.flags & CHECKABLE or (kinds & Kind.STATE and node.flags & _TOUCHED):
        return False
    if kinds & (Kind.PARTS | Kind.SCROLL):
        holds_settings = any(one.role in _SET_BY_PEOPLE or one.checkable for one in screen.inside(node))
        return not holds_settings and node.bounds.area * 2 <= screen.bounds.area
    return True


def is_plain(node: Node) -> bool:
    """Neither it nor a row around it can be touched: no person changed it by its own doing."""
    if node.flags & (_TOUCHED | SCROLLABLE) or node.role in _SET_BY_PEOPLE:
        return False
    return not any(one.flags & _TOUCHED for one in node.ancestors())


def build_of(screen: Screen) -> int:
    """The build of a screen: its package and the kinds of nodes outside of lists, whatever they say."""
    parts = {(screen.package, "")}
    order = 0
    while order < len(screen.nodes):
        node = screen.nodes[order]
        parts.add((node.class_name, node.resource_id))
        order = node.end if node.scrollable else order + 1
    return hash(frozenset(parts))
