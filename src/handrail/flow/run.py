"""Runs a flow on sessions that somebody else has opened, and tells what became of it as a `FlowTrace`.

A flow that fails is a record, not an exception; so is one that is interrupted. A trace counts top-level
steps; inner ones are children.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from handrail.clock import Clock
from handrail.dialects import agentest
from handrail.engine.session import Session
from handrail.errors import ERRORS, HandrailError, InvalidAction, Timeout
from handrail.flow.evidence import DeviceWatch, ReportEvidence
from handrail.flow.heal import Repairs
from handrail.flow.plan import AnyFlow, Ended, FlowPlan, PlannedStep, devices_of, plan, step_name, takes_part
from handrail.flow.run_record import FlowRecord, Observer, Picture, StepRecord, TimeBook, add_times
from handrail.flow.variables import fill_late
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.flow import Branch, FlowTrace, Parallel, Repeat, RunFlow, Step, StepResult
from handrail.protocol.observe import Finish, ReadText, WaitFor
from handrail.protocol.read import action_from, nearest
from handrail.protocol.system import StartApp
from handrail.protocol.target import Condition
from handrail.protocol.traits import Settle
from handrail.safety.caller import PATIENCE_MS, Caller
from handrail.screen.diff import Diff, diff_text
from handrail.screen.node import Bounds
from handrail.waiting import Background, within


class FlowRunner:
    """Flows on named sessions; the first one runs the steps that name no device."""

    def __init__(
        self,
        sessions: Mapping[str, Session],
        clock: Clock,
        *,
        observer: Observer | None = None,
        evidence: ReportEvidence | None = None,
        heal: bool = False,
        caller: Caller | None = None,
        reason: str | None = None,
        own_phones: bool = False,
    ) -> None:
        """`heal` lets steps go on with the successor of an element that is gone, and edits the file.

        `reason` is inherited by all steps that have none of their own. `own_phones` were made for this run
        alone: nobody is asked what a plan may do to them.
        """
        self._sessions = sessions
        self._clock = clock
        self._observer: Observer = observer or Observer()
        self._evidence = evidence
        self._heal = heal
        self._caller = caller
        self._reason = reason
        self._own_phones = own_phones
        self.part: range | None = None
        """Only these steps, on the screen that is there."""
        self.gate: Callable[[tuple[int, ...]], Awaitable[None]] | None = None
        """Awaited before each step."""

    async def run(
        self, document: AnyFlow, env: Mapping[str, str] | None = None, *, attempt: int = 1
    ) -> FlowRecord:
        """Raises `InvalidAction` for what is wrong with the file, before any device is touched.

        A cancellation ends the flow where it is; the record says `stopped` and is complete up to there.
        """
        ready = plan(document, env or {})
        with next(iter(self._sessions.values())).working("flow") as work:
            record = await self._run(ready, attempt)
            work.outcome = record.outcome
        return record

    async def _run(self, ready: FlowPlan, attempt: int) -> FlowRecord:
        caller = self._caller or Caller(ready.flow.name, "flow", "flow", patience_ms=PATIENCE_MS)
        devices = self._devices(ready, caller)
        file = str(ready.document.path or "")
        people = ", ".join(
            f"{device.session.serial} ({device.session.facts.model})" for device in devices.values()
        )
        now = self._clock.now_ms()
        record = FlowRecord(ready.flow.name, file, ready.flow.tags, people, now, attempt=attempt)
        began = self._clock.monotonic_ms()
        self._observer.flow_started(record, len(ready.steps))
        book = TimeBook(self._clock, record.stretches)
        try:
            await self._run_steps(ready, devices, record, caller, book)
        except asyncio.CancelledError:
            # The record is the answer to it; what comes after this flow must not be cancelled too.
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            record.outcome = "stopped"
            for device in devices.values():
                device.accept_last_screen()
        finally:
            if ready.end is not None:
                with book.stretch("launch", "The end of its scripts"):
                    await ready.end()
        record.duration_ms = round(self._clock.monotonic_ms() - began, 1)
        if self._evidence is not None:
            await self._evidence.finish()
        self._finish_record(ready, devices, record)
        self._observer.flow_ended(record)
        return record

    def _devices(self, ready: FlowPlan, caller: Caller) -> dict[str, DeviceWatch]:
        """By name; a flow for one device takes the first session, whatever it is called."""
        names = devices_of(ready)
        if len(names) <= 1:
            first = next(iter(self._sessions))
            name = names[0] if names else first
            return {name: DeviceWatch(name, self._sessions.get(name, self._sessions[first]), caller)}
        for name in names:
            if name not in self._sessions:
                close = nearest(name, self._sessions)
                guess = f" Did you mean {' or '.join(close)}?" if close else ""
                there = ", ".join(self._sessions) or "none"
                raise InvalidAction(
                    f"{ready.flow.name}: no device was given for {name!r}; there are {there}",
                    hint=f"Give --device {name}=SERIAL.{guess}",
                )
        return {name: DeviceWatch(name, self._sessions[name], caller) for name in names}

    async def _run_steps(
        self,
        ready: FlowPlan,
        devices: Mapping[str, DeviceWatch],
        record: FlowRecord,
        caller: Caller,
        book: TimeBook,
    ) -> None:
        repairs = Repairs(allowed=self._heal)
        record.proposals, record.repairs = repairs.proposals, repairs
        walk = StepRunner(
            ready.flow.name,
            devices,
            self._clock,
            caller,
            self._observer,
            repairs,
            book,
            self._evidence,
            self._reason,
            self.gate,
        )
        part = self.part
        try:
            await self._ask_ahead(ready, devices, caller, book)
            if not part or part.start == 0:
                await self._start_app(ready, devices, caller, book)
            if ready.begin is not None:
                with book.stretch("launch", "The start of its scripts"):
                    await ready.begin(next(iter(devices.values())))
        except HandrailError as error:
            record.outcome = "failed"
            what = f"{ready.flow.app} could not be started" if ready.flow.app else "It was not started"
            record.error = f"{what}: {error.message}"
        for device in devices.values():
            with book.stretch("looking", "A look before the first step", device.name):
                await device.begin()
        if record.outcome == "passed":
            main = next(iter(devices.values()))
            ended = await walk.run_part(ready.steps, part, main, record.steps)
            if ready.last and await walk.run_steps(ready.last, main, record.steps) == "failed":
                ended = "failed"
            record.outcome = "failed" if ended == "failed" else "passed"
            if ended != "failed":
                repairs.save()
        for device in devices.values():
            with book.stretch("looking", "A look after the last step", device.name):
                await device.end()

    async def _ask_ahead(
        self, ready: FlowPlan, devices: Mapping[str, DeviceWatch], caller: Caller, book: TimeBook
    ) -> None:
        """One question for everything that the plan is known to do, where policy asks about it."""
        for device in devices.values() if ready.ahead else ():
            why = f"flow {ready.flow.name}: all that it is known to do"
            if self._own_phones:
                device.session.allow_ahead(ready.ahead, caller)
                continue
            with book.stretch("approval", "A question about the whole flow", device.name):
                envelope = await device.session.ask_ahead(
                    ready.ahead, reason=self._reason or why, caller=caller
                )
            if envelope is not None:
                envelope.or_raise()

    async def _start_app(
        self, ready: FlowPlan, devices: Mapping[str, DeviceWatch], caller: Caller, book: TimeBook
    ) -> None:
        """Starts the app on every device of the flow. It is not a step, so it has no record."""
        if ready.flow.app is None:
            return
        for device in devices.values():
            why = f"flow {ready.flow.name}: its app"
            reason = f"{self._reason} ({why})"[:1_000] if self._reason else why
            start = StartApp(package=ready.flow.app)
            with book.stretch("launch", f"Starting {ready.flow.app}", device.name) as spent:
                envelope = await device.session.run(start, reason=reason, caller=caller)
                if approval_ms := (envelope.timings_ms or {}).get("approval"):
                    spent["approval"] = approval_ms
            device.note(envelope)
            envelope.or_raise()

    def _finish_record(self, ready: FlowPlan, devices: Mapping[str, DeviceWatch], record: FlowRecord) -> None:
        """Completes the record and removes every secret from it, also one that the file spells out."""
        for device in devices.values():
            device.tree = device.session.journal_writer.redact_data(device.tree)
            _hide_secrets(record.steps, device.session, device.pictures_with_secrets())
        if record.error is None and record.outcome in ("failed", "stopped"):
            blamed = next((ended for ended in record.steps if ended.outcome in _BAD), None)
            last = blamed or (record.steps[-1] if record.steps else None)
            record.error = failure_text(last) if last else "Stopped before the first step"
        main = next(iter(devices))
        record.trace = trace_of(
            record, len(ready.steps), devices[main], counts_failed=ready.document.is_agentest
        )
        if len(devices) > 1:
            for name, device in devices.items():
                total = sum(takes_part(step, name, main) for step in ready.steps)
                # One device's share: the steps it takes part in, and of parallel ones only its own inside.
                own = _parts_of_device(record.steps, name)
                error = record.error if not own or own[-1].outcome in _BAD else None
                record.traces[name] = _trace(own, total, device, error)


_WORDS = ("label", "source", "error", "hint", "diff", "log", "loading")
"""Where a step's record may quote its file or the screen."""


