"""The pipe that every action goes through, and the one place where exceptions become data.

permit early → resolve on a fresh screen → permit what was resolved → execute → settle, observe → verify.
Exactly one event of an action is terminal, also on cancellation and when the device goes away.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Sequence
from typing import Any

from handrail.engine.acts.programs import named_app
from handrail.engine.execute import apply_on_desk, execute
from handrail.engine.look.looks import Look
from handrail.engine.look.resolve import aim, targets_of
from handrail.engine.look.settle import FULL_MS, Settled
from handrail.engine.look.verify import Proof, explicit, verification
from handrail.engine.permit import Permit
from handrail.engine.pressed import needs_fresh_screen
from handrail.engine.record import draw_portraits
from handrail.engine.run import Outcome, Run, Stage
from handrail.engine.secrets import Redact
from handrail.errors import (
    AdbConnectionError,
    AppCrashed,
    BrowserCommandError,
    BrowserConnectionError,
    Cancelled,
    DeviceBusy,
    DeviceOffline,
    HandrailError,
    Timeout,
    TreeParseError,
)
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import SettleReport, Verification
from handrail.protocol.target import Selector
from handrail.protocol.traits import Capability, Pressed, Settle
from handrail.store import disk_failure
from handrail.surface.capabilities import HealthCapability
from handrail.tree.signs import ScreenDialog

LAST_LOOK_MS = 5_000.0
"""For the screen after a failure: worth a look, not worth waiting for."""
CHEAP_MS = 150.0
"""A channel that reads faster is asked again; a slower one's last screen is still good for a while."""
FRESH_MS = 10_000.0

_AWAY = (AdbConnectionError, BrowserConnectionError, DeviceOffline)
"""Who is away has no screen to look at."""

_log = logging.getLogger("handrail.engine")


async def live(stages: Sequence[Stage], permit: Permit) -> HandrailError | None:
    """One action, or several that are one change, from `accepted` to the end; the failure, if it failed."""
    first = stages[0]
    try:
        with first.run.phase("queue"):
            await first.run.may_begin(first.run)
            await first.turn.take()
        await _do(stages, permit)
        return None
    except asyncio.CancelledError as stop:
        why = f": {stop.args[0]}" if stop.args and stop.args[0] else ""
        failure: HandrailError = Cancelled(f"{first.run.action.type} was stopped{why}")
    except HandrailError as error:
        failure = error
        if not isinstance(error, _AWAY):
            await _look_after_failure(first)
    except Exception as error:
        failure = disk_failure(error) or unforeseen(first.run, first.here.redact, error)
    finally:
        first.turn.give()
    for stage in stages:
        _tell_change(stage)
        failed(stage.run, failure)
    return failure


def failed(run: Run, failure: HandrailError) -> HandrailError:
    """The end of a life that went wrong, wherever it stood."""
    if not run.life.ended:
        run.advance("failed")
    return failure


def unforeseen(run: Run, redact: Redact, error: Exception) -> HandrailError:
    """A defect of ours: the log has all of it, the caller what it is."""
    trace = redact("".join(traceback.format_exception(error)))
    _log.error("%s failed in a way nobody foresaw\n%s", run.id, trace)
    return HandrailError(redact(f"{type(error).__name__}: {error}"))


async def _do(stages: Sequence[Stage], permit: Permit) -> None:
    for stage in stages:
        await _prepare(stage, permit)
    for stage, outcome in zip(stages, await _execute(stages), strict=True):
        run = stage.run
        run.details |= outcome.details
        if run.life.state == "resolved":
            draw_portraits(run, stage.looks.registry)
            run.advance("dispatched")
        run.advance("pending_verification")
        await _observe(stage, outcome)
        run.delivery = "delivered"  # also where nothing had to be sent: it failed in nothing
        _conclude(run)


