"""Decides when a screen has come to rest. Pure: it has no clock, no phone and nothing to wait for.

`judge` takes what is known of a wait and one more look. It gives back what is known now, and what to do next.
`settle` does it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from handrail.engine.look.looks import Look, sure
from handrail.surface.values import Synced

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
PATIENT_MS = 400.0
"""`uiautomator dump` waits for half a second of quiet itself; an answer that took less did not."""
NEARLY = 1.5
"""Times the gap: a look that near to the moment that decides is put off to it."""
SYNC_MS = 3_000.0
"""For all probes of the app's own framework together; what still goes on then is said and left."""

Reason = Literal["verified", "quiet", "volatile", "budget", "loading"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One look, and what can be told of it."""

    look: Look
    is_same: bool
    """Nothing changed since the first look at this content, but what is known to change by itself."""
    is_as_before: bool
    """Nothing has happened since the dispatch. Asked only during the grace."""
    is_met: bool
    """It shows what the action should achieve."""
    is_vouched: bool
    """A helper that hears events has heard none for a while."""
    is_restless: bool
    """Something on it is known to change by itself."""
    is_endless: bool
    """All that moved of late moves again and again."""
    waits_for_idle: bool
    """The channel answers only when the screen is quiet: a slow answer has already seen the quiet."""


@dataclass(frozen=True, slots=True)
class Rested:
    """The wait is over, unless the app's framework, which may be asked for `sync_ms`, says that it is not."""

    reason: Reason
    sync_ms: float = 0.0
    learns: bool = False
    """What moved of late has to be known as restless."""


@dataclass(frozen=True, slots=True)
class LookAgain:
    """The next look comes after the gap, or at the moment that decides if that is within reach."""

    gap_ms: float
    due_ms: float | None
    reach_ms: float
    may_be_last: bool
    """The proof is there, or the content was seen twice: the next look may well be the end."""
    learns: bool

    def after_ms(self, now_ms: float) -> float:
        """A look just before the moment that decides is left out: the one at that moment tells the same."""
        if self.due_ms is None or self.due_ms > now_ms + self.reach_ms:
            return self.gap_ms
        return max(0.0, self.due_ms - now_ms)


Decision = Rested | LookAgain


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is known of a wait so far."""

    start_ms: float
    deadline_ms: float
    loading_left_ms: float
    patient_until_ms: float
    """A proof is waited for until then, although the screen is quiet."""
    follows_action: bool
    """A screen that loads after an action has a budget of its own."""
    first: Look | None = None
    """The first look that showed the present content."""
    proved: Look | None = None
    """The first look at this content that showed the proof."""
    pace_ms: float = float("inf")
    """Between the last two changes."""
    last_pace_ms: float = float("inf")
    gap_ms: float = FIRST_GAP_MS
    loading_since_ms: float | None = None
    loading: str | None = None
    """What was waited for, also when it has ended: the caller wants to know."""
    probes: tuple[Synced, ...] = ()

    def synced(self, probe: Synced) -> Waiting:
        """What the app's framework told. When it was waited for, there is more to see."""
        known = replace(self, probes=(*self.probes, probe))
        if not probe.has_moved:
            return known
        later = self.deadline_ms + probe.ms
        return replace(known, deadline_ms=later, first=None, proved=None, gap_ms=FIRST_GAP_MS)


def judge(waiting: Waiting, seen: Evidence) -> tuple[Waiting, Decision]:
    """What is known after this look, and what to do."""
    known = _compared(waiting, seen)
    rest, ended_ms = _rest(known, seen), seen.look.ended_ms
    learns = rest is None and seen.is_endless and ended_ms - known.start_ms >= ENDLESS_MS
    rest = "volatile" if learns else rest
    needs_proof = known.proved is None and ended_ms < known.patient_until_ms
    if rest is not None and not needs_proof and not seen.look.reading.loading:
        spent = sum(probe.ms for probe in known.probes)
        return known, Rested(rest, max(0.0, SYNC_MS - spent), learns)
    known = _loaded(known, seen, at_rest=rest is not None and not needs_proof)
    is_loading = known.loading_since_ms is not None
    if ended_ms >= known.deadline_ms or (is_loading and known.loading_left_ms <= 0):
        return known, Rested("loading" if is_loading else "budget", learns=learns)
    return known, _again(known, seen, learns)


def _compared(waiting: Waiting, seen: Evidence) -> Waiting:
    """Since when this content and the proof are there."""
    first, look = waiting.first, seen.look
    if first is None:
        return replace(waiting, first=look, proved=look if seen.is_met else None)
    if seen.is_same:
        proved = (waiting.proved or look) if seen.is_met else None
        gap = waiting.gap_ms if seen.is_vouched else min(waiting.gap_ms * 2, LONGEST_GAP_MS)
        return replace(waiting, proved=proved, gap_ms=gap)
    return replace(
        waiting,
        first=look,
        proved=look if seen.is_met else None,
        pace_ms=look.ended_ms - first.ended_ms,
        last_pace_ms=waiting.pace_ms,
        gap_ms=FIRST_GAP_MS,
    )


def _rest(known: Waiting, seen: Evidence) -> Reason | None:
    look = seen.look
    is_patient = seen.waits_for_idle and look.ended_ms - look.began_ms >= PATIENT_MS
    if known.proved is not None and (is_patient or look.began_ms - known.proved.began_ms >= FIRST_GAP_MS):
        return "verified"
    if seen.is_vouched or is_patient or look.began_ms >= _quiet_at(known, seen):
        was_left_out = seen.is_restless and look.screen is not sure(known.first).screen
        return "volatile" if was_left_out else "quiet"
    return None


def _quiet_at(known: Waiting, seen: Evidence) -> float:
    slower = max(known.pace_ms, known.last_pace_ms)
    window = max(QUIET_MS, LATE * slower) if slower <= STEADY_MS else QUIET_MS
    quiet = sure(known.first).ended_ms + window
    return max(quiet, known.start_ms + GRACE_MS) if seen.is_as_before else quiet


def _loaded(known: Waiting, seen: Evidence, *, at_rest: bool) -> Waiting:
    """After an action, a screen that only loads has a budget of its own, not taken from the other one."""
    now = seen.look.ended_ms
    took = 0.0 if known.loading_since_ms is None else now - known.loading_since_ms
    signs = seen.look.reading.loading if at_rest else []
    return replace(
        known,
        loading_left_ms=known.loading_left_ms - took,
        deadline_ms=known.deadline_ms + (took if known.follows_action else 0.0),
        loading_since_ms=now if signs else None,
        loading=", ".join(sign.why for sign in signs) or known.loading,
    )


def _again(known: Waiting, seen: Evidence, learns: bool) -> LookAgain:
    gap, look = known.gap_ms, seen.look
    if known.proved is not None:
        return LookAgain(gap, known.proved.began_ms + FIRST_GAP_MS, gap, may_be_last=True, learns=learns)
    quiet = _quiet_at(known, seen)
    due = quiet if look.began_ms < quiet else None
    reach = NEARLY * gap + look.ended_ms - look.began_ms
    return LookAgain(gap, due, reach, may_be_last=look is not known.first, learns=learns)