def _hide_secrets(steps: Sequence[StepRecord], session: Session, withheld: Mapping[int, Picture]) -> None:
    for step in steps:
        for name in _WORDS:
            setattr(step, name, session.journal_writer.redact_data(getattr(step, name)))
        if step.envelope is not None:
            step.envelope = session.journal_writer.redact_envelope(step.envelope)
        step.before = withheld.get(id(step.before), step.before)
        step.after = withheld.get(id(step.after), step.after)
        _hide_secrets(step.children, session, withheld)


_BAD = frozenset({"failed", "stopped"})


def trace_of(
    record: FlowRecord, total: int, device: DeviceWatch, *, counts_failed: bool = False
) -> FlowTrace:
    """The whole flow, as the device saw it that runs its plain steps.

    `counts_failed`: a step that was carried out and failed is completed, as AgenTest counts.
    """
    trace = _trace(record.steps, total, device, record.error)
    failed = sum(step.outcome == "failed" for step in record.steps) if counts_failed else 0
    return trace.model_copy(update={"steps_completed": trace.steps_completed + failed})


def result_of(record: StepRecord) -> StepResult:
    is_good = record.outcome in ("passed", "skipped")
    return StepResult(
        step_index=record.path[-1],
        action=dict(record.source),
        success=is_good,
        duration_ms=record.duration_ms,
        error=None if is_good else record.error,
        code=None if is_good else record.code,
        loading_detected=record.loading,
        children=tuple(result_of(child) for child in record.children) or None,
    )