async def _prepare(stage: Stage, permit: Permit) -> None:
    """Everything that can refuse an action before it is dispatched."""
    run = stage.run
    with run.phase("permit"):
        permit.early(run)
        await permit.enter(stage)
    if run.action.traits.needs is not None:
        stage.surface.capability(run.action.traits.needs)
    with run.phase("resolve"):
        named = await named_app(stage)
    if named is not None:
        run.action = named
        permit.early(run)
    await _resolve(stage)
    with run.phase("permit"):
        await permit.decide(stage)
    if run.action.effect == "read":
        draw_portraits(run, stage.looks.registry)
    run.advance("resolved")


async def _execute(stages: Sequence[Stage]) -> list[Outcome]:
    """Only the desk takes several actions as one change."""
    if len(stages) == 1:
        with stages[0].run.phase("work"):
            return [await execute(stages[0], stages[0].run.action)]
    return [Outcome(details=details) for details in await apply_on_desk(stages)]


async def _resolve(stage: Stage) -> None:
    """The screen before, and the elements that the action names on it."""
    run, looks = stage.run, stage.looks
    targets = targets_of(run.action)
    if not targets and run.action.traits.waits == "none":
        run.revision_before = looks.revision_name if looks.last else None
        return
    with run.phase("resolve"):
        try:
            run.before = await _baseline(stage, must_be_fresh=bool(targets) or needs_fresh_screen(run.action))
        except (Timeout, TreeParseError, BrowserCommandError) as error:
            if targets or not _leads_away(run.action):
                raise
            run.diagnostics.append(f"[look] the screen before could not be read: {error.message}")
        run.revision_before = looks.revision_name if looks.last else None
        _refuse_another_screen(stage)
        for name, target in targets.items():
            run.aims[name] = aim(looks, target)


def _refuse_another_screen(stage: Stage) -> None:
    """What was meant for a place on the screen, or for whatever has the focus, was meant for that screen."""
    run, was, now = stage.run, stage.run.waited_on, stage.run.before
    if not run.has_waited or now is None or run.action.presses is Pressed.NOTHING:
        return
    targets = targets_of(run.action).values()
    if targets and all(isinstance(one, Selector) for one in targets):
        return  # it is looked for anew
    if was is None or not stage.looks.is_idle_between(was.screen, now.screen):
        raise DeviceBusy(
            "a person had the device meanwhile, and the screen is another one now",
            hint="Look again, then decide anew.",
            retryable=True,
        )


def _leads_away(action: AnyAction) -> bool:
    """It presses nothing on the screen, and gets away from one that is frozen or never the same."""
    return action.traits.needs is Capability.APPS and action.presses is Pressed.NOTHING


async def _baseline(stage: Stage, *, must_be_fresh: bool) -> Look:
    """Targets are found on a fresh screen; a slow channel's last screen may serve to compare with."""
    last = stage.looks.last
    if last is not None and not must_be_fresh:
        was_slow = last.ended_ms - last.began_ms >= CHEAP_MS
        if was_slow and stage.clock.monotonic_ms() - last.ended_ms < FRESH_MS:
            return last
    return await stage.look()


async def _observe(stage: Stage, outcome: Outcome) -> None:
    run = stage.run
    how: Settle = outcome.settle or run.settle
    proof = _proof(stage, outcome)
    if run.action.expect is not None:
        how = "full"
    if how == "none":
        run.after = run.after or (stage.looks.last if run.before is not None else None)
    else:
        settled = await _watch(stage, how, proof)
        run.settled = settled.report
        run.after = settled.seen
        _tell_change(stage)
        await look_for_crash(stage)
    _tell_change(stage)
    if outcome.failure is not None:
        run.verification = outcome.verification
        raise outcome.failure
    await _judge(stage, outcome, proof, how)


def _proof(stage: Stage, outcome: Outcome) -> Proof | None:
    condition = stage.run.action.expect
    return explicit(condition, stage.looks, stage.run.before) if condition is not None else outcome.proof


