"""What a session has seen: fresh looks, refs that follow elements, revisions, and the screens behind them.

`look` only reads; `take` makes a look the session's own: refs are given, the revision counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

from handrail.clock import Clock
from handrail.engine.look.restless import Motion, Restless, build_of, changed
from handrail.errors import DeviceError, Timeout
from handrail.protocol.traits import Capability
from handrail.surface.capabilities import LookCapability, RestCapability, Surface, has
from handrail.tree.compact import CompactOptions, CompactResult
from handrail.tree.diff import Diff, diff
from handrail.tree.element.find import elements
from handrail.tree.fingerprint import at_rest, content_fingerprint, screen_fingerprint, state_signature
from handrail.tree.match.matching import Matching, match
from handrail.tree.node import Node, Screen
from handrail.tree.refs import Registry
from handrail.tree.signs import LoadingIndicator, ScreenDialog, loading_indicators, system_dialogs
from handrail.tree.windows import has_keyboard
from handrail.waiting import beside

KEPT = 32
"""Revisions whose screens are kept, so that `since` can be answered."""
COMPARED = 16
"""Verdicts on pairs of screens that are kept: a wait compares the same two again and again."""
MAY_REBOOT_MS = 1_000.0
"""No phone reboots in less; after a longer silence it is asked which boot it is living through."""

NO_LABELS: Mapping[str, str] = {}

_Verdict = tuple[Screen, Screen, int, bool]
"""Two screens, what was known of restlessness then, and whether they were the same."""


class Reading:
    """What can be told of one screen alone, each thing found out once, when it is first asked for."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.labels = NO_LABELS
        """The framework's names for elements that say nothing, by node id; given by `Sight.name`."""
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
class Look:
    """One look: what it showed, and when it was read. Looks at an unchanged screen share their reading."""

    reading: Reading
    began_ms: float
    ended_ms: float

    @property
    def screen(self) -> Screen:
        return self.reading.screen

    @property
    def fingerprint(self) -> str:
        return self.reading.fingerprint