def failure_text(record: StepRecord) -> str:
    """Why a flow ended with this step: "Step 3 (tap Save) failed: …", numbers as people count."""
    if record.outcome == "stopped":
        return f"Stopped at step {record.number} ({record.label})"
    if record.outcome != "failed":
        return f"Stopped after step {record.number} ({record.label})"
    return f"Step {record.number} ({record.label}) failed: {record.error}"


def _trace(steps: Sequence[StepRecord], total: int, device: DeviceWatch, error: str | None) -> FlowTrace:
    success = error is None and not any(step.outcome in _BAD for step in steps)
    completed = sum(step.outcome not in _BAD for step in steps)
    is_news = device.changed or not success
    return FlowTrace(
        success=success,
        steps_completed=completed,
        total_steps=total,
        results=tuple(result_of(step) for step in steps),
        screen_fingerprint=device.fingerprint,
        screen_changed=device.changed,
        final_ui_tree=device.tree if is_news and device.tree else None,
        error=error,
        system_dialogs=tuple(device.dialogs) or None,
        app_crash_detected=True if device.crashed else None,
    )


def _part_of_device(step: StepRecord, name: str) -> StepRecord | None:
    if "parallel" in step.source:
        own = next((child for child in step.children if child.device == name), None)
        return own and replace(
            own, path=step.path, source=step.source, children=_parts_of_device(own.children, name)
        )
    inside = _parts_of_device(step.children, name)
    return replace(step, children=inside) if inside or step.device == name else None


