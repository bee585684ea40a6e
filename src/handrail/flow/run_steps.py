"""Runs the steps of a flow, one record for each, and tries again what may be repeated.

Knows actions only as things that a session runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from handrail.clock import Clock
from handrail.dialects import agentest
from handrail.engine.events import Caller
from handrail.errors import ERRORS, HandrailError, Timeout
from handrail.flow.evidence import DeviceWatch, FlowEvidence
from handrail.flow.heal import Repairs
from handrail.flow.plan import Ended, PlannedStep, name_of
from handrail.flow.run_record import Observer, StepRecord
from handrail.flow.time_spent import TimeBook, add
from handrail.flow.variables import fill_late
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.flow import Branch, Parallel, Repeat, RunFlow, Step
from handrail.protocol.observe import Finish, ReadText, WaitFor
from handrail.protocol.read import action_from
from handrail.protocol.target import Condition
from handrail.protocol.traits import Settle
from handrail.tree.diff import Diff, diff_text
from handrail.tree.node import Bounds
from handrail.waiting import Background, within


@dataclass(slots=True)
class StepRunner:
    """One run through one flow."""

    flow: str
    devices: Mapping[str, DeviceWatch]
    clock: Clock
    caller: Caller
    observer: Observer
    repairs: Repairs
    book: TimeBook
    evidence: FlowEvidence | None = None
    reason: str | None = None
    """Why the whole flow is run; its steps inherit it."""
    late: dict[str, str] = field(default_factory=dict)
    """What steps have read into variables so far."""
    _late_names: dict[int, frozenset[str]] = field(default_factory=dict)
    """By document: looking for them in a file of ten thousand steps takes a while."""

    async def all(
        self,
        steps: Sequence[PlannedStep],
        on: DeviceWatch,
        into: list[StepRecord],
        path: tuple[int, ...] = (),
    ) -> Ended:
        """One after the other, until one fails or finishes. Rounds of a repeat are numbered on."""
        for one in steps:
            ended = await self._step(one, on, into, (*path, len(into)))
            if ended != "on":
                return ended
        return "on"

    async def _step(
        self, one: PlannedStep, on: DeviceWatch, into: list[StepRecord], path: tuple[int, ...]
    ) -> Ended:
        on = self._device_of(one, on)
        if id(one.document) not in self._late_names:
            self._late_names[id(one.document)] = one.document.late
        names = ", ".join(one.inner) if isinstance(one.step, Parallel) else on.name
        record = self._record(path, one.label, one.given, names, one.place.line)
        into.append(record)
        self.observer.step_started(record)
        try:
            await self._picture_before(one, on, record)
            ended = await self._told(
                record, self._do(one, on, record), one.step.timeout_ms, optional=one.step.optional
            )
            if one.document.is_agentest and record.code is not None:
                told = agentest.failure(ERRORS[record.code](record.error or "", hint=record.hint))
                record.error, record.code, record.hint = told["error"], told["code"], None
            await self._collect(one, on, record)
        finally:
            self.observer.step_ended(record)
        return ended

    def _device_of(self, one: PlannedStep, on: DeviceWatch) -> DeviceWatch:
        named = one.step.action.device if isinstance(one.step, Step) else None
        return self.devices.get(named, on) if named else on

    def _record(
        self, path: tuple[int, ...], label: str, given: Mapping[str, Any], device: str, line: int | None
    ) -> StepRecord:
        return StepRecord(path, label, given, device, self.clock.now_ms(), line)

    async def _told(
        self,
        record: StepRecord,
        work: Coroutine[Any, Any, Ended],
        timeout_ms: int | None = None,
        *,
        optional: bool = False,
    ) -> Ended:
        """The work, with its time and its failure written down."""
        record.started_ms, began = self.clock.now_ms(), self.clock.monotonic_ms()
        try:
            return await within(self.clock, timeout_ms, work)
        except HandrailError as error:
            record.outcome = "warned" if optional else "failed"
            record.error, record.code, record.hint = error.message, error.code, error.hint
            return "on" if optional else "failed"
        except asyncio.CancelledError:
            record.outcome, record.error = "stopped", "It was stopped"
            raise
        finally:
            record.duration_ms = round(self.clock.monotonic_ms() - began, 1)

    async def _do(self, one: PlannedStep, on: DeviceWatch, record: StepRecord) -> Ended:
        if one.step.when is not None and not await self._holds(one.step.when, on, record):
            record.outcome = "skipped"
            return "on"
        match one.step:
            case Step():
                return await self._act(one, one.step, on, record)
            case Repeat():
                return await self._repeat(one.step, one.inner["steps"], on, record)
            case Branch():
                way = "then" if await self._holds(one.step.condition, on, record) else "else"
                return await self.inside(one.inner[way], on, record)
            case RunFlow():
                await self.inside(one.inner["steps"], on, record)
                return "on"  # `finish` ends the flow in which it stands
            case Parallel():
                return await self._parallel(one, record)
            case _:
                record.rest = "waiting"  # it looks by itself until it finds what it needs
                return await one.step.run(self, on, record)

    # one action

    async def act(
        self,
        action: AnyAction,
        on: DeviceWatch,
        record: StepRecord,
        *,
        lenient: bool = False,
        settle: Settle | None = None,
    ) -> Envelope:
        """For late steps. `lenient`: an action that was delivered did what was asked, proved or not."""
        if action.reason is None:
            action = action.model_copy(update={"reason": self._reason(record)})
        envelope = await self.book.run(on.session, action, record.spent, caller=self.caller, settle=settle)
        self._write(record, envelope, on)
        on.note(envelope)
        if not envelope.success and not (lenient and envelope.failure_code in _UNPROVED):
            envelope.or_raise()
        return envelope

    async def part(
        self, action: AnyAction, on: DeviceWatch, record: StepRecord, *, lenient: bool = False
    ) -> Envelope:
        """For late steps that are several actions: each is a step inside."""
        path = (*record.path, len(record.children))
        label = name_of(Step(action=action))
        child = self._record(path, label, {action.type: None}, on.name, record.line)
        record.children.append(child)
        self.observer.step_started(child)
        try:
            done = self.act(action, on, child, lenient=lenient)
            if await self._told(child, _ended(done)) == "failed" or child.envelope is None:
                raise _again(child)
            return child.envelope
        finally:
            self.observer.step_ended(child)

    async def _act(self, one: PlannedStep, step: Step, on: DeviceWatch, record: StepRecord) -> Ended:
        action = self._with_late(self.repairs.known(one, step.action))
        if action.reason is None:
            action = action.model_copy(update={"reason": self._reason(record)})
        envelope, record.tries = await self._tried(step, action, on, record)
        healed = self.repairs.heal(one, action, envelope, on.session)
        if healed is not None and self.repairs.allowed:
            envelope, more = await self._tried(step, healed.action, on, record)
            record.tries += more
        self._write(record, envelope, on)
        on.note(envelope)
        if (failure := envelope.error) is not None:
            if healed is not None:
                failure.hint = f"{healed.proposal.text}; --heal accepts that. {failure.hint}"
            raise failure
        if isinstance(action, ReadText) and action.into and envelope.details:
            self.late[action.into] = str(envelope.details["text"])
        return "finished" if isinstance(action, Finish) else "on"

    def _with_late(self, action: AnyAction) -> AnyAction:
        """The action with what earlier steps have read. Raises `InvalidAction`."""
        names = frozenset[str]().union(*self._late_names.values())
        given = action.model_dump(exclude_none=True) if names else {}
        filled = fill_late(given, self.late, names)
        return action if filled == given else action_from(filled)

    async def _tried(
        self, step: Step, action: AnyAction, on: DeviceWatch, record: StepRecord
    ) -> tuple[Envelope, int]:
        ended = self.clock.monotonic_ms()

        async def once() -> Envelope:
            nonlocal ended
            add(record.spent, {"retry": self.clock.monotonic_ms() - ended})
            how = {"caller": self.caller, "settle": step.settle}
            envelope = await self.book.run(on.session, action, record.spent, **how)
            ended = self.clock.monotonic_ms()
            return envelope

        return await tries(once, step.retry, self.clock)

    def _reason(self, record: StepRecord) -> str:
        number = ".".join(str(index + 1) for index in record.path)
        where = f"flow {self.flow}, step {number}: {record.label}"
        return (f"{self.reason} ({where})" if self.reason else where)[:1_000]

    def _write(self, record: StepRecord, envelope: Envelope, on: DeviceWatch) -> None:
        record.envelope = envelope
        record.loading = _loading(envelope)
        if envelope.changes:
            text = on.session.looks.registry.text
            record.diff = diff_text(Diff(list(envelope.changes)), screen_text=text)
        found = envelope.target.resolved if envelope.target else None
        if found is not None and found.bounds is not None:
            record.touched = Bounds(*found.bounds)

    async def _holds(self, condition: Condition, on: DeviceWatch, record: StepRecord) -> bool:
        """By one fresh read. A read that fails is a failure, not a no."""
        look = self._with_late(WaitFor(condition=condition, timeout_ms=0))
        why = self._reason(record)
        envelope = await self.book.run(on.session, look, record.spent, reason=why, caller=self.caller)
        on.note(envelope)
        if not envelope.success and envelope.failure_code != "TIMEOUT":
            envelope.or_raise()
        return envelope.success

    # steps that hold others

    async def inside(self, steps: Sequence[PlannedStep], on: DeviceWatch, record: StepRecord) -> Ended:
        """Inner steps; their failure is this step's own."""
        ended = await self.all(steps, on, record.children, record.path)
        if ended == "failed":
            raise _again(record.children[-1])
        return ended

    async def _repeat(
        self, step: Repeat, steps: Sequence[PlannedStep], on: DeviceWatch, record: StepRecord
    ) -> Ended:
        for _ in range(step.times or step.max_times):
            if step.while_ is not None and not await self._holds(step.while_, on, record):
                return "on"
            if await self.inside(steps, on, record) == "finished":
                return "finished"
            if step.until is not None and await self._holds(step.until, on, record):
                return "on"
        if step.times is not None:
            return "on"
        if step.while_ is not None and not await self._holds(step.while_, on, record):
            return "on"
        word = "while still holds" if step.while_ is not None else "until was not met"
        raise Timeout(f"{word} after {step.max_times} rounds", hint="Raise max_times, or look at the screen.")

    async def _parallel(self, one: PlannedStep, record: StepRecord) -> Ended:
        """All devices at once. The first that fails stops the others where they are."""
        for number, name in enumerate(one.inner):
            path = (*record.path, number)
            record.children.append(self._record(path, name, {"device": name}, name, one.place.line))
        async with Background() as running:
            shares = [
                running.start(self._share(child, one.inner[child.device]), child.device, log_failure=False)
                for child in record.children
            ]
            await _until_one_fails(shares)
        failed = next((child for child in record.children if child.outcome == "failed"), None)
        if failed is None:
            return "on"
        for child in record.children:
            if child.outcome == "stopped":
                child.error = f"It was stopped because {failed.label} failed"
        raise _again(failed)

    async def _share(self, record: StepRecord, steps: Sequence[PlannedStep]) -> Ended:
        self.observer.step_started(record)
        try:
            return await self._told(record, self.inside(steps, self.devices[record.device], record))
        finally:
            self.observer.step_ended(record)

    # evidence

    async def _picture_before(self, one: PlannedStep, on: DeviceWatch, record: StepRecord) -> None:
        if self.evidence is None or not _acts(one):
            return
        try:
            with self.book.stretch("evidence", "A picture for the report", on.name, record.path):
                known = on.last_picture()
                record.before = known or on.took(await self.evidence.picture(on.session, self.caller))
        except asyncio.CancelledError:
            record.outcome, record.error = "stopped", "It was stopped before it began"
            raise

    async def _collect(self, one: PlannedStep, on: DeviceWatch, record: StepRecord) -> None:
        if self.evidence is None or isinstance(one.step, _HOLDERS):
            return
        if record.outcome == "skipped":
            record.before = None
            return
        if not _acts(one) and record.code is None:
            return
        with self.book.stretch("evidence", "Evidence for the report", on.name, record.path):
            record.after = on.took(await self.evidence.picture(on.session, self.caller))
            on.keep_picture(record.after)
            if record.code is not None:
                record.log = await self.evidence.log(on.session, self.caller)


