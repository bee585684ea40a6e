"""Waits until a screen is stable after an action.

The screen is read at once, then every 20 ms; while nothing changes the gap grows to 200 ms, and every change
resets it. Volatile nodes are ignored, so that a screen that never stops moving still settles.
`SettleLoop` reads, asks and sleeps. `decide` is pure: it has no clock, device or I/O.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal

from handrail.clock import Clock
from handrail.engine.snapshot import ScreenTracker, UiSnapshot, require_present
from handrail.protocol.envelope import SettleReport, SyncReport
from handrail.screen.node import Screen
from handrail.surface.values import Synced

RECENT_MS = 700.0
"""A node that has not changed for this long is at rest, whatever else still moves."""
FULL_MS = 10_000.0
"""The budget of a wait; longer only if the proof is more patient."""
LOADING_WAIT_MS = 8_000.0
"""A loading indicator is waited for this long on top of the settle budget."""
HELPER_MS = 250.0
"""If the helper still reports events after this long it is not asked again: only snapshots tell what is
volatile."""
ASK_MS = 1_000.0
"""If the screen does not show the proof by then, the device is asked as well."""
WAKE_MS = 0.05
"""A sleep may end slightly early; a snapshot that begins then would not count."""

Met = Callable[[UiSnapshot], bool]


@dataclass(frozen=True, slots=True)
class Settled:
    """The stable screen, and how the wait went."""

    snapshot: UiSnapshot
    report: SettleReport


def no_proof(_: UiSnapshot) -> bool:
    return False


class SettleLoop:
    """One wait. `met` tells whether a snapshot already shows what the action should achieve.

    `before` is the snapshot before the dispatch; None if nothing was dispatched.
    """

    def __init__(
        self,
        screens: ScreenTracker,
        clock: Clock,
        before: UiSnapshot | None,
        *,
        met: Met = no_proof,
        ask: Callable[[UiSnapshot], Awaitable[None]] | None = None,
        budget_ms: float = FULL_MS,
        loading_ms: float = LOADING_WAIT_MS,
        patience_ms: float = 0.0,
    ) -> None:
        self._screens, self._listener, self._clock = screens, screens.idle_detection, clock
        self._before = before
        self._met = met
        self._ask = ask
        self._met_on: tuple[Screen, bool] | None = None
        start = clock.monotonic_ms()
        self._state = SettleState(
            start, start + budget_ms, loading_ms, start + patience_ms, before is not None
        )
        self._reads = 0
        self._asks_helper = True
        self.waited_ms = 0.0

    async def wait(self) -> Settled:
        """Returns when the screen is stable or a budget is used up."""
        is_idle = self._listener is not None and self._before is not None and self._listener.is_rested()
        if not is_idle and self._met is no_proof:
            is_idle = await self._is_helper_idle(self._before)
        while True:
            snapshot = await self._screens.capture()
            self._reads += 1
            await self._ask_device(snapshot)
            if self._listener is not None:
                self._listener.notice(snapshot.screen)
            self._state, decision = decide(self._state, self._evidence(snapshot, is_idle))
            if decision.learns:
                moving = self._screens.motion.endless(snapshot.ended_ms - RECENT_MS)
                self._screens.volatile.learn(snapshot.screen, moving)
            if isinstance(decision, CaptureAgain):
                is_idle = await self._pause(snapshot, decision)
            elif await self._is_synced(snapshot, decision):
                await self._screens.fetch_labels(snapshot)
                return self._settled(snapshot, decision.reason)
            else:
                is_idle = False

    def _evidence(self, snapshot: UiSnapshot, is_idle: bool) -> SettleEvidence:
        """Collects what `decide` needs, and computes nothing that it will not use."""
        screens, before, first = self._screens, self._before, self._state.first
        in_grace = snapshot.began_ms < self._state.start_ms + GRACE_MS
        return SettleEvidence(
            snapshot,
            is_same=first is not None and screens.is_same(first.screen, snapshot.screen),
            is_as_before=in_grace and before is not None and screens.is_same(before.screen, snapshot.screen),
            is_met=self._is_met(snapshot),
            is_helper_idle=is_idle,
            has_volatile=bool(screens.volatile.nodes(snapshot.screen)),
            is_endless=bool(screens.motion.endless(snapshot.ended_ms - RECENT_MS)),
            waits_for_idle=screens.reader.waits_for_idle,
        )

    async def _ask_device(self, snapshot: UiSnapshot) -> None:
        """Asks the device once, after `ASK_MS`, if the screen does not show the proof."""
        if self._ask is None or snapshot.ended_ms - self._state.start_ms < ASK_MS or self._is_met(snapshot):
            return
        ask, self._ask = self._ask, None
        await ask(snapshot)
        self._met_on = None

    def _is_met(self, snapshot: UiSnapshot) -> bool:
        """Asks once per screen."""
        if self._met_on is None or self._met_on[0] is not snapshot.screen:
            self._met_on = (snapshot.screen, self._met(snapshot))
        return self._met_on[1]

    async def _is_synced(self, snapshot: UiSnapshot, rested: SettleDone) -> bool:
        """Asks the app's framework whether it is idle. If it was busy, the screen is read again."""
        if self._listener is None or not rested.sync_ms:
            return True
        probe = await self._listener.sync(snapshot.screen, rested.sync_ms)
        if probe is None:
            return True
        self._state = self._state.synced(probe)
        self.waited_ms += probe.ms
        return not probe.has_moved

    async def _pause(self, snapshot: UiSnapshot, again: CaptureAgain) -> bool:
        """Sleeps until the next snapshot is due. True if the helper reports that the screen is idle."""
        if again.is_likely_last:
            self._screens.prepare(snapshot)
        if await self._is_helper_idle(snapshot):
            return True
        pause = again.after_ms(self._clock.monotonic_ms()) + WAKE_MS
        await self._clock.sleep_ms(pause)
        self.waited_ms += pause
        return False

    async def _is_helper_idle(self, snapshot: UiSnapshot | None) -> bool:
        """Whether the helper on the device reports that nothing changes.

        It is not asked once the action is proved, or on screens with volatile nodes, whose events never end.
        """
        has_volatile = snapshot is not None and self._screens.volatile.nodes(snapshot.screen)
        is_proved = self._state.proved is not None
        if self._listener is None or not self._asks_helper or is_proved or has_volatile:
            return False
        began = self._clock.monotonic_ms()
        answer = await self._listener.wait_idle(HELPER_MS)
        self.waited_ms += self._clock.monotonic_ms() - began if answer is not None else 0.0
        self._asks_helper = answer is not None and answer.idle
        return self._asks_helper

    def _settled(self, snapshot: UiSnapshot, reason: Reason) -> Settled:
        took = round(self._clock.monotonic_ms() - self._state.start_ms, 1)
        sync, probes = None, self._state.probes
        if probes:
            waited_for = dict.fromkeys(name for probe in probes for name in probe.waited_for)
            sync = SyncReport(
                framework=probes[-1].framework,
                channels=probes[-1].channels,
                ms=round(sum(probe.ms for probe in probes), 1),
                idle=probes[-1].idle,
                waited_for=tuple(waited_for) or None,
            )
        report = SettleReport(
            ms=took, reads=self._reads, reason=reason, loading=self._state.loading, sync=sync
        )
        return Settled(snapshot, report)