async def _watch(stage: Stage, how: Settle, proof: Proof | None) -> Settled:
    if how == "full":
        before = stage.run.before or stage.looks.last
        if before is not None:
            return await stage.settle(
                before, proof, budget_ms=max(FULL_MS, proof.patience_ms if proof else 0.0)
            )
    began = stage.clock.monotonic_ms()
    seen = await stage.look()
    took = round(stage.clock.monotonic_ms() - began, 1)
    return Settled(seen, SettleReport(ms=took, reads=1, reason="budget"))


async def _judge(stage: Stage, outcome: Outcome, proof: Proof | None, how: Settle) -> None:
    run = stage.run
    changed = bool(run.changes)
    if proof is None or run.after is None or how != "full":
        run.verification = outcome.verification or _unproved(stage, changed)
        return
    with run.phase("verify"):
        verdict = proof.check(run.after)
        if not verdict.met and proof.ask is not None and not proof.decides:
            await proof.ask(run.after)
            verdict = proof.check(run.after)
    run.verification = verification(proof, verdict, changed)
    if proof.mode == "built_in" and outcome.verification is not None and verdict.met:
        run.verification = outcome.verification
    if not verdict.met:
        raise proof.failure(verdict)


def _unproved(stage: Stage, changed: bool) -> Verification:
    if stage.run.action.traits.effect in ("read", "desk"):
        return Verification(mode="built_in", outcome="verified")  # the answer is the proof
    if stage.run.after is None:
        return Verification(mode="none", outcome="not_checked")
    return Verification(mode="best_effort", outcome="changed" if changed else "unchanged")


def _conclude(run: Run) -> None:
    if run.verification is not None and run.verification.outcome == "verified":
        run.advance("verified")
    else:
        run.life = run.life.end()
        run.announce(run, run.life.events[-1])


def _tell_change(stage: Stage) -> None:
    """The difference between before and after, once both are known."""
    run = stage.run
    if run.after is None:
        return
    run.revision_after = stage.looks.revision_name
    if run.changes is None and run.before is not None and run.before is not run.after:
        with run.phase("diff"):
            run.changes = stage.looks.changes(run.before.screen, run.after.screen)


async def _look_after_failure(stage: Stage) -> None:
    """What the screen says after a dispatch that failed; a failure to look adds nothing."""
    run = stage.run
    if run.after is not None or run.life.state not in ("dispatched", "pending_verification"):
        return
    if run.before is None:
        return
    try:
        async with asyncio.timeout(LAST_LOOK_MS / 1000):
            run.after = await stage.look()
    except (HandrailError, TimeoutError) as error:
        run.diagnostics.append(f"[look] the screen after the failure could not be read: {error}")
    except asyncio.CancelledError:  # it has failed already, and says so
        run.diagnostics.append("[look] stopped before the screen after the failure was read")


CRASH_LINES = 20
"""Lines of the log that an envelope holds."""


async def look_for_crash(stage: Stage) -> None:
    """Raises `AppCrashed`. Costs a round trip only where the app that was in front is not there any more."""
    run, health = stage.run, stage.health
    if health is None or run.before is None or run.after is None or run.before is run.after:
        return
    app = health.app_in_front(run.before.screen)
    dialog = _crash_dialog(run.after)
    if dialog is not None and _crash_dialog(run.before) is None:
        raise await _crashed(health, app, dialog.title, None, dialog=dialog.to_dict())
    if not app or app == health.app_in_front(run.after.screen) or run.action.leaves_app:
        return
    if await health.has_died(app):
        # An older crash is not the reason for this end.
        age_ms = stage.clock.monotonic_ms() - run.started_ms
        raise await _crashed(health, app, f"The process of {app} is gone", age_ms)


def _crash_dialog(seen: Look) -> ScreenDialog | None:
    return next((one for one in seen.reading.dialogs if one.kind in ("crash", "anr")), None)


async def _crashed(
    health: HealthCapability, app: str, says: str, within_ms: float | None, **details: Any
) -> AppCrashed:
    words = await health.last_words(app, within_ms) if app else None
    log = list(words.lines[:CRASH_LINES]) if words else None
    summary = f"{says}: {words.summary}" if words else says
    return AppCrashed(summary, package=app, log=log, **details)
