"""The screens of a session: snapshots, refs that follow elements, and numbered revisions.

`capture` only reads the screen. `adopt` makes a snapshot current: refs are assigned and the revision counts.

Nodes that change without input, such as tickers and animations, are learned, ignored, and forgotten. Only the
learned kind of change is ignored: a ticker may still disappear or become disabled. Nothing that a person sets
(switch, field, slider) is ever learned, so a person's change is always noticed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntFlag
from functools import cached_property
from typing import Any, TypeVar

from handrail.clock import Clock
from handrail.errors import DeviceError, Timeout
from handrail.screen.compact import CompactOptions, CompactResult
from handrail.screen.diff import Diff, diff
from handrail.screen.elements import elements
from handrail.screen.fingerprint import at_rest, content_fingerprint, screen_fingerprint, state_signature
from handrail.screen.match import Matching, match
from handrail.screen.node import (
    CHECKABLE,
    CLICKABLE,
    FOCUSED,
    JITTER_PX,
    LONG_CLICKABLE,
    SCROLLABLE,
    Bounds,
    Node,
    Screen,
)
from handrail.screen.refs import Registry
from handrail.screen.text import is_clock_like
from handrail.screen.windows import (
    LoadingIndicator,
    ScreenDialog,
    has_keyboard,
    is_system_bar,
    loading_indicators,
    system_dialogs,
)
from handrail.surface.capabilities import IdleDetection, ScreenReader, Surface, optional
from handrail.waiting import beside

REVISIONS = 32
"""Revisions whose screens are kept to answer `since`."""
COMPARED = 16
"""Cached comparisons; a wait compares the same two screens repeatedly."""
MAY_REBOOT_MS = 1_000.0
"""No phone reboots faster. After a longer silence its boot id is read again."""

NO_LABELS: Mapping[str, str] = {}

_Verdict = tuple[Screen, Screen, int, bool]
"""Two screens, the version of the volatile nodes, and whether the screens were equal."""


class ScreenAnalysis:
    """What is computed from one screen, each lazily and once."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.labels = NO_LABELS
        """The app framework's names for elements without text, by node id; set by `fetch_labels`."""
        self.is_named = False

    @cached_property
    def fingerprint(self) -> str:
        return screen_fingerprint(self.screen)

    @cached_property
    def signature(self) -> str:
        return state_signature(self.screen)

    @cached_property
    def loading(self) -> list[LoadingIndicator]:
        return loading_indicators(self.screen)

    @cached_property
    def dialogs(self) -> list[ScreenDialog]:
        return system_dialogs(self.screen)

    @cached_property
    def flags(self) -> list[str]:
        """Words for the header of the compact text."""
        shown = ("keyboard", has_keyboard(self.screen)), ("dialog", self.dialogs), ("loading", self.loading)
        return [word for word, is_shown in shown if is_shown]


@dataclass(frozen=True, slots=True, eq=False)
class UiSnapshot:
    """One reading of the screen with its times. Snapshots of an unchanged screen share `analysis`."""

    analysis: ScreenAnalysis
    began_ms: float
    ended_ms: float

    @property
    def screen(self) -> Screen:
        return self.analysis.screen

    @property
    def fingerprint(self) -> str:
        return self.analysis.fingerprint


