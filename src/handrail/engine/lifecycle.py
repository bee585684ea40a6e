"""The pipeline of every action, and the one place where exceptions become failed envelopes.

refuse early → resolve targets on a fresh screen → authorize the targets → execute → settle → verify.
Exactly one event of an action is terminal, also after a cancellation or when the device disconnects.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Sequence
from typing import Any

from handrail.engine.actions.apps_and_commands import named_app
from handrail.engine.execute import apply_on_desk, execute
from handrail.engine.gestures import as_sent, needs_fresh_screen
from handrail.engine.journal_writer import describe_targets
from handrail.engine.resolve import aim, is_in_view, targets_of
from handrail.engine.run import ActionRun, Outcome, Stage
from handrail.engine.snapshot import UiSnapshot
from handrail.engine.verify import Proof, expected_proof
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
from handrail.journal.redaction import Redact
from handrail.protocol.envelope import SettleReport, Verification
from handrail.protocol.system import GrantPermission, RevokePermission, StartApp
from handrail.protocol.target import Selector
from handrail.protocol.traits import Capability, Pressed, Settle
from handrail.screen.windows import ScreenDialog
from handrail.store import disk_failure
from handrail.surface.capabilities import PROTOCOLS, AppHealth

LAST_LOOK_MS = 5_000.0
"""Time limit for reading the screen after a failure; the envelope does not depend on it."""
CHEAP_MS = 150.0
"""If the last read took less than this, the screen is read again before an action without a target. A slower
channel's last snapshot is reused for `FRESH_MS`."""
FRESH_MS = 10_000.0

_AWAY = (AdbConnectionError, BrowserConnectionError, DeviceOffline)
"""The device is offline, so there is no screen to read."""

_log = logging.getLogger("handrail.engine")


async def run_actions(stages: Sequence[Stage]) -> HandrailError | None:
    """Runs one action, or several that form one change, to the end. Returns the failure, if any."""
    first = stages[0]
    try:
        with first.run.phase("queue"):
            await first.run.session.wait_for_device(first.run)
            await first.turn.acquire()
        await _run_action(stages)
        return None
    except asyncio.CancelledError as stop:
        why = f": {stop.args[0]}" if stop.args and stop.args[0] else ""
        failure: HandrailError = Cancelled(f"{first.run.action.type} was stopped{why}")
    except HandrailError as error:
        failure = error
        if not isinstance(error, _AWAY):
            await _look_after_failure(first)
    except Exception as error:
        failure = disk_failure(error) or unforeseen(first.run, first.device_secrets.redact, error)
    finally:
        first.turn.release()
    for stage in stages:
        _add_changes(stage)
        mark_failed(stage.run)
    return failure


def mark_failed(run: ActionRun) -> None:
    if not run.life.ended:
        run.advance("failed")


def unforeseen(run: ActionRun, redact: Redact, error: Exception) -> HandrailError:
    """An unexpected exception is a bug: the log gets the traceback, the caller the type and message."""
    trace = redact("".join(traceback.format_exception(error)))
    _log.error("%s failed with an unexpected exception\n%s", run.id, trace)
    return HandrailError(redact(f"{type(error).__name__}: {error}"))


async def _run_action(stages: Sequence[Stage]) -> None:
    for stage in stages:
        await _resolve_and_authorize(stage)
    if len(stages) == 1:
        with stages[0].run.phase("work"):
            outcomes = [await execute(stages[0], stages[0].run.action)]
    else:
        outcomes = [Outcome(details=details) for details in await apply_on_desk(stages)]
    for stage, outcome in zip(stages, outcomes, strict=True):
        run = stage.run
        run.details |= outcome.details
        if run.life.state == "resolved":
            describe_targets(run, stage.screens.registry)
            run.advance("dispatched")
        run.advance("pending_verification")
        await _observe(stage, outcome)
        run.delivery = "delivered"  # also if nothing had to be sent
        if run.verification is not None and run.verification.outcome == "verified":
            run.advance("verified")
        else:
            run.life = run.life.end()
            run.session.announce(run, run.life.events[-1])


