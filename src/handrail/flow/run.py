"""Runs a flow on sessions that somebody else has opened, and tells what became of it as a `FlowTrace`.

A flow that fails is a record, not an exception; so is one that is interrupted. A trace counts top-level
steps; inner ones are children.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from handrail.clock import Clock
from handrail.engine.events import PATIENCE_MS, Caller
from handrail.engine.session import Session
from handrail.errors import HandrailError, InvalidAction
from handrail.flow.evidence import DeviceWatch, FlowEvidence
from handrail.flow.heal import Repairs
from handrail.flow.plan import AnyFlow, FlowPlan, devices_of, plan, takes_part
from handrail.flow.run_record import FlowRecord, Observer, Picture, StepRecord
from handrail.flow.run_steps import StepRunner
from handrail.flow.time_spent import TimeBook
from handrail.protocol.flow import FlowTrace, StepResult
from handrail.protocol.read import nearest
from handrail.protocol.system import StartApp


class SilentObserver:
    """An observer for those who only want the record."""

    def flow_started(self, record: FlowRecord, total: int) -> None: ...

    def step_started(self, record: StepRecord) -> None: ...

    def step_ended(self, record: StepRecord) -> None: ...

    def flow_ended(self, record: FlowRecord) -> None: ...


class FlowRunner:
    """Flows on named sessions; the first one runs the steps that name no device."""

    def __init__(
        self,
        sessions: Mapping[str, Session],
        clock: Clock,
        *,
        observer: Observer | None = None,
        evidence: FlowEvidence | None = None,
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
        self._observer: Observer = observer or SilentObserver()
        self._evidence = evidence
        self._heal = heal
        self._caller = caller
        self._reason = reason
        self._own_phones = own_phones

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
        record = self._begin(ready, devices, attempt)
        began = self._clock.monotonic_ms()
        self._observer.flow_started(record, len(ready.steps))
        book = TimeBook(self._clock, record.stretches)
        try:
            await self._play(ready, devices, record, caller, book)
        except asyncio.CancelledError:
            _swallow_cancellation()
            record.outcome = "stopped"
            for seen in devices.values():
                seen.settle_for_last()
        finally:
            if ready.end is not None:
                with book.stretch("launch", "The end of its scripts"):
                    await ready.end()
        record.duration_ms = round(self._clock.monotonic_ms() - began, 1)
        self._conclude(ready, devices, record)
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
                raise _no_device(ready, name, self._sessions)
        return {name: DeviceWatch(name, self._sessions[name], caller) for name in names}

    def _begin(self, ready: FlowPlan, devices: Mapping[str, DeviceWatch], attempt: int) -> FlowRecord:
        file = str(ready.document.path or "")
        people = ", ".join(f"{one.session.serial} ({one.session.facts.model})" for one in devices.values())
        now = self._clock.now_ms()
        return FlowRecord(ready.flow.name, file, ready.flow.tags, people, now, attempt=attempt)

    async def _play(
        self,
        ready: FlowPlan,
        devices: Mapping[str, DeviceWatch],
        record: FlowRecord,
        caller: Caller,
        book: TimeBook,
    ) -> None:
        repairs = Repairs(allowed=self._heal)
        record.proposals = repairs.proposals
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
        )
        try:
            await self._ask_ahead(ready, devices, caller, book)
            await self._start_app(ready, devices, caller, book)
            if ready.begin is not None:
                with book.stretch("launch", "The start of its scripts"):
                    await ready.begin(next(iter(devices.values())))
        except HandrailError as error:
            record.outcome = "failed"
            what = f"{ready.flow.app} could not be started" if ready.flow.app else "It was not begun"
            record.error = f"{what}: {error.message}"
        for seen in devices.values():
            with book.stretch("looking", "A look before the first step", seen.name):
                await seen.begin()
        if record.outcome == "passed":
            main = next(iter(devices.values()))
            ended = await walk.all(ready.steps, main, record.steps)
            if ready.last and await walk.all(ready.last, main, record.steps) == "failed":
                ended = "failed"
            record.outcome = "failed" if ended == "failed" else "passed"
            if ended != "failed":
                repairs.save()
        for seen in devices.values():
            with book.stretch("looking", "A look after the last step", seen.name):
                await seen.end()

    async def _ask_ahead(
        self, ready: FlowPlan, devices: Mapping[str, DeviceWatch], caller: Caller, book: TimeBook
    ) -> None:
        """One question for everything that the plan is known to do, where policy asks about it."""
        for seen in devices.values() if ready.ahead else ():
            why = f"flow {ready.flow.name}: all that it is known to do"
            if self._own_phones:
                seen.session.allow_ahead(ready.ahead, caller)
                continue
            with book.stretch("approval", "A question about the whole flow", seen.name):
                envelope = await seen.session.ask_ahead(
                    ready.ahead, reason=self._reason or why, caller=caller
                )
            if envelope is not None:
                envelope.or_raise()

    async def _start_app(
        self, ready: FlowPlan, devices: Mapping[str, DeviceWatch], caller: Caller, book: TimeBook
    ) -> None:
        """On every device of the flow; it is no step, so it has no record of its own."""
        if ready.flow.app is None:
            return
        for seen in devices.values():
            why = f"flow {ready.flow.name}: its app"
            reason = f"{self._reason} ({why})"[:1_000] if self._reason else why
            start = StartApp(package=ready.flow.app)
            with book.stretch("launch", f"Starting {ready.flow.app}", seen.name) as spent:
                envelope = await seen.session.run(start, reason=reason, caller=caller)
                if asked := (envelope.timings_ms or {}).get("approval"):
                    spent["approval"] = asked
            seen.note(envelope)
            envelope.or_raise()

    def _conclude(self, ready: FlowPlan, devices: Mapping[str, DeviceWatch], record: FlowRecord) -> None:
        """Whatever is made of the record, no secret stands in it: not even one that the file spells out."""
        for seen in devices.values():
            seen.tree = seen.session.record.redact_data(seen.tree)
            _hide(record.steps, seen.session, seen.withheld())
        if record.error is None and record.outcome in ("failed", "stopped"):
            blamed = next((one for one in record.steps if one.outcome in _BAD), None)
            last = blamed or (record.steps[-1] if record.steps else None)
            record.error = failure_text(last) if last else "Stopped before the first step"
        main = next(iter(devices))
        record.trace = trace_of(
            record, len(ready.steps), devices[main], counts_failed=ready.document.is_agentest
        )
        if len(devices) > 1:
            for name, seen in devices.items():
                total = sum(takes_part(one, name, main) for one in ready.steps)
                record.traces[name] = device_trace(record, total, seen)


def _no_device(ready: FlowPlan, name: str, known: Mapping[str, Session]) -> InvalidAction:
    close = nearest(name, known)
    meant = f" Did you mean {' or '.join(close)}?" if close else ""
    return InvalidAction(
        f"{ready.flow.name}: no device was given for {name!r}; there are {', '.join(known) or 'none'}",
        hint=f"Give --device {name}=SERIAL.{meant}",
    )


def _swallow_cancellation() -> None:
    """The record is the answer to it; what comes after this flow must not be cancelled too."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