class ScreenTracker:
    """The current screen of a session and its history."""

    def __init__(
        self,
        surface: Surface,
        clock: Clock,
        registry: Registry,
        revision: int = 0,
        signature: str = "",
        *,
        boot_id: str = "",
    ) -> None:
        self._surface = surface
        self._clock = clock
        self.registry = registry
        self.volatile = VolatileNodes()
        self.motion = MotionTracker()
        self.revision = revision
        self.boot_id = boot_id
        """The boot that refs and revisions belong to; "" until it is known."""
        self.last: UiSnapshot | None = None
        self.picture: asyncio.Task[bytes] | None = None
        """One that is being taken: no input is sent before it is there."""
        """The current snapshot: the last one that was adopted."""
        self.reads = 0
        self.signature = signature
        """Of the screen at this revision."""
        self._by_revision: dict[int, Screen] = {}
        self._latest: ScreenAnalysis | None = None
        self._view: SnapshotRefs | None = None
        self._labels = NO_LABELS  # of the current snapshot
        self._heard_ms = clock.monotonic_ms()
        self._anchor: Screen | None = None  # the first screen with the present content since the last input
        self._verdicts: dict[tuple[int, int], _Verdict] = {}

    @cached_property
    def reader(self) -> ScreenReader:
        """Raises `Unsupported` on a surface without a screen."""
        return self._surface.need(ScreenReader)

    @cached_property
    def idle_detection(self) -> IdleDetection | None:
        """Returns None if only the screen itself tells whether it is idle."""
        return optional(self._surface, IdleDetection)

    async def capture(self) -> UiSnapshot:
        """Reads the screen. A failed read raises; an older screen is never returned instead."""
        began = self._clock.monotonic_ms()
        if began - self._heard_ms >= MAY_REBOOT_MS:  # meanwhile it may have rebooted
            async with beside(self._notice_reboot(), "boot id") as asking:
                screen = await self.reader.look()
                await asking
        else:
            screen = await self.reader.look()
        if self._clock.monotonic_ms() - began >= MAY_REBOOT_MS:  # also on a phone whose looks are always slow
            await self._notice_reboot()
        ended = self._clock.monotonic_ms()
        self._heard_ms = ended
        self.reads += 1
        if self._latest is None or self._latest.screen is not screen:
            self._latest = ScreenAnalysis(screen)
        # Learns which nodes change although no input was sent.
        anchor = self._anchor
        if anchor is None:
            self._anchor = screen
        elif not self.is_same(anchor, screen):
            ticks = self.motion.note(changed_nodes(anchor, screen), ended, layout_key(screen))
            self.volatile.learn_slow(screen, ticks)
            self._anchor = screen
        self.volatile.observe(screen, ended)
        return UiSnapshot(self._latest, began, ended)

    async def _notice_reboot(self) -> None:
        """Refs are valid for one boot. A phone that can't tell its boot id counts as not rebooted."""
        try:
            facts = await self._surface.facts()
        except (DeviceError, Timeout):
            return
        boot_id = facts.boot_id if facts is not None else self.boot_id
        if self.boot_id and boot_id != self.boot_id:
            self.reset()
        self.boot_id = boot_id

    def mark_input(self) -> None:
        """Called before input is sent: later changes may be caused by it."""
        self._anchor = None
        self.motion = MotionTracker(self._clock.monotonic_ms())

    def is_same(self, screen: Screen, other: Screen) -> bool:
        """Equal except for volatile nodes."""
        if screen is other:
            return True
        version = self.volatile.version
        match self._verdicts.get((id(screen), id(other))):
            case (old, new, of_version, verdict) if old is screen and new is other and of_version == version:
                return verdict
        verdict = at_rest(screen, other, self.volatile.between(screen, other))
        if len(self._verdicts) >= COMPARED:
            del self._verdicts[next(iter(self._verdicts))]
        self._verdicts[id(screen), id(other)] = (screen, other, version, verdict)
        return verdict

    def has_same_content(self, screen: Screen, other: Screen) -> bool:
        """Equal content except for volatile nodes, even if the positions in the tree differ."""
        ignore = self.volatile.nodes(screen) | self.volatile.nodes(other)
        return content_fingerprint(screen, ignore) == content_fingerprint(other, ignore)

    async def fetch_labels(self, snapshot: UiSnapshot) -> None:
        """Asks the app's framework, if possible, for the names of its elements; once per screen."""
        analysis, detector = snapshot.analysis, self.idle_detection
        if detector is None or analysis.is_named:
            return
        labels = await detector.labels(snapshot.screen)
        if labels is not None:
            analysis.labels, analysis.is_named = labels, True

    async def refresh(self) -> UiSnapshot:
        snapshot = await self.capture()
        if self.idle_detection is not None and await self.idle_detection.refresh(snapshot.screen):
            snapshot = await self.capture()
        await self.fetch_labels(snapshot)
        self.adopt(snapshot)
        return snapshot

    def prepare(self, snapshot: UiSnapshot) -> None:
        """Computes during idle time what adopting this snapshot will need."""
        if self.last is None or snapshot.screen is not self.last.screen:
            _ = snapshot.analysis.signature, snapshot.analysis.fingerprint, snapshot.analysis.flags
            self.registry.prepare_rebuild(snapshot.screen, snapshot.analysis.labels)

    def adopt(self, snapshot: UiSnapshot) -> None:
        """Makes this snapshot current: elements that are still there keep their refs."""
        labels, self._labels = self._labels, snapshot.analysis.labels
        if self.last is None or snapshot.screen is not self.last.screen or labels != self._labels:
            if snapshot.analysis.signature != self.signature:
                self.revision += 1
                self.signature = snapshot.analysis.signature
            self._by_revision[self.revision] = snapshot.analysis.screen
            while len(self._by_revision) > REVISIONS:
                del self._by_revision[next(iter(self._by_revision))]
            self.registry.rebuild(snapshot.screen, self._options(snapshot))
        self.last = snapshot

    def _options(self, snapshot: UiSnapshot, **more: Any) -> CompactOptions:
        analysis = snapshot.analysis
        return CompactOptions(
            fingerprint=analysis.fingerprint,
            revision=self.revision,
            flags=analysis.flags,
            external_labels=analysis.labels,
            **more,
        )

    def render(self, **options: Any) -> CompactResult:
        """The current screen as compact text with these options."""
        snapshot = require_present(self.last)
        return self.registry.rebuild(snapshot.screen, self._options(snapshot, **options))

    @property
    def revision_name(self) -> str:
        return f"r{self.revision}"

    def at_revision(self, revision: int) -> Screen | None:
        """Returns None if the revision is no longer kept."""
        return self._by_revision.get(revision)

    def changes(self, old: Screen, new: Screen) -> Diff:
        """The diff without volatile nodes."""
        if old is new:
            return Diff()
        matching = self.registry.matching
        fits = matching is not None and matching.old is old and matching.new is new
        return diff(
            old,
            new,
            matching=matching if fits else None,
            elements=self.registry.elements if fits else None,
            ref_of=self.registry.ref_of,
            volatile=self.volatile.between(old, new),
        )

    def refs_on(self, snapshot: UiSnapshot) -> SnapshotRefs:
        """Resolves refs on a snapshot that was not adopted."""
        labels = snapshot.analysis.labels
        if self._view is None or not self._view.fits(snapshot.screen, labels):
            self._view = SnapshotRefs(snapshot.screen, self.registry, labels)
        return self._view

    def reset(self) -> None:
        """Drops all elements; numbering continues."""
        self.registry.clear()
        self.volatile = VolatileNodes()
        self.mark_input()
        self._by_revision.clear()
        self._verdicts.clear()
        self.last = None
        self.signature = ""


