"""Waits until a screen has come to rest after an action, and not a moment longer.

Read at once, then every 20 ms; while nothing changes the gap grows to 200 ms, every change brings it back.
What is known to change by itself is left out, so that a screen that never stops still settles.
This is the loop, which looks, asks and sleeps. What to do next is decided by `judge`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from handrail.clock import Clock
from handrail.engine.look.judge import GRACE_MS, Evidence, LookAgain, Reason, Rested, Waiting, judge
from handrail.engine.look.looks import Look, Looks
from handrail.protocol.envelope import SettleReport, SyncReport
from handrail.surface.values import Synced
from handrail.tree.node import Screen

RECENT_MS = 700.0
"""What has not moved for so long has come to rest, whatever else still moves."""
FULL_MS = 10_000.0
LOADING_WAIT_MS = 8_000.0
"""A spinner is waited for as long on top of the settle budget."""
HELPER_MS = 250.0
"""A helper that hears events for so long is not asked again: only looks can tell what is restless."""
ASK_MS = 1_000.0
"""A screen that has not shown by then what it should is not asked alone any more."""
WAKE_MS = 0.05
"""A sleeper may wake a moment early; a look that began then would not count."""

Met = Callable[[Look], bool]


@dataclass(frozen=True, slots=True)
class Settled:
    """The screen at rest, and how it came to that."""

    seen: Look
    report: SettleReport


def never(_: Look) -> bool:
    """For actions that nothing proves."""
    return False


class Settling:
    """One wait. `met` says whether a look already shows what the action should achieve.

    `before` is the screen before the dispatch; None where nothing was dispatched.
    """

    def __init__(
        self,
        looks: Looks,
        clock: Clock,
        before: Look | None,
        *,
        met: Met = never,
        ask: Callable[[Look], Awaitable[None]] | None = None,
        budget_ms: float = FULL_MS,
        loading_ms: float = LOADING_WAIT_MS,
        patience_ms: float = 0.0,
    ) -> None:
        self._looks, self._listener, self._clock = looks, looks.rest, clock
        self._before = before
        self._met = met
        self._ask = ask
        self._judged: tuple[Screen, bool] | None = None
        start = clock.monotonic_ms()
        self._known = Waiting(start, start + budget_ms, loading_ms, start + patience_ms, before is not None)
        self._reads = 0
        self._asks_helper = True
        self.waited_ms = 0.0

    async def wait(self) -> Settled:
        """Until the screen rests, or a budget ends."""
        is_vouched = self._met is never and await self._helper_vouches(self._before)
        while True:
            seen = await self._looks.look()
            self._reads += 1
            await self._ask_device(seen)
            if self._listener is not None:
                self._listener.notice(seen.screen)
            self._known, decision = judge(self._known, self._evidence(seen, is_vouched))
            if decision.learns:
                self._looks.learn_endless(seen, seen.ended_ms - RECENT_MS)
            if isinstance(decision, LookAgain):
                is_vouched = await self._pause(seen, decision)
            elif await self._is_synced(seen, decision):
                await self._looks.name(seen)
                return self._settled(seen, decision.reason)
            else:
                is_vouched = False

    def _evidence(self, seen: Look, is_vouched: bool) -> Evidence:
        """What the judge needs to know. What it will not ask for is not found out."""
        looks, before, first = self._looks, self._before, self._known.first
        in_grace = seen.began_ms < self._known.start_ms + GRACE_MS
        return Evidence(
            seen,
            is_same=first is not None and looks.same(first.screen, seen.screen),
            is_as_before=in_grace and before is not None and looks.same(before.screen, seen.screen),
            is_met=self._is_met(seen),
            is_vouched=is_vouched,
            is_restless=bool(looks.restless.nodes(seen.screen)),
            is_endless=bool(looks.motion.endless(seen.ended_ms - RECENT_MS)),
            waits_for_idle=looks.eyes.waits_for_idle,
        )

    async def _ask_device(self, seen: Look) -> None:
        """Once, after a while, where the screen alone does not show what it should."""
        if self._ask is None or seen.ended_ms - self._known.start_ms < ASK_MS or self._is_met(seen):
            return
        ask, self._ask = self._ask, None
        await ask(seen)
        self._judged = None

    def _is_met(self, seen: Look) -> bool:
        """Asked once for each screen, however often it is looked at."""
        if self._judged is None or self._judged[0] is not seen.screen:
            self._judged = (seen.screen, self._met(seen))
        return self._judged[1]

    async def _is_synced(self, seen: Look, rested: Rested) -> bool:
        """The tail: whether the app itself is at rest. If not, it is waited for, and there is more to see."""
        if self._listener is None or not rested.sync_ms:
            return True
        probe = await self._listener.sync(seen.screen, rested.sync_ms)
        if probe is None:
            return True
        self._known = self._known.synced(probe)
        self.waited_ms += probe.ms
        return not probe.has_moved

    async def _pause(self, seen: Look, again: LookAgain) -> bool:
        """Sleep until the next look is worth it; true when a helper vouches for the quiet."""
        if again.may_be_last:
            self._looks.prepare(seen)
        if await self._helper_vouches(seen):
            return True
        pause = again.after_ms(self._clock.monotonic_ms()) + WAKE_MS
        await self._clock.sleep_ms(pause)
        self.waited_ms += pause
        return False

    async def _helper_vouches(self, seen: Look | None) -> bool:
        """Events on a screen with restless nodes never end, and a proof is quicker than any quiet."""
        is_restless = seen is not None and self._looks.restless.nodes(seen.screen)
        is_proved = self._known.proved is not None
        if self._listener is None or not self._asks_helper or is_proved or is_restless:
            return False
        began = self._clock.monotonic_ms()
        answer = await self._listener.wait_idle(HELPER_MS)
        self.waited_ms += self._clock.monotonic_ms() - began if answer is not None else 0.0
        self._asks_helper = answer is not None and answer.idle
        return self._asks_helper

    def _settled(self, seen: Look, reason: Reason) -> Settled:
        took = round(self._clock.monotonic_ms() - self._known.start_ms, 1)
        report = SettleReport(
            ms=took,
            reads=self._reads,
            reason=reason,
            loading=self._known.loading,
            sync=_told(self._known.probes),
        )
        return Settled(seen, report)


def _told(probes: Sequence[Synced]) -> SyncReport | None:
    """All probes of one wait as one."""
    if not probes:
        return None
    last = probes[-1]
    waited_for = dict.fromkeys(name for one in probes for name in one.waited_for)
    return SyncReport(
        framework=last.framework,
        channels=last.channels,
        ms=round(sum(one.ms for one in probes), 1),
        idle=last.idle,
        waited_for=tuple(waited_for) or None,
    )