FIRST_GAP_MS = 20.0
"""Between two snapshots while the content changes. A proof must hold for as long."""
LONGEST_GAP_MS = 200.0
"""An unchanged screen is still read this often, so that a late change is noticed soon."""
QUIET_MS = 100.0
"""Content that has not changed for this long is stable: six frames at 60 Hz."""
STEADY_MS = 150.0
"""Changes that follow each other this fast are frames of one animation, whose next frame may be late."""
LATE_FRAME_FACTOR = 1.4
"""Factor on the interval between frames, to wait for a late one."""
GRACE_MS = 150.0
"""A screen that has not changed since the dispatch gets this long to react."""
ENDLESS_MS = 1_200.0
"""What still keeps changing then is volatile. Longer than any transition of a well-behaved app."""
DUMP_IDLE_MS = 400.0
"""`uiautomator dump` itself waits for half a second of idle; an answer that took less did not."""
NEAR_FACTOR = 1.5
"""Factor on the gap: a snapshot this close to the deciding moment is delayed until then."""
SYNC_MS = 3_000.0
"""The budget of all framework probes of one wait; if the app is still busy then, the report says so."""

Reason = Literal["verified", "quiet", "volatile", "budget", "loading"]


@dataclass(frozen=True, slots=True)
class SettleEvidence:
    """One snapshot, and what is known about it."""

    snapshot: UiSnapshot
    is_same: bool
    """Nothing but volatile nodes changed since the first snapshot of this content."""
    is_as_before: bool
    """Nothing has changed since the dispatch. Computed only during the grace period."""
    is_met: bool
    """The snapshot shows the proof."""
    is_helper_idle: bool
    """The helper has reported no events for a while."""
    has_volatile: bool
    """The screen has volatile nodes."""
    is_endless: bool
    """Everything that changed recently keeps changing."""
    waits_for_idle: bool
    """The channel answers only when the screen is idle, so a slow answer has already waited for that."""


