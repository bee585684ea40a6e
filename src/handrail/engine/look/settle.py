"""Waits until a screen has come to rest after an action, and not a moment longer.

Read at once, then every 20 ms; while nothing changes the gap grows to 200 ms, every change brings it back.
What is known to change by itself is left out, so that a screen that never stops still settles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from handrail.clock import Clock
from handrail.engine.look.looks import Look, Looks, sure
from handrail.protocol.envelope import SettleReport, SyncReport
from handrail.surface.values import Synced
from handrail.tree.node import Screen

FIRST_GAP_MS = 20.0
LONGEST_GAP_MS = 200.0
QUIET_MS = 100.0
STEADY_MS = 150.0
"""Changes that follow each other this fast are frames of one animation, whose next frame may be late."""
LATE = 1.4
"""Times the pace of the frames so far."""
GRACE_MS = 150.0
"""A screen that is still as it was before the dispatch gets this long to react."""
ENDLESS_MS = 1_200.0
"""What still moves then, and moves again and again, is restless. Longer than any transition of a sane app."""
RECENT_MS = 700.0
"""What has not moved for so long has come to rest, whatever else still moves."""
PATIENT_MS = 400.0
"""`uiautomator dump` waits for half a second of quiet itself; an answer that took less did not."""
NEARLY = 1.5
"""Times the gap: a look that near to the moment that decides is put off to it."""
FULL_MS = 10_000.0
LOADING_WAIT_MS = 8_000.0
"""A spinner is waited for as long on top of the settle budget."""
HELPER_MS = 250.0
"""A helper that hears events for so long is not asked again: only looks can tell what is restless."""
SYNC_MS = 3_000.0
"""For all probes of the app's own framework together; what still goes on then is said and left."""
WAKE_MS = 0.05
"""A sleeper may wake a moment early; a look that began then would not count."""