def _parts_of_device(steps: Sequence[StepRecord], name: str) -> list[StepRecord]:
    return [own for step in steps if (own := _part_of_device(step, name)) is not None]


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
    evidence: ReportEvidence | None = None
    reason: str | None = None
    """Why the whole flow is run; its steps inherit it."""
    gate: Callable[[tuple[int, ...]], Awaitable[None]] | None = None
    """Awaited before each step: somebody may have asked for a pause there."""
    late: dict[str, str] = field(default_factory=dict)
    """What steps have read into variables so far."""
    _late_names: dict[int, frozenset[str]] = field(default_factory=dict)
    """By document: looking for them in a file of ten thousand steps takes a while."""

    async def run_steps(
        self,
        steps: Sequence[PlannedStep],
        on: DeviceWatch,
        into: list[StepRecord],
        path: tuple[int, ...] = (),
    ) -> Ended:
        """One after the other, until one fails or finishes. Rounds of a repeat are numbered on."""
        for step in steps:
            ended = await self._step(step, on, into, (*path, len(into)))
            if ended != "on":
                return ended
        return "on"

    async def _step(
        self, planned: PlannedStep, on: DeviceWatch, into: list[StepRecord], path: tuple[int, ...]
    ) -> Ended:
        named = planned.step.action.device if isinstance(planned.step, Step) else None
        on = self.devices.get(named, on) if named else on
        if id(planned.document) not in self._late_names:
            self._late_names[id(planned.document)] = planned.document.late_variables
        names = ", ".join(planned.inner) if isinstance(planned.step, Parallel) else on.name
        record = self._record(path, planned.label, planned.source, names, planned.place.line)
        into.append(record)
        if self.gate is not None:
            await self.gate(path)
        self.observer.step_started(record)
        try:
            await self._picture_before(planned, on, record)
            ended = await self._run_recorded(
                record,
                self._run_by_kind(planned, on, record),
                planned.step.timeout_ms,
                optional=planned.step.optional,
            )
            if planned.document.is_agentest and record.code is not None:
                failure = agentest.error_answer(ERRORS[record.code](record.error or "", hint=record.hint))
                record.error, record.code, record.hint = failure["error"], failure["code"], None
            await self._collect(planned, on, record)
        finally:
            self.observer.step_ended(record)
        return ended

    async def run_part(
        self, steps: Sequence[PlannedStep], part: range | None, on: DeviceWatch, into: list[StepRecord]
    ) -> Ended:
        """All of them, or those of `part`; the steps before it are recorded as skipped."""
        chosen = steps[: part.stop] if part else steps
        for at, planned in enumerate(chosen[: part.start if part else 0]):
            record = self._record((at,), planned.label, planned.source, "", planned.place.line)
            record.outcome = "skipped"
            into.append(record)
        return await self.run_steps(chosen[len(into) :], on, into)

    def _record(
        self, path: tuple[int, ...], label: str, source: Mapping[str, Any], device: str, line: int | None
    ) -> StepRecord:
        return StepRecord(path, label, source, device, self.clock.now_ms(), line)

    async def _run_recorded(
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

    async def _run_by_kind(self, planned: PlannedStep, on: DeviceWatch, record: StepRecord) -> Ended:
        if planned.step.when is not None and not await self._is_condition_met(planned.step.when, on, record):
            record.outcome = "skipped"
            return "on"
        match planned.step:
            case Step():
                return await self._act(planned, planned.step, on, record)
            case Repeat():
                return await self._repeat(planned.step, planned.inner["steps"], on, record)
            case Branch():
                way = "then" if await self._is_condition_met(planned.step.condition, on, record) else "else"
                return await self.inside(planned.inner[way], on, record)
            case RunFlow():
                await self.inside(planned.inner["steps"], on, record)
                return "on"  # `finish` ends the flow in which it stands
            case Parallel():
                return await self._parallel(planned, record)
            case _:
                record.rest = "waiting"  # it looks by itself until it finds what it needs
                return await planned.step.run(self, on, record)

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
        self._fill_record(record, envelope, on)
        on.note(envelope)
        if not envelope.success and not (lenient and envelope.failure_code in _UNPROVED):
            envelope.or_raise()
        return envelope

    async def part(
        self, action: AnyAction, on: DeviceWatch, record: StepRecord, *, lenient: bool = False
    ) -> Envelope:
        """Runs one action of a late step that is several: each is a step inside."""
        path = (*record.path, len(record.children))
        label = step_name(Step(action=action))
        child = self._record(path, label, {action.type: None}, on.name, record.line)
        record.children.append(child)
        self.observer.step_started(child)
        try:
            done = self.act(action, on, child, lenient=lenient)
            if await self._run_recorded(child, _go_on_after(done)) == "failed" or child.envelope is None:
                raise _error_of_record(child)
            return child.envelope
        finally:
            self.observer.step_ended(child)

    async def _act(self, planned: PlannedStep, step: Step, on: DeviceWatch, record: StepRecord) -> Ended:
        action = self._fill_late_variables(self.repairs.healed_earlier(planned, step.action))
        if action.reason is None:
            action = action.model_copy(update={"reason": self._reason(record)})
        envelope, record.tries = await self._run_with_tries(step, action, on, record)
        healed = self.repairs.heal(planned, action, envelope, on.session)
        if healed is not None and self.repairs.allowed:
            envelope, more = await self._run_with_tries(step, healed.action, on, record)
            record.tries += more
        self._fill_record(record, envelope, on)
        on.note(envelope)
        if (failure := envelope.error) is not None:
            if healed is not None:
                failure.hint = f"{healed.proposal.text}; --heal accepts that. {failure.hint}"
            raise failure
        if isinstance(action, ReadText) and action.into and envelope.details:
            self.late[action.into] = str(envelope.details["text"])
        return "finished" if isinstance(action, Finish) else "on"

    def _fill_late_variables(self, action: AnyAction) -> AnyAction:
        """The action with what earlier steps have read. Raises `InvalidAction`."""
        names = frozenset[str]().union(*self._late_names.values())
        fields = action.model_dump(exclude_none=True) if names else {}
        filled = fill_late(fields, self.late, names)
        return action if filled == fields else action_from(filled)

    async def _run_with_tries(
        self, step: Step, action: AnyAction, on: DeviceWatch, record: StepRecord
    ) -> tuple[Envelope, int]:
        ended = self.clock.monotonic_ms()

        async def once() -> Envelope:
            nonlocal ended
            add_times(record.spent, {"retry": self.clock.monotonic_ms() - ended})
            how = {"caller": self.caller, "settle": step.settle}
            envelope = await self.book.run(on.session, action, record.spent, **how)
            ended = self.clock.monotonic_ms()
            return envelope

        return await run_with_retries(once, step.retry, self.clock)

    def _reason(self, record: StepRecord) -> str:
        where = f"flow {self.flow}, step {record.number}: {record.label}"
        return (f"{self.reason} ({where})" if self.reason else where)[:1_000]

    def _fill_record(self, record: StepRecord, envelope: Envelope, on: DeviceWatch) -> None:
        record.envelope = envelope
        record.loading = _loading_message(envelope)
        if envelope.changes:
            text = on.session.screens.registry.text
            record.diff = diff_text(Diff(list(envelope.changes)), screen_text=text)
        resolved = envelope.target.resolved if envelope.target else None
        if resolved is not None and resolved.bounds is not None:
            record.touched = Bounds(*resolved.bounds)

    async def _is_condition_met(self, condition: Condition, on: DeviceWatch, record: StepRecord) -> bool:
        """Checks the condition by one fresh read. A read that fails is a failure, not a no."""
        look = self._fill_late_variables(WaitFor(condition=condition, timeout_ms=0))
        why = self._reason(record)
        envelope = await self.book.run(on.session, look, record.spent, reason=why, caller=self.caller)
        on.note(envelope)
        if not envelope.success and envelope.failure_code != "TIMEOUT":
            envelope.or_raise()
        return envelope.success

    # steps that hold others

    async def inside(self, steps: Sequence[PlannedStep], on: DeviceWatch, record: StepRecord) -> Ended:
        """Runs inner steps. Their failure is this step's own."""
        ended = await self.run_steps(steps, on, record.children, record.path)
        if ended == "failed":
            raise _error_of_record(record.children[-1])
        return ended

    async def _repeat(
        self, step: Repeat, steps: Sequence[PlannedStep], on: DeviceWatch, record: StepRecord
    ) -> Ended:
        for _ in range(step.times or step.max_times):
            if step.while_ is not None and not await self._is_condition_met(step.while_, on, record):
                return "on"
            if await self.inside(steps, on, record) == "finished":
                return "finished"
            if step.until is not None and await self._is_condition_met(step.until, on, record):
                return "on"
        if step.times is not None:
            return "on"
        if step.while_ is not None and not await self._is_condition_met(step.while_, on, record):
            return "on"
        word = "while still holds" if step.while_ is not None else "until was not met"
        raise Timeout(f"{word} after {step.max_times} rounds", hint="Raise max_times, or look at the screen.")

    async def _parallel(self, planned: PlannedStep, record: StepRecord) -> Ended:
        """All devices at once. The first that fails stops the others where they are."""
        for number, name in enumerate(planned.inner):
            path = (*record.path, number)
            record.children.append(self._record(path, name, {"device": name}, name, planned.place.line))
        async with Background() as running:
            shares = [
                running.start(
                    self._run_on_device(child, planned.inner[child.device]), child.device, log_failure=False
                )
                for child in record.children
            ]
            await _until_any_fails(shares)
        failed = next((child for child in record.children if child.outcome == "failed"), None)
        if failed is None:
            return "on"
        for child in record.children:
            if child.outcome == "stopped":
                child.error = f"It was stopped because {failed.label} failed"
        raise _error_of_record(failed)

    async def _run_on_device(self, record: StepRecord, steps: Sequence[PlannedStep]) -> Ended:
        self.observer.step_started(record)
        try:
            return await self._run_recorded(record, self.inside(steps, self.devices[record.device], record))
        finally:
            self.observer.step_ended(record)

    # evidence

    async def _picture_before(self, planned: PlannedStep, on: DeviceWatch, record: StepRecord) -> None:
        if self.evidence is None or not _touches_device(planned):
            return
        try:
            with self.book.stretch("evidence", "A picture for the report", on.name, record.path):
                unchanged = on.last_picture()
                record.before = unchanged or on.remember_picture(
                    await self.evidence.picture(on.session, self.caller)
                )
        except asyncio.CancelledError:
            record.outcome, record.error = "stopped", "It was stopped before it began"
            raise

    async def _collect(self, planned: PlannedStep, on: DeviceWatch, record: StepRecord) -> None:
        if self.evidence is None or isinstance(planned.step, _HOLDERS):
            return
        if record.outcome == "skipped":
            record.before = None
            return
        if not _touches_device(planned) and record.code is None:
            return
        with self.book.stretch("evidence", "Evidence for the report", on.name, record.path):
            record.after = on.remember_picture(await self.evidence.picture(on.session, self.caller))
            on.keep_picture(record.after)
            if record.code is not None:
                record.log = await self.evidence.log(on.session, self.caller)


def _error_of_record(record: StepRecord) -> HandrailError:
    return ERRORS[record.code or "UNKNOWN"](record.error or "", hint=record.hint)


_UNPROVED = frozenset({"VERIFICATION_FAILED", "NAVIGATION_NO_CHANGE"})
"""Delivered, and nothing shows that it did something."""
_HOLDERS = (Repeat, Branch, RunFlow, Parallel)


async def _go_on_after(work: Awaitable[Envelope]) -> Ended:
    await work
    return "on"


def _touches_device(planned: PlannedStep) -> bool:
    if isinstance(planned.step, _HOLDERS):
        return False
    return planned.step.action.effect in _ACTING if isinstance(planned.step, Step) else planned.step.acts


_ACTING = frozenset({"input", "system", "sensitive"})


def _loading_message(envelope: Envelope) -> str | None:
    settle = envelope.settle
    if settle is None or not settle.loading:
        return None
    return f"{'Timed out waiting' if settle.reason == 'loading' else 'Waited'} for: {settle.loading}"


async def _until_any_fails(shares: Sequence[asyncio.Task[Ended]]) -> None:
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


async def run_with_retries(
    once: Callable[[], Awaitable[Envelope]], retry: int, clock: Clock
) -> tuple[Envelope, int]:
    """The last envelope, and how many tries it took."""
    pause = PAUSE_MS
    for number in range(1, retry + 1):
        envelope = await once()
        if envelope.success or not may_repeat(envelope):
            return envelope, number
        await clock.sleep_ms(pause)
        pause = min(pause * 2, LONGEST_PAUSE_MS)
    return await once(), retry + 1
