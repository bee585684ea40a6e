"""Waits, expectations, and the question to a person: actions that check whether something is true."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from handrail.clock import Clock
from handrail.engine.conditions import NO_ELEMENT, ConditionResult, check_condition, fulfilling_node
from handrail.engine.resolve import aim_at
from handrail.engine.run import Outcome, Stage
from handrail.engine.settle import SettleLoop
from handrail.engine.snapshot import ScreenTracker, UiSnapshot, require_present
from handrail.engine.verify import verified_by_read_back
from handrail.errors import (
    ActionRejected,
    AssertionFailed,
    DeviceOffline,
    ExpectStateMismatch,
    HandrailError,
    IdleTimeout,
    Timeout,
)
from handrail.protocol.envelope import Verification
from handrail.protocol.observe import (
    ExpectAbsent,
    ExpectApp,
    ExpectScreen,
    ExpectState,
    ExpectText,
    ExpectVisible,
    RequestHumanAuth,
    WaitFor,
    WaitForStable,
)
from handrail.protocol.target import Condition, Selector, StateIs, TextIs
from handrail.screen.node import Node
from handrail.screen.select import candidate_list, did_you_mean, nearest_nodes
from handrail.waiting import Deadline, Expired


async def _capture_until_met(
    stage: Stage,
    check: Check,
    timeout_ms: float,
    condition: Condition | None = None,
    every_ms: int | None = None,
) -> tuple[Outcome, ConditionResult]:
    """Captures snapshots until the check holds, and adopts the last one in any case.

    The node that fulfils the condition becomes the resolved target of the envelope.
    """
    with stage.run.phase("watch"):
        snapshot, verdict = await wait_until(stage.screens, stage.clock, check, timeout_ms, every_ms)
    stage.screens.adopt(snapshot)
    stage.run.after = snapshot
    if condition is not None and condition.subject is not None and verdict.met:
        node = fulfilling_node(condition, snapshot.screen, stage.screens.registry)
        if node is not None:
            stage.run.aims["target"] = aim_at(stage.screens, condition.subject, node)
    verification = verdict.verification("explicit")
    stage.run.verification = verification
    return Outcome(verification=verification), verdict


async def wait_for(stage: Stage, action: WaitFor) -> Outcome:
    """Compares with the last snapshot, so a change that happened before the call counts."""
    before = stage.screens.last or await stage.refresh_screen()

    def check(snapshot: UiSnapshot) -> ConditionResult:
        return check_condition(action.condition, snapshot, stage.screens.refs_on(snapshot), before)

    outcome, verdict = await _capture_until_met(
        stage, check, action.timeout_ms, action.condition, action.every_ms
    )
    if not verdict.met:
        raise Timeout(
            _unmet_message(str(action.condition), verdict, action.timeout_ms),
            expected=verdict.expected,
            observed=verdict.observed,
        )
    return outcome


async def wait_for_stable(stage: Stage, action: WaitForStable) -> Outcome:
    """Stable and not loading, by the same rules as after an action."""
    with stage.run.phase("settle"):
        limit = action.timeout_ms
        settled = await SettleLoop(stage.screens, stage.clock, None, budget_ms=limit, loading_ms=limit).wait()
    stage.run.settled = settled.report
    stage.screens.adopt(settled.snapshot)
    stage.run.after = settled.snapshot
    if settled.report.reason in ("budget", "loading"):
        why = f"still loading: {settled.report.loading}" if settled.report.loading else "it is still moving"
        raise IdleTimeout(f"The screen did not come to rest within {action.timeout_ms} ms; {why}")
    return Outcome(verification=verified_by_read_back(settled.report.reason))


Expect = ExpectVisible | ExpectAbsent | ExpectText | ExpectState | ExpectScreen | ExpectApp


async def expect(stage: Stage, action: Expect) -> Outcome:
    if isinstance(action, ExpectScreen) and action.activity is not None:
        return await _expect_activity(stage, action, action.activity)
    condition = _condition_of_check(action)

    def check(snapshot: UiSnapshot) -> ConditionResult:
        return check_condition(condition, snapshot, stage.screens.refs_on(snapshot), None)

    outcome, verdict = await _capture_until_met(stage, check, action.timeout_ms, condition)
    if verdict.met:
        return outcome
    if not isinstance(action, ExpectVisible | ExpectAbsent | ExpectText):
        raise _unmet_error(ExpectStateMismatch, str(condition), verdict, action.timeout_ms)
    similar: list[Node] = []
    if verdict.observed in ("not visible", NO_ELEMENT):
        target = action.target
        words = (target.text or target.text_contains) if isinstance(target, Selector) else None
        similar = nearest_nodes(
            require_present(stage.screens.last).screen, words or "", stage.screens.registry
        )
    raise _unmet_error(
        AssertionFailed,
        str(condition),
        verdict,
        action.timeout_ms,
        hint=did_you_mean(similar, stage.screens.registry),
        candidates=candidate_list(similar, stage.screens.registry) or None,
    )


def _condition_of_check(action: Expect) -> Condition:
    match action:
        case ExpectVisible():
            return Condition(visible=action.target)
        case ExpectAbsent():
            return Condition(absent=action.target)
        case ExpectText(target=target, equals=equals, contains=contains):
            return Condition(text=TextIs(target=target, equals=equals, contains=contains))
        case ExpectState(target=target, property=name, value=value):
            return Condition(state=StateIs(target=target, property=name, value=value))
        case ExpectScreen():
            return Condition(fingerprint=action.fingerprint)
        case ExpectApp():
            return Condition(app=action.package)


async def _expect_activity(stage: Stage, action: ExpectScreen, activity: str) -> Outcome:
    async def check(_: UiSnapshot) -> ConditionResult:
        front = await stage.screens.reader.foreground()
        return ConditionResult(is_activity(front.activity, activity), activity, front.activity)

    outcome, verdict = await _capture_until_met(stage, check, action.timeout_ms)
    if not verdict.met:
        raise _unmet_error(ExpectStateMismatch, f"the screen is {activity}", verdict, action.timeout_ms)
    return outcome


def is_activity(shown: str, wanted: str) -> bool:
    """By the full name, its last parts, or `package/.Class`."""
    package, slash, name = wanted.partition("/")
    full_name = (package + name if name.startswith(".") else name) if slash else wanted
    return shown == full_name or (not slash and f".{shown}".endswith(f".{full_name.removeprefix('.')}"))


def _unmet_error(
    failure: type[HandrailError], wanted: str, verdict: ConditionResult, waited_ms: int, **details: Any
) -> HandrailError:
    message = _unmet_message(wanted, verdict, waited_ms)
    return failure(message, expected=verdict.expected, actual=verdict.observed, **details)


def _unmet_message(wanted: str, verdict: ConditionResult, waited_ms: int) -> str:
    waited = f"Waited {waited_ms / 1000:g} s" if waited_ms else "Looked once"
    return f"Expected: {wanted}. Found: {verdict.observed_text}. {waited}."


async def request_human_auth(stage: Stage, action: RequestHumanAuth) -> Outcome:
    """Waits for the answer. Secret data in it is only a placeholder."""
    answer = await stage.run.session.ask_person(stage, action)
    if not answer.approved:
        why = "The person denied it" if answer.decision == "denied" else "Nobody answered in time"
        raise ActionRejected(why, approval=answer.id)
    verification = Verification(mode="explicit", expected="approved", observed="approved", outcome="verified")
    return Outcome(details={"approved": True, "data": answer.data}, verification=verification)


FIRST_GAP_MS = 20.0
LONGEST_GAP_MS = 200.0

Check = Callable[[UiSnapshot], ConditionResult | Awaitable[ConditionResult]]


LAST_LOOK_MS = 5_000.0
"""Extra time for a snapshot that began in time; a device that needs more is offline."""


async def wait_until(
    screens: ScreenTracker, clock: Clock, check: Check, timeout_ms: float, every_ms: int | None = None
) -> tuple[UiSnapshot, ConditionResult]:
    """Captures snapshots until the check holds or the time is over. Returns the last one and its result."""
    deadline = clock.monotonic_ms() + timeout_ms
    gap = FIRST_GAP_MS
    last: UiSnapshot | None = None
    while True:
        left = max(0.0, deadline - clock.monotonic_ms()) + LAST_LOOK_MS
        try:
            async with Deadline(clock, left):
                snapshot = await screens.capture()
        except Expired:
            raise DeviceOffline(
                f"The screen could not be read for {left:.0f} ms",
                hint="Check `handrail devices`; wake the phone.",
            ) from None
        if (
            last is not None and snapshot.screen is last.screen
        ):  # unchanged, so it is worth fetching its labels
            await screens.fetch_labels(snapshot)
        verdict = check(snapshot)
        if isinstance(verdict, Awaitable):
            verdict = await verdict
        now = clock.monotonic_ms()
        if verdict.met or now >= deadline:
            return snapshot, verdict
        gap = (
            FIRST_GAP_MS
            if last is None or snapshot.screen is not last.screen
            else min(gap * 2, LONGEST_GAP_MS)
        )
        last = snapshot
        await clock.sleep_ms(min(every_ms or gap, deadline - now))