Met = Callable[[Look], bool]
Reason = Literal["verified", "quiet", "volatile", "budget", "loading"]


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
        budget_ms: float = FULL_MS,
        loading_ms: float = LOADING_WAIT_MS,
        patience_ms: float = 0.0,
    ) -> None:
        self._looks, self._listener, self._clock = looks, looks.rest, clock
        self._before = before
        self._met = met
        self._start = clock.monotonic_ms()
        self._deadline = self._start + budget_ms
        self._loading_left_ms = loading_ms
        self._patient_until = self._start + patience_ms
        self._first: Look | None = None  # the first look that showed the present content
        self._pace = self._last_pace = float("inf")  # ms between the last changes
        self._met_since: Look | None = None
        self._judged: tuple[Screen, bool] | None = None
        self._loading_since: float | None = None
        self._waited_for: str | None = None  # also when it has ended: the caller wants to know
        self._gap = FIRST_GAP_MS
        self._reads = 0
        self._asks_helper = True
        self._synced: list[Synced] = []
        self.waited_ms = 0.0

    async def wait(self) -> Settled:
        """Until the screen rests, or a budget ends."""
        rested = self._met is never and await self._helper_vouches(self._before)
        while True:
            seen = await self._looks.look()
            self._reads += 1
            if self._listener is not None:
                self._listener.notice(seen.screen)
            self._compare(seen)
            reason = self._reason(seen, rested)
            if reason is None:
                rested = await self._pause(seen)
            elif await self._is_synced(seen, reason):
                await self._looks.name(seen)
                return self._settled(seen, reason)
            else:
                rested = False

    async def _is_synced(self, seen: Look, reason: Reason) -> bool:
        """The tail: whether the app itself is at rest. If not, it is waited for, and there is more to see."""
        told, spent = self._listener, sum(one.ms for one in self._synced)
        if told is None or reason in ("budget", "loading") or spent >= SYNC_MS:
            return True
        synced = await told.sync(seen.screen, SYNC_MS - spent)
        if synced is None:
            return True
        self._synced.append(synced)
        self.waited_ms += synced.ms
        if not synced.has_moved:
            return True
        self._deadline += synced.ms
        self._first = self._met_since = None
        self._gap = FIRST_GAP_MS
        return False

    def _compare(self, seen: Look) -> None:
        """Keep track of since when this content and the proof are there."""
        if self._first is None:
            self._first = seen
        elif not self._is_same(self._first, seen):
            self._pace, self._last_pace = seen.ended_ms - self._first.ended_ms, self._pace
            self._first = seen
            self._gap = FIRST_GAP_MS
        if not self._is_met(seen):
            self._met_since = None
        elif self._met_since is None or not self._is_same(self._met_since, seen):
            self._met_since = seen

    def _is_met(self, seen: Look) -> bool:
        """Asked once for each screen, however often it is looked at."""
        if self._judged is None or self._judged[0] is not seen.screen:
            self._judged = (seen.screen, self._met(seen))
        return self._judged[1]

    def _is_same(self, one: Look, other: Look) -> bool:
        return self._looks.same(one.screen, other.screen)

    def _reason(self, seen: Look, rested: bool) -> Reason | None:
        rest = self._rest(seen, rested)
        is_waiting = rest is None or self._waits_for_proof(seen)
        if not is_waiting and not seen.reading.loading:
            return rest
        is_loading = self._loads(seen, at_rest=not is_waiting)
        if seen.ended_ms >= self._deadline or (is_loading and self._loading_left_ms <= 0):
            return "loading" if is_loading else "budget"
        return None

    def _loads(self, seen: Look, *, at_rest: bool) -> bool:
        """After an action, a screen that only loads has a budget of its own, not taken from the other one."""
        since, self._loading_since = self._loading_since, None
        if since is not None:
            self._loading_left_ms -= seen.ended_ms - since
            self._deadline += seen.ended_ms - since if self._before is not None else 0.0
        if at_rest and seen.reading.loading:
            self._loading_since = seen.ended_ms
            self._waited_for = ", ".join(sign.why for sign in seen.reading.loading)
        return self._loading_since is not None

    def _rest(self, seen: Look, rested: bool) -> Reason | None:
        met = self._met_since
        is_patient = self._is_patient(seen)
        if met is not None and (is_patient or seen.began_ms - met.began_ms >= FIRST_GAP_MS):
            return "verified"
        if rested or is_patient or seen.began_ms >= self._quiet_at(seen):
            return "volatile" if self._ignores(seen) else "quiet"
        if seen.ended_ms - self._start >= ENDLESS_MS:
            return "volatile" if self._looks.learn_endless(seen, seen.ended_ms - RECENT_MS) else None
        return None

    def _is_patient(self, seen: Look) -> bool:
        """A read that took its time on a channel that waits for idle itself has already seen the quiet."""
        return self._looks.eyes.waits_for_idle and seen.ended_ms - seen.began_ms >= PATIENT_MS

    def _quiet_at(self, seen: Look) -> float:
        slower = max(self._pace, self._last_pace)
        window = max(QUIET_MS, LATE * slower) if slower <= STEADY_MS else QUIET_MS
        quiet = sure(self._first).ended_ms + window
        if self._before is None or quiet >= self._start + GRACE_MS:
            return quiet
        return self._start + GRACE_MS if self._is_same(self._before, seen) else quiet

    def _ignores(self, seen: Look) -> bool:
        """Something moved and was left out."""
        return seen.screen is not sure(self._first).screen and bool(self._looks.restless.nodes(seen.screen))

    def _waits_for_proof(self, seen: Look) -> bool:
        return self._met_since is None and seen.ended_ms < self._patient_until

    async def _pause(self, seen: Look) -> bool:
        """Sleep until the next look is worth it; true when a helper vouches for the quiet."""
        if self._may_be_last(seen):
            self._looks.prepare(seen)
        if await self._helper_vouches(seen):
            return True
        pause = self._until_next(seen) + WAKE_MS
        await self._clock.sleep_ms(pause)
        self.waited_ms += pause
        self._gap = min(self._gap * 2, LONGEST_GAP_MS)
        return False

    def _until_next(self, seen: Look) -> float:
        """A look just before the moment that decides is left out: the one at that moment tells the same."""
        now = self._clock.monotonic_ms()
        if self._met_since is not None:
            return max(0.0, min(self._gap, self._met_since.began_ms + FIRST_GAP_MS - now))
        quiet_at = self._quiet_at(seen)
        if seen.began_ms < quiet_at <= now + NEARLY * self._gap + seen.ended_ms - seen.began_ms:
            return max(0.0, quiet_at - now)
        return self._gap

    def _may_be_last(self, seen: Look) -> bool:
        """The proof is there, or the content was seen twice: the next look may well be the end."""
        return self._met_since is not None or seen is not self._first

    async def _helper_vouches(self, seen: Look | None) -> bool:
        """Events on a screen with restless nodes never end, and a proof is quicker than any quiet."""
        is_restless = seen is not None and self._looks.restless.nodes(seen.screen)
        if self._listener is None or not self._asks_helper or self._met_since is not None or is_restless:
            return False
        began = self._clock.monotonic_ms()
        answer = await self._listener.wait_idle(HELPER_MS)
        self.waited_ms += self._clock.monotonic_ms() - began if answer is not None else 0.0
        self._asks_helper = answer is not None and answer.idle
        return self._asks_helper

    def _settled(self, seen: Look, reason: Reason) -> Settled:
        took = round(self._clock.monotonic_ms() - self._start, 1)
        report = SettleReport(
            ms=took,
            reads=self._reads,
            reason=reason,
            loading=self._waited_for,
            sync=_told(self._synced),
        )
        return Settled(seen, report)


def _told(probes: list[Synced]) -> SyncReport | None:
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
