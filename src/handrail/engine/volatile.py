"""What changes between two looks while nobody acts, by kind of change, and how often it did so.

Pure: `changed` compares two screens, `Motion` counts since the last touch. What a session makes of it is
`restless`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntFlag

from handrail.tree.clocks import is_clock_like
from handrail.tree.fingerprint import JITTER_PX
from handrail.tree.match.matching import Matching, match
from handrail.tree.node import FOCUSED, Node, Screen
from handrail.tree.windows import is_system_bar

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