class SnapshotRefs:
    """Follows refs from the registry's screen to another screen."""

    def __init__(self, screen: Screen, registry: Registry, labels: Mapping[str, str]) -> None:
        self._screen = screen
        self._external = labels
        self._registry = registry
        self._base = registry.screen
        self._is_taken = self._base is screen

    def fits(self, screen: Screen, labels: Mapping[str, str]) -> bool:
        """False once another screen was adopted or labelled."""
        is_same = self._screen is screen and self._external is labels
        return is_same and self._base is self._registry.screen

    @cached_property
    def _matching(self) -> Matching | None:
        return None if self._base is None else match(self._base, self._screen)

    @cached_property
    def _labels(self) -> Mapping[Node, str]:
        return {element.node: element.label for element in elements(self._screen, self._external)}

    def resolve(self, ref: str) -> Node:
        node = self._registry.resolve(ref)
        if self._is_taken or self._matching is None:
            return node
        partner = self._matching.new_of(node)
        if partner is None:
            raise self._registry.stale(ref)
        return partner

    def ref_of(self, node: Node) -> str | None:
        if self._is_taken or self._matching is None:
            return self._registry.ref_of(node)
        partner = self._matching.old_of(node)
        return self._registry.ref_of(partner) if partner is not None else None

    def label_of(self, node: Node) -> str:
        return self._registry.label_of(node) if self._is_taken else self._labels.get(node, "")


