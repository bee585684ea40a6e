"""The nodes of a session's screens that are known to change by themselves: learned, left out, and forgotten.

Only the kind of change that was learned is left out: a ticker whose words run may still vanish or be greyed.
Nothing that a person sets (switch, field, slider) is ever learned, so a person's doing is always news.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntFlag

from handrail.tree.fingerprint import JITTER_PX
from handrail.tree.match.matching import Matching, match
from handrail.tree.node import CHECKABLE, CLICKABLE, FOCUSED, LONG_CLICKABLE, SCROLLABLE, Bounds, Node, Screen
from handrail.tree.signs import loading_indicators
from handrail.tree.windows import is_system_bar
from handrail.tree.words import is_clock_like

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


Key = tuple[str, str, str]
"""Path, class and resource id: who a node is on screens of the same build."""

MIN_CHANGES = 3
MIN_SPAN_MS = 500.0
CALM_MS = 400.0
"""A change after so long a rest is a tick of its own, no frame of an animation."""
SCROLL_SPAN_MS = 4_000.0
"""A fling ends; what still scrolls after so long scrolls by itself."""


class Kind(IntFlag):
    """What of a node changed."""

    WORDS = 1
    PLACE = 2
    PARTS = 4
    """Something came or went inside."""
    STATE = 8
    """Checked, selected, enabled and their like."""
    SCROLL = 16
    """Its content moved along."""


def key_of(node: Node) -> Key:
    """Who a node is, whatever it says."""
    return node.id, node.class_name, node.resource_id


def kinds_between(old: Node, new: Node) -> Kind:
    """How a node differs from what it was; focus, clocks and jitter are no difference."""
    kinds = Kind(0)
    if (old.flags ^ new.flags) & ~FOCUSED:
        kinds |= Kind.STATE
    if old.bounds != new.bounds and any(
        abs(a - b) > JITTER_PX for a, b in zip(old.bounds, new.bounds, strict=True)
    ):
        kinds |= Kind.PLACE
    if (
        _says_else(old.text, new.text)
        or _says_else(old.description, new.description)
        or _says_else(old.state_description, new.state_description)
    ):
        kinds |= Kind.WORDS
    return kinds


def _says_else(old: str, new: str) -> bool:
    return old != new and not (is_clock_like(old) and is_clock_like(new))


def changed(old: Screen, new: Screen) -> dict[Node, Kind]:
    """Nodes of `new` that differ from what they were; for what came or went, the node around it."""
    if old is new:
        return {}
    matching = match(old, new)
    found = {scroll.new: Kind.SCROLL for scroll in matching.scrolls}
    for one, how in _differences(matching):
        node, kinds = _explained(one, how, found)
        if kinds and not _is_in_bar(new, node):
            found[node] = found.get(node, Kind(0)) | kinds
    return found


def _explained(node: Node, kinds: Kind, found: Mapping[Node, Kind]) -> tuple[Node, Kind]:
    """A scroll moves what is inside, and brings and takes rows: all that is one change of the scroller."""
    around = (one for one in (node, *node.ancestors()) if found.get(one, Kind(0)) & Kind.SCROLL)
    scroller = next(around, node if node.scrollable else None)
    if scroller is None:
        return node, kinds
    if kinds & Kind.PARTS:
        return scroller, Kind.SCROLL
    return node, kinds & ~Kind.PLACE if found.get(scroller) else kinds


def _differences(matching: Matching) -> Iterator[tuple[Node, Kind]]:
    for a, b in matching.pairs():
        if kinds := kinds_between(a, b):
            yield b, kinds
    for node in matching.new.nodes:
        if matching.to_old[node.order] < 0:
            around = (one for one in node.ancestors() if matching.to_old[one.order] >= 0)
            yield next(around, matching.new.root), Kind.PARTS
    for node in matching.old.nodes:
        if matching.to_new[node.order] < 0:
            partners = (matching.new_of(one) for one in node.ancestors())
            yield next((one for one in partners if one is not None), matching.new.root), Kind.PARTS


def _is_in_bar(screen: Screen, node: Node) -> bool:
    """The system's bars tell no news of an app."""
    return any(
        window.order <= node.order < window.end and is_system_bar(screen, window) for window in screen.windows
    )


@dataclass(slots=True)
class Track:
    """One node's unrest."""

    kinds: Kind
    first_ms: float
    last_ms: float
    count: int = 0
    ticks: int = 0
    """Changes in a row on screens of one build, each out of a rest."""
    build: int = 0

    @property
    def span_ms(self) -> float:
        return self.last_ms - self.first_ms

    @property
    def is_endless(self) -> bool:
        """It moves again and again, for longer than what ends by itself."""
        least = SCROLL_SPAN_MS if self.kinds & Kind.SCROLL else MIN_SPAN_MS
        return self.count >= MIN_CHANGES and self.span_ms >= least


class Motion:
    """What moved how often since the last touch."""

    def __init__(self, start_ms: float = 0.0) -> None:
        self._start_ms = start_ms
        self.tracks: dict[Key, Track] = {}

    def note(self, changes: Mapping[Node, Kind], at_ms: float, build: int = 0) -> dict[Key, Track]:
        """Count these changes; the tracks of those that are ticks."""
        ticks = {}
        for node, kinds in changes.items():
            key = key_of(node)
            track = self.tracks.get(key)
            rest = at_ms - (self._start_ms if track is None else track.last_ms)
            track = self.tracks.setdefault(key, Track(kinds, at_ms, at_ms, build=build))
            track.kinds |= kinds
            track.count += 1
            track.last_ms = at_ms
            if track.build != build:
                track.build, track.ticks = build, 0
            if rest >= CALM_MS:
                track.ticks += 1
                ticks[key] = track
        return ticks

    def endless(self, since_ms: float) -> dict[Key, Kind]:
        """Everything that moved after `since_ms`, if all of it moves again and again; else nothing."""
        recent = {key: track for key, track in self.tracks.items() if track.last_ms >= since_ms}
        is_endless = all(track.is_endless for track in recent.values())
        return {key: track.kinds for key, track in recent.items()} if is_endless else {}