def _again(record: StepRecord) -> HandrailError:
    return ERRORS[record.code or "UNKNOWN"](record.error or "", hint=record.hint)


_UNPROVED = frozenset({"VERIFICATION_FAILED", "NAVIGATION_NO_CHANGE"})
"""Delivered, and nothing shows that it did something."""
_HOLDERS = (Repeat, Branch, RunFlow, Parallel)


async def _ended(work: Awaitable[Envelope]) -> Ended:
    await work
    return "on"


def _acts(one: PlannedStep) -> bool:
    if isinstance(one.step, _HOLDERS):
        return False
    return one.step.action.effect in _ACTING if isinstance(one.step, Step) else one.step.acts


_ACTING = frozenset({"input", "system", "sensitive"})


def _loading(envelope: Envelope) -> str | None:
    settle = envelope.settle
    if settle is None or not settle.loading:
        return None
    return f"{'Timed out waiting' if settle.reason == 'loading' else 'Waited'} for: {settle.loading}"


async def _until_one_fails(shares: Sequence[asyncio.Task[Ended]]) -> None:
    pending = set(shares)
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        if any(share.result() == "failed" for share in done):
            return


PAUSE_MS = 200.0
"""Before the second try; doubled before every further one."""
LONGEST_PAUSE_MS = 2_000.0


def may_repeat(envelope: Envelope) -> bool:
    """Only what is worth it, and only when it is certain whether it was delivered."""
    return bool(envelope.retryable) and envelope.delivery != "unknown"


async def tries(once: Callable[[], Awaitable[Envelope]], retry: int, clock: Clock) -> tuple[Envelope, int]:
    """The last envelope, and how many tries it took."""
    pause = PAUSE_MS
    for number in range(1, retry + 1):
        envelope = await once()
        if envelope.success or not may_repeat(envelope):
            return envelope, number
        await clock.sleep_ms(pause)
        pause = min(pause * 2, LONGEST_PAUSE_MS)
    return await once(), retry + 1