T = TypeVar("T")


def require_present(value: T | None) -> T:
    """Raises if it is None, which would be a bug in the engine."""
    if value is None:
        raise RuntimeError("a step of the engine came before the one it needs")
    return value


TICKS = 3
"""A node that changed this often between inputs is a slow ticker."""
STRETCHES = 2
"""So is one that changed twice between two inputs, in this many stretches."""
STILL_MS = 15_000.0
"""A node that stayed the same for this long, in `STILL_SNAPSHOTS` snapshots, is not volatile any more."""
STILL_SNAPSHOTS = 3
CACHED_SCREENS = 8
"""Screens whose volatile nodes are cached."""
MOST_STRETCHES = 5_000

_SET_BY_PEOPLE = frozenset({"text_field", "slider", "spinner", "switch", "check_box", "radio_button"})
_TOUCHED = CLICKABLE | LONG_CLICKABLE | CHECKABLE

Value = tuple[str, str, str, Bounds, int]


@dataclass(slots=True)
class _LearnedChange:
    kinds: ChangeKind
    value: Value | None = None
    since_ms: float = 0.0
    snapshots: int = 0


class VolatileNodes:
    """The volatile nodes of each screen; screens are identified by their layout."""

    def __init__(self) -> None:
        self._learned: dict[int, dict[Key, _LearnedChange]] = {}
        self._stretches: dict[tuple[int, Key], int] = {}
        self._cached: dict[int, tuple[Screen, dict[Key, Node]]] = {}
        self.version = 0
        """Changes whenever something is learned or forgotten."""

    def learn(self, screen: Screen, kinds: Mapping[Key, ChangeKind]) -> None:
        """Marks nodes as volatile, except those that must not be ignored."""
        nodes = {node_key(node): node for node in screen.nodes} if kinds else {}
        busy = {sign.node for sign in loading_indicators(screen)} if kinds else set()
        for key, kind in kinds.items():
            node = nodes.get(key)
            if node is not None and node not in busy and may_be_left_out(screen, node, kind):
                learned = self._learned.setdefault(layout_key(screen), {}).setdefault(
                    key, _LearnedChange(kind)
                )
                learned.kinds |= kind
                self._changed()

    def learn_slow(self, screen: Screen, ticks: Mapping[Key, NodeMotion]) -> None:
        """Learns slow tickers: nodes that keep changing between snapshots without input."""
        slow = {key: track.kinds for key, track in ticks.items() if self._is_slow(key, track)}
        if slow:
            plain = {node_key(node) for node in screen.nodes if is_plain(node)}
            self.learn(screen, {key: kinds for key, kinds in slow.items() if key in plain})

    def _is_slow(self, key: Key, track: NodeMotion) -> bool:
        if track.kinds & ~(ChangeKind.WORDS | ChangeKind.PLACE):
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

    def observe(self, screen: Screen, at_ms: float) -> None:
        """Forgets nodes that have stayed the same for long."""
        learned = self._learned.get(layout_key(screen)) if self._learned else None
        if not learned:
            return
        nodes = self._nodes(screen)
        for key, volatile in list(learned.items()):
            value = None
            if node := nodes.get(key):
                words = node.text, node.description, node.state_description
                value = (*words, node.bounds, node.end - node.order)
            if value != volatile.value:
                volatile.value, volatile.since_ms, volatile.snapshots = value, at_ms, 0
            volatile.snapshots += 1
            if volatile.snapshots > STILL_SNAPSHOTS and at_ms - volatile.since_ms >= STILL_MS:
                del learned[key]
                self._changed()

    def _changed(self) -> None:
        self._cached.clear()
        self.version += 1

    def nodes(self, screen: Screen) -> frozenset[Node]:
        return frozenset(self._nodes(screen).values()) if self._learned else frozenset()

    def between(self, old: Screen, new: Screen) -> frozenset[Node]:
        """The nodes of both screens to ignore when they are compared."""
        if not self._learned:
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
        """Only learned kinds of change occurred, in the node and in its descendants, which are ignored with
        it."""
        learned = self._learned[layout_key(new)]
        kinds = learned[key].kinds
        if change_kinds(before, after) & ~kinds:
            return False
        if kinds & (ChangeKind.PARTS | ChangeKind.SCROLL):
            return True
        parts, now = old.inside(before), new.inside(after)
        if len(parts) != len(now):
            return False
        for part, new_part in zip(parts, now, strict=True):
            own = learned.get(node_key(new_part))
            allowed = (own.kinds if own else ChangeKind(0)) | kinds & ChangeKind.PLACE
            if change_kinds(part, new_part) & ~allowed:
                return False
        return True

    def _nodes(self, screen: Screen) -> dict[Key, Node]:
        held = self._cached.get(id(screen))
        if held is not None and held[0] is screen:
            return held[1]
        learned = self._learned.get(layout_key(screen), {})
        alike = {key[1:] for key in learned}
        candidates = (n for n in screen.nodes if (n.class_name, n.resource_id) in alike) if learned else ()
        nodes = {key: node for node in candidates if (key := node_key(node)) in learned}
        if len(self._cached) >= CACHED_SCREENS:
            del self._cached[next(iter(self._cached))]
        self._cached[id(screen)] = (screen, nodes)
        return nodes


