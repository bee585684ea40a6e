"""Waits, expectations, and the question to a person: actions whose answer is whether something came true."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from handrail.clock import Clock
from handrail.engine.look.conditions import NO_ELEMENT, Holds, holds, meeting, state_is
from handrail.engine.look.looks import Look, Looks, sure
from handrail.engine.look.resolve import aim_at
from handrail.engine.look.settle import Settling
from handrail.engine.run import Outcome, Stage
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
from handrail.protocol.target import Condition, Point, Selector, StateIs, TextIs
from handrail.tree.node import Node
from handrail.tree.select.missed import candidates, did_you_mean, nearest_nodes
from handrail.waiting import Deadline, Expired


async def _until(
    stage: Stage,
    check: Check,
    timeout_ms: float,
    condition: Condition | None = None,
    every_ms: int | None = None,
) -> tuple[Outcome, Holds]:
    """Look until it holds; the last look becomes the session's present, whatever it showed.

    The element by which the condition holds is what the envelope names as found.
    """
    with stage.run.phase("watch"):
        seen, verdict = await wait_until(stage.looks, stage.clock, check, timeout_ms, every_ms)
    stage.looks.take(seen)
    stage.run.after = seen
    node = meeting(condition, seen.screen, stage.looks.registry) if condition and verdict.met else None
    if condition is not None and condition.subject is not None and node is not None:
        stage.run.aims["target"] = aim_at(stage.looks, condition.subject, node)
    verification = Verification(
        mode="explicit",
        expected=verdict.expected,
        observed=verdict.observed,
        outcome="verified" if verdict.met else "failed",
    )
    stage.run.verification = verification
    return Outcome(verification=verification), verdict


async def wait_for(stage: Stage, action: WaitFor) -> Outcome:
    """A change that finished before the call is seen too: it is measured against what was read last."""
    before = stage.looks.last or await stage.look()

    def check(seen: Look) -> Holds:
        return holds(action.condition, seen, stage.looks.view(seen), before)

    outcome, verdict = await _until(stage, check, action.timeout_ms, action.condition, action.every_ms)
    if not verdict.met:
        raise Timeout(
            _unmet_words(str(action.condition), verdict, action.timeout_ms),
            expected=verdict.expected,
            observed=verdict.observed,
        )
    return outcome


async def wait_for_stable(stage: Stage, action: WaitForStable) -> Outcome:
    """Rest and nothing loading, by the same rules as after an action."""
    with stage.run.phase("settle"):
        settling = Settling(
            stage.looks,
            stage.clock,
            None,
            budget_ms=action.timeout_ms,
            loading_ms=action.timeout_ms,
        )
        settled = await settling.wait()
    stage.run.settled = settled.report
    stage.looks.take(settled.seen)
    stage.run.after = settled.seen
    if settled.report.reason in ("budget", "loading"):
        why = f"still loading: {settled.report.loading}" if settled.report.loading else "it is still moving"
        raise IdleTimeout(f"The screen did not come to rest within {action.timeout_ms} ms; {why}")
    verification = Verification(mode="built_in", observed=settled.report.reason, outcome="verified")
    return Outcome(verification=verification)


async def expect_element(stage: Stage, action: ExpectVisible | ExpectAbsent | ExpectText) -> Outcome:
    """Visible, absent, or with a text."""

    condition = _condition(action)

    def check(seen: Look) -> Holds:
        return holds(condition, seen, stage.looks.view(seen), None)

    outcome, verdict = await _until(stage, check, action.timeout_ms, condition)
    if not verdict.met:
        is_missing = verdict.observed in ("not visible", NO_ELEMENT)
        near = _nearest(stage, action.target) if is_missing else []
        raise _unmet(
            AssertionFailed,
            str(condition),
            verdict,
            action.timeout_ms,
            hint=did_you_mean(near, stage.looks.registry),
            candidates=candidates(near, stage.looks.registry) or None,
        )
    return outcome


def _condition(action: ExpectVisible | ExpectAbsent | ExpectText) -> Condition:
    match action:
        case ExpectVisible():
            return Condition(visible=action.target)
        case ExpectAbsent():
            return Condition(absent=action.target)
        case ExpectText():
            wish = TextIs(target=action.target, equals=action.equals, contains=action.contains)
            return Condition(text=wish)


def _nearest(stage: Stage, target: Selector | Point) -> list[Node]:
    """What is like the words that were looked for."""
    words = (target.text or target.text_contains) if isinstance(target, Selector) else None
    return nearest_nodes(sure(stage.looks.last).screen, words or "", stage.looks.registry)


async def expect_state(stage: Stage, action: ExpectState) -> Outcome:
    """One property of an element."""
    wish = StateIs(target=action.target, property=action.property, value=action.value)

    def check(seen: Look) -> Holds:
        return state_is(seen.screen, wish, stage.looks.view(seen))

    condition = Condition(state=wish)
    outcome, verdict = await _until(stage, check, action.timeout_ms, condition)
    if not verdict.met:
        raise _unmet(ExpectStateMismatch, str(condition), verdict, action.timeout_ms)
    return outcome


async def expect_screen(stage: Stage, action: ExpectScreen) -> Outcome:
    """By fingerprint, or by the activity in front."""

    async def by_activity(_: Look) -> Holds:
        front = await stage.looks.eyes.foreground()
        return Holds(is_activity(front.activity, action.activity or ""), action.activity, front.activity)

    def by_fingerprint(seen: Look) -> Holds:
        return Holds(seen.fingerprint == action.fingerprint, action.fingerprint, seen.fingerprint)

    check: Check = by_activity if action.activity is not None else by_fingerprint
    outcome, verdict = await _until(stage, check, action.timeout_ms)
    if not verdict.met:
        wanted = f"the screen is {action.activity or f'#{action.fingerprint}'}"
        raise _unmet(ExpectStateMismatch, wanted, verdict, action.timeout_ms)
    return outcome


def is_activity(shown: str, wanted: str) -> bool:
    """By its whole name, by the last parts of it, or as `package/.Class`."""
    package, slash, name = wanted.partition("/")
    whole = (package + name if name.startswith(".") else name) if slash else wanted
    return shown == whole or (not slash and f".{shown}".endswith(f".{whole.removeprefix('.')}"))


async def expect_app(stage: Stage, action: ExpectApp) -> Outcome:
    """Which app is in front."""

    def check(seen: Look) -> Holds:
        return Holds(seen.screen.package == action.package, action.package, seen.screen.package)

    outcome, verdict = await _until(stage, check, action.timeout_ms)
    if not verdict.met:
        raise _unmet(ExpectStateMismatch, f"{action.package} is in front", verdict, action.timeout_ms)
    return outcome


def _unmet(
    failure: type[HandrailError],
    wanted: str,
    verdict: Holds,
    waited_ms: int,
    hint: str | None = None,
    **details: Any,
) -> HandrailError:
    return failure(
        _unmet_words(wanted, verdict, waited_ms),
        hint=hint,
        expected=verdict.expected,
        actual=verdict.observed,
        **details,
    )


def _unmet_words(wanted: str, verdict: Holds, waited_ms: int) -> str:
    waited = f"Waited {waited_ms / 1000:g} s" if waited_ms else "Looked once"
    return f"Expected: {wanted}. Found: {verdict.found}. {waited}."


async def request_human_auth(stage: Stage, action: RequestHumanAuth) -> Outcome:
    """Ask, and wait for the answer; what it brings is data, secret data only a placeholder."""
    answer = await stage.ask_person(action)
    if not answer.approved:
        raise ActionRejected(
            f"The person {answer.decision} it" if answer.decision == "denied" else "Nobody answered in time",
            approval=answer.id,
        )
    verification = Verification(mode="explicit", expected="approved", observed="approved", outcome="verified")
    return Outcome(details={"approved": True, "data": answer.data}, verification=verification)


FIRST_GAP_MS = 20.0
LONGEST_GAP_MS = 200.0

Check = Callable[[Look], Holds | Awaitable[Holds]]


LAST_LOOK_MS = 5_000.0
"""A look that began within the time may take so much longer; whoever needs more does not answer."""


async def _look_in_time(looks: Looks, clock: Clock, deadline: float) -> Look:
    left = max(0.0, deadline - clock.monotonic_ms()) + LAST_LOOK_MS
    try:
        async with Deadline(clock, left):
            return await looks.look()
    except Expired:
        raise DeviceOffline(
            f"The screen could not be read for {left:.0f} ms",
            hint="Check `handrail devices`; wake the phone.",
        ) from None


async def wait_until(
    looks: Looks, clock: Clock, check: Check, timeout_ms: float, every_ms: int | None = None
) -> tuple[Look, Holds]:
    """Look until the check is met or the time is over; the last look and its verdict."""
    deadline = clock.monotonic_ms() + timeout_ms
    gap = FIRST_GAP_MS
    last: Look | None = None
    while True:
        seen = await _look_in_time(looks, clock, deadline)
        if last is not None and seen.screen is last.screen:  # at rest: worth asking for its names
            await looks.name(seen)
        verdict = check(seen)
        if isinstance(verdict, Awaitable):
            verdict = await verdict
        now = clock.monotonic_ms()
        if verdict.met or now >= deadline:
            return seen, verdict
        gap = FIRST_GAP_MS if last is None or seen.screen is not last.screen else min(gap * 2, LONGEST_GAP_MS)
        last = seen
        await clock.sleep_ms(min(every_ms or gap, deadline - now))