_WORDS = ("label", "given", "error", "hint", "diff", "log", "loading")
"""Where a step's record may quote its file or the screen."""


def _hide(steps: Sequence[StepRecord], session: Session, withheld: Mapping[int, Picture]) -> None:
    for step in steps:
        for name in _WORDS:
            setattr(step, name, session.record.redact_data(getattr(step, name)))
        if step.envelope is not None:
            step.envelope = session.record.clean(step.envelope)
        step.before = withheld.get(id(step.before), step.before)
        step.after = withheld.get(id(step.after), step.after)
        _hide(step.children, session, withheld)


_BAD = frozenset({"failed", "stopped"})


def trace_of(record: FlowRecord, total: int, seen: DeviceWatch, *, counts_failed: bool = False) -> FlowTrace:
    """The whole flow, as the device saw it that runs its plain steps.

    `counts_failed`: a step that was carried out and failed is completed, as AgenTest counts.
    """
    trace = _trace(record.steps, total, seen, record.error)
    failed = sum(step.outcome == "failed" for step in record.steps) if counts_failed else 0
    return trace.model_copy(update={"steps_completed": trace.steps_completed + failed})


def device_trace(record: FlowRecord, total: int, seen: DeviceWatch) -> FlowTrace:
    """One device's share: the `total` steps it takes part in, and of parallel ones only its own inside."""
    mine = _shares(record.steps, seen.name)
    error = record.error if not mine or mine[-1].outcome in _BAD else None
    return _trace(mine, total, seen, error)


def result_of(record: StepRecord) -> StepResult:
    """One step."""
    is_good = record.outcome in ("passed", "skipped")
    return StepResult(
        step_index=record.path[-1],
        action=dict(record.given),
        success=is_good,
        duration_ms=record.duration_ms,
        error=None if is_good else record.error,
        code=None if is_good else record.code,
        loading_detected=record.loading,
        children=tuple(result_of(child) for child in record.children) or None,
    )


def failure_text(record: StepRecord) -> str:
    """Why a flow ended with this step: "Step 3 (tap Save) failed: …", numbers as people count."""
    number = ".".join(str(index + 1) for index in record.path)
    if record.outcome == "stopped":
        return f"Stopped at step {number} ({record.label})"
    if record.outcome != "failed":
        return f"Stopped after step {number} ({record.label})"
    return f"Step {number} ({record.label}) failed: {record.error}"


def _trace(steps: Sequence[StepRecord], total: int, seen: DeviceWatch, error: str | None) -> FlowTrace:
    success = error is None and not any(step.outcome in _BAD for step in steps)
    completed = sum(step.outcome not in _BAD for step in steps)
    is_news = seen.changed or not success
    return FlowTrace(
        success=success,
        steps_completed=completed,
        total_steps=total,
        results=tuple(result_of(step) for step in steps),
        screen_fingerprint=seen.fingerprint,
        screen_changed=seen.changed,
        final_ui_tree=seen.tree if is_news and seen.tree else None,
        error=error,
        system_dialogs=tuple(seen.dialogs) or None,
        app_crash_detected=True if seen.crashed else None,
    )


def _share(step: StepRecord, name: str) -> StepRecord | None:
    if "parallel" in step.given:
        own = next((child for child in step.children if child.device == name), None)
        return own and replace(own, path=step.path, given=step.given, children=_shares(own.children, name))
    inside = _shares(step.children, name)
    return replace(step, children=inside) if inside or step.device == name else None


def _shares(steps: Sequence[StepRecord], name: str) -> list[StepRecord]:
    return [own for step in steps if (own := _share(step, name)) is not None]