class Looks:
    """The eyes of one session."""

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
        self.restless = Restless()
        self.motion = Motion()
        self.revision = revision
        self.boot_id = boot_id
        """Of the boot that refs and revisions belong to; "" until it is known."""
        self.last: Look | None = None
        """The last look that was taken."""
        self.reads = 0
        self.signature = signature
        """Of the screen at this revision."""
        self._kept: dict[int, Screen] = {}
        self._latest: Reading | None = None
        self._view: LookRefs | None = None
        self._labels = NO_LABELS  # of the last look that was taken
        self._heard_ms = clock.monotonic_ms()
        self._usual_ms = 0.0  # what the last look took
        self._anchor: Screen | None = None  # the first look since the last touch that showed this content
        self._verdicts: dict[tuple[int, int], _Verdict] = {}

    @cached_property
    def eyes(self) -> LookCapability:
        """What reads the screen. Raises `Unsupported` on a surface without one."""
        return cast("LookCapability", self._surface.capability(Capability.LOOK))

    @cached_property
    def rest(self) -> RestCapability | None:
        """What else can tell of the screen's rest; None where nothing can."""
        if not has(self._surface, Capability.REST):
            return None
        return cast("RestCapability", self._surface.capability(Capability.REST))

    async def look(self) -> Look:
        """Read the screen now. A failed read raises: it is never an answer."""
        began = self._clock.monotonic_ms()
        screen = await self._read(began)
        ended = self._clock.monotonic_ms()
        self._heard_ms, self._usual_ms = ended, ended - began
        self.reads += 1
        if self._latest is None or self._latest.screen is not screen:
            self._latest = Reading(screen)
        self._watch(screen, ended)
        return Look(self._latest, began, ended)

    async def _read(self, began: float) -> Screen:
        """After a silence in which the phone may have rebooted it is asked so, at the same time."""
        if began - self._heard_ms >= MAY_REBOOT_MS:
            async with beside(self._notice_reboot(), "boot id") as asking:
                screen = await self.eyes.look()
                await asking
            return screen
        screen = await self.eyes.look()
        took = self._clock.monotonic_ms() - began
        if took >= MAY_REBOOT_MS and took >= 2 * self._usual_ms:
            await self._notice_reboot()
        return screen

    async def _notice_reboot(self) -> None:
        """Refs end with the boot they were given in. A phone that can't tell is taken to be the same one."""
        try:
            facts = await self._surface.facts()
        except (DeviceError, Timeout):
            return
        boot_id = facts.boot_id if facts is not None else self.boot_id
        if self.boot_id and boot_id != self.boot_id:
            self.forget()
        self.boot_id = boot_id

    def touched(self) -> None:
        """Something is about to be done to the device: what changes from here on has a cause."""
        self._anchor = None
        self.motion = Motion(self._clock.monotonic_ms())

    def _watch(self, screen: Screen, at_ms: float) -> None:
        """Learn from every look what changes although nobody touched anything."""
        anchor = self._anchor
        if anchor is None:
            self._anchor = screen
        elif not self.same(anchor, screen):
            ticks = self.motion.note(changed(anchor, screen), at_ms, build_of(screen))
            self.restless.learn_slow(screen, ticks)
            self._anchor = screen
        self.restless.see(screen, at_ms)

    def same(self, one: Screen, other: Screen) -> bool:
        """Nothing changed but what is known to change by itself."""
        if one is other:
            return True
        known, version = self._verdicts.get((id(one), id(other))), self.restless.version
        if known is not None and known[0] is one and known[1] is other and known[2] == version:
            return known[3]
        verdict = at_rest(one, other, self.restless.between(one, other))
        if len(self._verdicts) >= COMPARED:
            del self._verdicts[next(iter(self._verdicts))]
        self._verdicts[id(one), id(other)] = (one, other, version, verdict)
        return verdict

    def is_idle_between(self, one: Screen, other: Screen) -> bool:
        """The same content, wherever it came from: nothing differs but what is known to be restless."""
        ignore = self.restless.nodes(one) | self.restless.nodes(other)
        return content_fingerprint(one, ignore) == content_fingerprint(other, ignore)

    def learn_endless(self, seen: Look, since_ms: float) -> None:
        """What has moved again and again since then; what of it may be left out is from now on."""
        self.restless.learn(seen.screen, self.motion.endless(since_ms))

    async def name(self, seen: Look) -> None:
        """Ask the app's framework, where it can be asked, what it calls its elements; once per screen."""
        reading, rest = seen.reading, self.rest
        if rest is None or reading.is_named:
            return
        labels = await rest.labels(seen.screen)
        if labels is not None:
            reading.labels, reading.is_named = labels, True

    async def look_and_take(self) -> Look:
        seen = await self.look()
        if self.rest is not None and await self.rest.refresh(seen.screen):
            seen = await self.look()
        await self.name(seen)
        self.take(seen)
        return seen

    def prepare(self, seen: Look) -> None:
        """While there is time: what taking this look will need, should it come to that."""
        if self.last is None or seen.screen is not self.last.screen:
            _ = seen.reading.signature, seen.reading.fingerprint, seen.reading.flags
            self.registry.prepare(seen.screen, seen.reading.labels)

    def take(self, seen: Look) -> None:
        """Make this look the session's present: elements that are still there keep their refs."""
        labels, self._labels = self._labels, seen.reading.labels
        if self.last is None or seen.screen is not self.last.screen or labels != self._labels:
            self._count(seen.reading)
            self.registry.rebuild(seen.screen, self._options(seen))
        self.last = seen

    def _count(self, reading: Reading) -> None:
        if reading.signature != self.signature:
            self.revision += 1
            self.signature = reading.signature
        self._kept[self.revision] = reading.screen
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]

    def _options(self, seen: Look, **more: Any) -> CompactOptions:
        reading = seen.reading
        return CompactOptions(
            fingerprint=reading.fingerprint,
            revision=self.revision,
            flags=reading.flags,
            external_labels=reading.labels,
            **more,
        )

    def render(self, **options: Any) -> CompactResult:
        """The present screen as compact text, with other options than the usual ones."""
        seen = sure(self.last)
        return self.registry.rebuild(seen.screen, self._options(seen, **options))

    @property
    def revision_name(self) -> str:
        return f"r{self.revision}"

    def at_revision(self, revision: int) -> Screen | None:
        """The screen as it was; None when it is no longer kept."""
        return self._kept.get(revision)

    def changes(self, old: Screen, new: Screen) -> Diff:
        """What changed, without what changes by itself."""
        if old is new:
            return Diff()
        known = self.registry.matching
        fits = known is not None and known.old is old and known.new is new
        return diff(
            old,
            new,
            matching=known if fits else None,
            elements=self.registry.elements if fits else None,
            ref_of=self.registry.ref_of,
            volatile=self.restless.between(old, new),
        )

    def view(self, seen: Look) -> LookRefs:
        """Handles for a look that was not taken."""
        labels = seen.reading.labels
        if self._view is None or not self._view.fits(seen.screen, labels):
            self._view = LookRefs(seen.screen, self.registry, labels)
        return self._view

    def forget(self) -> None:
        """Drop all elements, for a fresh start; numbers go on."""
        self.registry.clear()
        self.restless = Restless()
        self.touched()
        self._kept.clear()
        self._verdicts.clear()
        self.last = None
        self.signature = ""


class LookRefs:
    """Elements are followed to this screen from the last one that the registry has taken."""

    def __init__(self, screen: Screen, registry: Registry, labels: Mapping[str, str]) -> None:
        self._screen = screen
        self._external = labels
        self._registry = registry
        self._base = registry.screen
        self._is_taken = self._base is screen

    def fits(self, screen: Screen, labels: Mapping[str, str]) -> bool:
        """Nothing was taken or named since: it still tells the truth about this screen."""
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


def sure(value: T | None) -> T:
    """The value; a missing one is a mistake in the engine, not in the input."""
    if value is None:
        raise RuntimeError("a step of the engine came before the one it needs")
    return value