def may_be_left_out(screen: Screen, node: Node, kinds: ChangeKind) -> bool:
    """Never a window, a control that a person sets, or a container with one or of half the screen."""
    if node.parent is None or node in screen.windows or node.role in _SET_BY_PEOPLE:
        return False
    if node.flags & CHECKABLE or (kinds & ChangeKind.STATE and node.flags & _TOUCHED):
        return False
    if kinds & (ChangeKind.PARTS | ChangeKind.SCROLL):
        holds_settings = any(part.role in _SET_BY_PEOPLE or part.checkable for part in screen.inside(node))
        return not holds_settings and node.bounds.area * 2 <= screen.bounds.area
    return True


def is_plain(node: Node) -> bool:
    """Neither the node nor a row around it can be touched, so no input changed it."""
    if node.flags & (_TOUCHED | SCROLLABLE) or node.role in _SET_BY_PEOPLE:
        return False
    return not any(ancestor.flags & _TOUCHED for ancestor in node.ancestors())


def layout_key(screen: Screen) -> int:
    """A hash of the package and the node kinds outside of lists, independent of text."""
    parts = {(screen.package, "")}
    order = 0
    while order < len(screen.nodes):
        node = screen.nodes[order]
        parts.add((node.class_name, node.resource_id))
        order = node.end if node.scrollable else order + 1
    return hash(frozenset(parts))


Key = tuple[str, str, str]
"""Path, class and resource id: identifies a node on screens with the same layout."""

MIN_CHANGES = 3
MIN_SPAN_MS = 500.0
CALM_MS = 400.0
"""A change after this long is a tick, not a frame of an animation."""
SCROLL_SPAN_MS = 4_000.0
"""A fling ends sooner; what still scrolls then scrolls by itself."""


class ChangeKind(IntFlag):
    """What changed about a node."""

    WORDS = 1
    PLACE = 2
    PARTS = 4
    """Descendants appeared or disappeared."""
    STATE = 8
    """Checked, selected, enabled and similar flags."""
    SCROLL = 16
    """Its content scrolled."""


def node_key(node: Node) -> Key:
    return node.id, node.class_name, node.resource_id


def change_kinds(old: Node, new: Node) -> ChangeKind:
    """How a node differs from before. Focus, clocks and jitter do not count."""
    kinds = ChangeKind(0)
    if (old.flags ^ new.flags) & ~FOCUSED:
        kinds |= ChangeKind.STATE
    if old.bounds != new.bounds and any(
        abs(a - b) > JITTER_PX for a, b in zip(old.bounds, new.bounds, strict=True)
    ):
        kinds |= ChangeKind.PLACE
    words, former = ((node.text, node.description, node.state_description) for node in (new, old))
    if words != former and any(
        was != now and not (is_clock_like(was) and is_clock_like(now))
        for was, now in zip(former, words, strict=True)
    ):
        kinds |= ChangeKind.WORDS
    return kinds