@dataclass(frozen=True, slots=True)
class SettleDone:
    """The wait is over, unless the app's framework, which is asked for up to `sync_ms`, is still busy."""

    reason: Reason
    sync_ms: float = 0.0
    learns: bool = False
    """The nodes that changed recently are volatile."""


@dataclass(frozen=True, slots=True)
class CaptureAgain:
    """Read again after the gap, or at the deciding moment if that is near."""

    gap_ms: float
    due_ms: float | None
    reach_ms: float
    is_likely_last: bool
    """The proof is there, or the content was read twice: the next snapshot is probably the last."""
    learns: bool

    def after_ms(self, now_ms: float) -> float:
        """A snapshot just before the deciding moment is skipped; the one at that moment tells the same."""
        if self.due_ms is None or self.due_ms > now_ms + self.reach_ms:
            return self.gap_ms
        return max(0.0, self.due_ms - now_ms)


Decision = SettleDone | CaptureAgain


@dataclass(frozen=True, slots=True)
class SettleState:
    """What is known about a wait so far."""

    start_ms: float
    deadline_ms: float
    loading_left_ms: float
    patient_until_ms: float
    """Until then the proof is waited for even if the screen is quiet."""
    follows_action: bool
    """A screen that loads after an action has its own budget."""
    first: UiSnapshot | None = None
    """The first snapshot of the present content."""
    proved: UiSnapshot | None = None
    """The first snapshot of this content that showed the proof."""
    pace_ms: float = float("inf")
    """Between the last two changes."""
    last_pace_ms: float = float("inf")
    gap_ms: float = FIRST_GAP_MS
    loading_since_ms: float | None = None
    loading: str | None = None
    """What was loading, also once that has ended; it is reported."""
    probes: tuple[Synced, ...] = ()

    def synced(self, probe: Synced) -> SettleState:
        """Records a probe. If the app was busy, the screen has to be read again."""
        state = replace(self, probes=(*self.probes, probe))
        if not probe.has_moved:
            return state
        later = self.deadline_ms + probe.ms
        return replace(state, deadline_ms=later, first=None, proved=None, gap_ms=FIRST_GAP_MS)