async def _resolve_and_authorize(stage: Stage) -> None:
    """Everything that can refuse an action before it is dispatched."""
    run, guard = stage.run, stage.guard
    run.action = as_sent(run.action, stage.surface)
    with run.phase("permit"):
        guard.authorizer.refuse_early(run)
        await guard.enter(stage)
    if run.action.traits.needs is not None:
        stage.surface.need(PROTOCOLS[run.action.traits.needs])
    if isinstance(run.action, StartApp) and run.action.name is not None:
        with run.phase("resolve"):
            run.action = await named_app(stage, run.action.name)
        guard.authorizer.refuse_early(run)
    if isinstance(run.action, GrantPermission | RevokePermission):
        await stage.apps.require_changeable_permission(run.action.package, run.action.permission)
    await _resolve(stage)
    with run.phase("permit"):
        await guard.authorize_named(stage)
    if run.action.effect == "read":
        describe_targets(run, stage.screens.registry)
    run.advance("resolved")


async def _resolve(stage: Stage) -> None:
    """Captures the screen before the action and resolves the action's targets on it."""
    run, screens = stage.run, stage.screens
    targets = targets_of(run.action)
    if not targets and run.action.traits.waits == "none":
        run.revision_before = screens.revision_name if screens.last else None
        return
    must_be_fresh = bool(targets) or needs_fresh_screen(run.action)
    with run.phase("resolve"):
        try:
            last, now_ms = None if must_be_fresh else screens.last, stage.clock.monotonic_ms()
            # To compare with, the last snapshot of a slow channel is good enough.
            was_slow = last is not None and last.ended_ms - last.began_ms >= CHEAP_MS
            is_good = last is not None and was_slow and now_ms - last.ended_ms < FRESH_MS
            run.before = last if is_good else await stage.refresh_screen()
        except (Timeout, TreeParseError, BrowserCommandError) as error:
            # Starting or stopping an app presses nothing, and must work on a screen that can't be read.
            leaves = run.action.traits.needs is Capability.APPS and run.action.presses is Pressed.NOTHING
            if targets or not leaves:
                raise
            run.diagnostics.append(f"[look] the screen before could not be read: {error.message}")
        run.revision_before = screens.revision_name if screens.last else None
        _refuse_another_screen(stage)
        for name, target in targets.items():
            # What an input is meant for is scrolled into view first, where the surface can do that.
            if run.action.effect == "input" and not is_in_view(screens, target):
                await stage.input.bring_into_view(target)
            run.aims[name] = aim(screens, target)
        if run.before is not screens.last:  # scrolled: an earlier target may be elsewhere now
            run.before = screens.last
            run.aims |= {name: aim(screens, target) for name, target in targets.items()}


def _refuse_another_screen(stage: Stage) -> None:
    """A point, or "whatever has the focus", refers to the screen before the caller waited."""
    run, was, now = stage.run, stage.run.waited_on, stage.run.before
    if not run.has_waited or now is None or run.action.presses is Pressed.NOTHING:
        return
    targets = targets_of(run.action).values()
    if targets and all(isinstance(target, Selector) for target in targets):
        return  # selectors are resolved again
    if was is None or not stage.screens.has_same_content(was.screen, now.screen):
        raise DeviceBusy(
            "a person used the device meanwhile, and it shows another screen now",
            hint="Read the screen, then decide again.",
            retryable=True,
        )


async def _observe(stage: Stage, outcome: Outcome) -> None:
    """Waits until the screen is stable, then looks for a crash and for the proof."""
    run, expected = stage.run, stage.run.action.expect
    how: Settle = outcome.settle or run.settle
    proof = outcome.proof
    if expected is not None:
        how, proof = "full", expected_proof(expected, stage.screens, run.before)
    before = run.before or stage.screens.last
    if how == "none":
        run.after = run.after or (stage.screens.last if run.before is not None else None)
    elif how == "full" and before is not None:
        await stage.settle(before, proof)
    else:
        began = stage.clock.monotonic_ms()
        run.after = await stage.refresh_screen()
        took = round(stage.clock.monotonic_ms() - began, 1)
        run.settled = SettleReport(ms=took, reads=1, reason="budget")
    if how != "none":
        await look_for_crash(stage)
    _add_changes(stage)
    if outcome.failure is not None:
        run.verification = outcome.verification
        raise outcome.failure
    await _verify(stage, outcome, proof, how)


