"""The screens of a session: snapshots, refs that follow elements, and numbered revisions.

`capture` only reads the screen. `adopt` makes a snapshot current: refs are assigned and the revision counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from handrail.clock import Clock
from handrail.engine.volatile import MotionTracker, VolatileNodes, changed_nodes, layout_key
from handrail.errors import DeviceError, Timeout
from handrail.screen.compact import CompactOptions, CompactResult
from handrail.screen.dialogs import LoadingIndicator, ScreenDialog, loading_indicators, system_dialogs
from handrail.screen.diff import Diff, diff
from handrail.screen.elements import elements
from handrail.screen.fingerprint import at_rest, content_fingerprint, screen_fingerprint, state_signature
from handrail.screen.match import Matching, match
from handrail.screen.node import Node, Screen
from handrail.screen.refs import Registry
from handrail.screen.windows import has_keyboard
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
        words = {
            "keyboard": has_keyboard(self.screen),
            "dialog": bool(self.dialogs),
            "loading": bool(self.loading),
        }
        return [word for word, is_so in words.items() if is_so]


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
        """The current snapshot: the last one that was adopted."""
        self.reads = 0
        self.signature = signature
        """Of the screen at this revision."""
        self._by_revision: dict[int, Screen] = {}
        self._latest: ScreenAnalysis | None = None
        self._view: SnapshotRefs | None = None
        self._labels = NO_LABELS  # of the current snapshot
        self._heard_ms = clock.monotonic_ms()
        self._usual_ms = 0.0  # duration of the last capture
        self._anchor: Screen | None = None  # the first screen with the present content since the last input
        self._verdicts: dict[tuple[int, int], _Verdict] = {}

    @cached_property
    def reader(self) -> ScreenReader:
        """Raises `Unsupported` on a surface without a screen."""
        return self._surface.need(ScreenReader)

    @cached_property
    def idle_detection(self) -> IdleDetection | None:
        """None if only the screen itself tells whether it is idle."""
        return optional(self._surface, IdleDetection)

    async def capture(self) -> UiSnapshot:
        """Reads the screen. A failed read raises; an older screen is never returned instead."""
        began = self._clock.monotonic_ms()
        screen = await self._read(began)
        ended = self._clock.monotonic_ms()
        self._heard_ms, self._usual_ms = ended, ended - began
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

    async def _read(self, began: float) -> Screen:
        """After a silence in which the phone may have rebooted, its boot id is read at the same time."""
        if began - self._heard_ms >= MAY_REBOOT_MS:
            async with beside(self._notice_reboot(), "boot id") as asking:
                screen = await self.reader.look()
                await asking
            return screen
        screen = await self.reader.look()
        took = self._clock.monotonic_ms() - began
        if took >= MAY_REBOOT_MS and took >= 2 * self._usual_ms:
            await self._notice_reboot()
        return screen

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
        remembered, version = self._verdicts.get((id(screen), id(other))), self.volatile.version
        if (
            remembered is not None
            and remembered[0] is screen
            and remembered[1] is other
            and remembered[2] == version
        ):
            return remembered[3]
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
            self.registry.prepare(snapshot.screen, snapshot.analysis.labels)

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
        snapshot = required(self.last)
        return self.registry.rebuild(snapshot.screen, self._options(snapshot, **options))

    @property
    def revision_name(self) -> str:
        return f"r{self.revision}"

    def at_revision(self, revision: int) -> Screen | None:
        """None if the revision is no longer kept."""
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


def required(value: T | None) -> T:
    """Raises if it is None, which would be a bug in the engine."""
    if value is None:
        raise RuntimeError("a step of the engine came before the one it needs")
    return value