def decide(state: SettleState, evidence: SettleEvidence) -> tuple[SettleState, Decision]:
    """Returns the state after this snapshot, and what to do next."""
    state = _with_snapshot(state, evidence)
    rest, ended_ms = _stable_reason(state, evidence), evidence.snapshot.ended_ms
    learns = rest is None and evidence.is_endless and ended_ms - state.start_ms >= ENDLESS_MS
    rest = "volatile" if learns else rest
    needs_proof = state.proved is None and ended_ms < state.patient_until_ms
    if rest is not None and not needs_proof and not evidence.snapshot.analysis.loading:
        spent = sum(probe.ms for probe in state.probes)
        return state, SettleDone(rest, max(0.0, SYNC_MS - spent), learns)
    state = _with_loading(state, evidence, at_rest=rest is not None and not needs_proof)
    is_loading = state.loading_since_ms is not None
    if ended_ms >= state.deadline_ms or (is_loading and state.loading_left_ms <= 0):
        return state, SettleDone("loading" if is_loading else "budget", learns=learns)
    return state, _next_capture(state, evidence, learns)


def _with_snapshot(state: SettleState, evidence: SettleEvidence) -> SettleState:
    """Updates since when this content and the proof have been there."""
    first, snapshot = state.first, evidence.snapshot
    if first is None:
        return replace(state, first=snapshot, proved=snapshot if evidence.is_met else None)
    if evidence.is_same:
        proved = (state.proved or snapshot) if evidence.is_met else None
        gap = state.gap_ms if evidence.is_helper_idle else min(state.gap_ms * 2, LONGEST_GAP_MS)
        return replace(state, proved=proved, gap_ms=gap)
    return replace(
        state,
        first=snapshot,
        proved=snapshot if evidence.is_met else None,
        pace_ms=snapshot.ended_ms - first.ended_ms,
        last_pace_ms=state.pace_ms,
        gap_ms=FIRST_GAP_MS,
    )


def _stable_reason(state: SettleState, evidence: SettleEvidence) -> Reason | None:
    snapshot = evidence.snapshot
    is_patient = evidence.waits_for_idle and snapshot.ended_ms - snapshot.began_ms >= DUMP_IDLE_MS
    proved = state.proved
    if proved is not None and (is_patient or snapshot.began_ms - proved.began_ms >= FIRST_GAP_MS):
        return "verified"
    if evidence.is_helper_idle or is_patient or snapshot.began_ms >= _quiet_at(state, evidence):
        was_left_out = evidence.has_volatile and snapshot.screen is not require_present(state.first).screen
        return "volatile" if was_left_out else "quiet"
    return None


def _quiet_at(state: SettleState, evidence: SettleEvidence) -> float:
    slower = max(state.pace_ms, state.last_pace_ms)
    window = max(QUIET_MS, LATE_FRAME_FACTOR * slower) if slower <= STEADY_MS else QUIET_MS
    quiet = require_present(state.first).ended_ms + window
    return max(quiet, state.start_ms + GRACE_MS) if evidence.is_as_before else quiet


def _with_loading(state: SettleState, evidence: SettleEvidence, *, at_rest: bool) -> SettleState:
    """Time spent loading after an action comes from its own budget, not from the deadline."""
    now = evidence.snapshot.ended_ms
    took = 0.0 if state.loading_since_ms is None else now - state.loading_since_ms
    signs = evidence.snapshot.analysis.loading if at_rest else []
    return replace(
        state,
        loading_left_ms=state.loading_left_ms - took,
        deadline_ms=state.deadline_ms + (took if state.follows_action else 0.0),
        loading_since_ms=now if signs else None,
        loading=", ".join(sign.why for sign in signs) or state.loading,
    )


def _next_capture(state: SettleState, evidence: SettleEvidence, learns: bool) -> CaptureAgain:
    gap, snapshot = state.gap_ms, evidence.snapshot
    if state.proved is not None:
        return CaptureAgain(
            gap, state.proved.began_ms + FIRST_GAP_MS, gap, is_likely_last=True, learns=learns
        )
    quiet = _quiet_at(state, evidence)
    due = quiet if snapshot.began_ms < quiet else None
    reach = NEAR_FACTOR * gap + snapshot.ended_ms - snapshot.began_ms
    return CaptureAgain(gap, due, reach, is_likely_last=snapshot is not state.first, learns=learns)