def changed_nodes(old: Screen, new: Screen) -> dict[Node, ChangeKind]:
    """Nodes of `new` that differ; for nodes that appeared or disappeared, their container."""
    if old is new:
        return {}
    matching = match(old, new)
    changes = {scroll.new: ChangeKind.SCROLL for scroll in matching.scrolls}
    for explained, how in _differences(matching):
        node, kinds = _attribute_to_scroller(explained, how, changes)
        # Changes in the system bars say nothing about an app.
        if kinds and not any(
            window.order <= node.order < window.end and is_system_bar(new, window) for window in new.windows
        ):
            changes[node] = changes.get(node, ChangeKind(0)) | kinds
    return changes


def _attribute_to_scroller(
    node: Node, kinds: ChangeKind, changes: Mapping[Node, ChangeKind]
) -> tuple[Node, ChangeKind]:
    """A scroll moves, adds and removes rows: all of that is one change of the scroller."""
    around = (
        ancestor
        for ancestor in (node, *node.ancestors())
        if changes.get(ancestor, ChangeKind(0)) & ChangeKind.SCROLL
    )
    scroller = next(around, node if node.scrollable else None)
    if scroller is None:
        return node, kinds
    if kinds & ChangeKind.PARTS:
        return scroller, ChangeKind.SCROLL
    return node, kinds & ~ChangeKind.PLACE if changes.get(scroller) else kinds


def _differences(matching: Matching) -> Iterator[tuple[Node, ChangeKind]]:
    for a, b in matching.pairs():
        if kinds := change_kinds(a, b):
            yield b, kinds
    for node in matching.new.nodes:
        if matching.to_old[node.order] < 0:
            around = (above for above in node.ancestors() if matching.to_old[above.order] >= 0)
            yield next(around, matching.new.root), ChangeKind.PARTS
    for node in matching.old.nodes:
        if matching.to_new[node.order] < 0:
            partners = (matching.new_of(ancestor) for ancestor in node.ancestors())
            yield (
                next((partner for partner in partners if partner is not None), matching.new.root),
                ChangeKind.PARTS,
            )


@dataclass(slots=True)
class NodeMotion:
    """How often and how long one node has been changing."""

    kinds: ChangeKind
    first_ms: float
    last_ms: float
    count: int = 0
    ticks: int = 0
    """Consecutive changes on screens of one layout, each after a pause."""
    build: int = 0

    @property
    def is_endless(self) -> bool:
        """It keeps changing for longer than animations that end."""
        least = SCROLL_SPAN_MS if self.kinds & ChangeKind.SCROLL else MIN_SPAN_MS
        return self.count >= MIN_CHANGES and self.last_ms - self.first_ms >= least


class MotionTracker:
    """Counts the changes of each node since the last input."""

    def __init__(self, start_ms: float = 0.0) -> None:
        self._start_ms = start_ms
        self.tracks: dict[Key, NodeMotion] = {}

    def note(self, changes: Mapping[Node, ChangeKind], at_ms: float, build: int = 0) -> dict[Key, NodeMotion]:
        """Counts these changes and returns the nodes for which this was a tick."""
        ticks = {}
        for node, kinds in changes.items():
            key = node_key(node)
            track = self.tracks.get(key)
            rest = at_ms - (self._start_ms if track is None else track.last_ms)
            track = self.tracks.setdefault(key, NodeMotion(kinds, at_ms, at_ms, build=build))
            track.kinds |= kinds
            track.count += 1
            track.last_ms = at_ms
            if track.build != build:
                track.build, track.ticks = build, 0
            if rest >= CALM_MS:
                track.ticks += 1
                ticks[key] = track
        return ticks

    def endless(self, since_ms: float) -> dict[Key, ChangeKind]:
        """All nodes that changed after `since_ms`, if every one of them is endless; else nothing."""
        recent = {key: track for key, track in self.tracks.items() if track.last_ms >= since_ms}
        is_endless = all(track.is_endless for track in recent.values())
        return {key: track.kinds for key, track in recent.items()} if is_endless else {}