async def _verify(stage: Stage, outcome: Outcome, proof: Proof | None, how: Settle) -> None:
    run = stage.run
    if proof is None or run.after is None or how != "full":
        if run.action.traits.effect in ("read", "desk"):  # the reply itself is the proof
            proofless = Verification(mode="built_in", outcome="verified")
        elif run.after is None:
            proofless = Verification(mode="none", outcome="not_checked")
        else:
            proofless = Verification(mode="best_effort", outcome="changed" if run.changes else "unchanged")
        run.verification = outcome.verification or proofless
        return
    with run.phase("verify"):
        verdict = proof.check(run.after)
        if not verdict.met and proof.ask is not None and not proof.decides:
            await proof.ask(run.after)
            verdict = proof.check(run.after)
    run.verification = verdict.verification(proof.mode)
    if proof.mode == "built_in" and outcome.verification is not None and verdict.met:
        run.verification = outcome.verification
    if not verdict.met:
        raise proof.failure(verdict)


def _add_changes(stage: Stage) -> None:
    """Diffs the snapshots before and after, once both exist."""
    run = stage.run
    if run.after is None:
        return
    run.revision_after = stage.screens.revision_name
    if run.changes is None and run.before is not None and run.before is not run.after:
        with run.phase("diff"):
            run.changes = stage.screens.changes(run.before.screen, run.after.screen)


async def _look_after_failure(stage: Stage) -> None:
    """Captures the screen after a failed dispatch. An error here only adds a diagnostic."""
    run = stage.run
    if run.after is not None or run.life.state not in ("dispatched", "pending_verification"):
        return
    if run.before is None:
        return
    try:
        async with asyncio.timeout(LAST_LOOK_MS / 1000):
            run.after = await stage.refresh_screen()
    except (HandrailError, TimeoutError) as error:
        run.diagnostics.append(f"[look] the screen after the failure could not be read: {error}")
    except asyncio.CancelledError:  # the action has failed already
        run.diagnostics.append("[look] stopped before the screen after the failure was read")


CRASH_LINES = 20
"""Lines of the crash log in an envelope."""


async def look_for_crash(stage: Stage) -> None:
    """Raises `AppCrashed`. Costs a round trip only if the app that was in front is gone."""
    run, health = stage.run, stage.health
    if health is None or run.before is None or run.after is None or run.before is run.after:
        return
    app = health.app_in_front(run.before.screen)
    dialog = _crash_dialog(run.after)
    if dialog is not None and _crash_dialog(run.before) is None:
        raise await _crash_error(health, app, dialog.title, None, dialog=dialog.to_dict())
    if not app or app == health.app_in_front(run.after.screen) or run.action.leaves_app:
        return
    if await health.has_died(app):
        # An older crash does not explain this exit.
        age_ms = stage.clock.monotonic_ms() - run.started_ms
        raise await _crash_error(health, app, f"The process of {app} is gone", age_ms)


def _crash_dialog(snapshot: UiSnapshot) -> ScreenDialog | None:
    return next((dialog for dialog in snapshot.analysis.dialogs if dialog.kind in ("crash", "anr")), None)


async def _crash_error(
    health: AppHealth, app: str, says: str, within_ms: float | None, **details: Any
) -> AppCrashed:
    words = await health.last_words(app, within_ms) if app else None
    log = list(words.lines[:CRASH_LINES]) if words else None
    summary = f"{says}: {words.summary}" if words else says
    return AppCrashed(summary, package=app, log=log, **details)
