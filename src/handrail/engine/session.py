"""One device and everybody who acts on it: the queue, the lease, refs and revisions, the journal, stop.

`run` is the only way in. Doors give actions and get envelopes; a failure is an envelope too.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from handrail.awaited import OpenUse, in_words
from handrail.clock import Clock
from handrail.engine.approval import Answer, Approvals
from handrail.engine.approval.wording import question
from handrail.engine.events import Caller, Listener
from handrail.engine.hold import POLL_MS, Hold, Stops
from handrail.engine.hold_queue import HoldQueue
from handrail.engine.journal import Journal
from handrail.engine.leases import Held, Lease, Leases
from handrail.engine.lifecycle import failed, live
from handrail.engine.look.looks import Looks
from handrail.engine.memory import Known, Memory, Refs, known_from
from handrail.engine.permit import Permit
from handrail.engine.policy.permissions import Gate
from handrail.engine.queue import Queue, Turn, Work
from handrail.engine.record import Record, draw_portraits, envelope_of
from handrail.engine.run import Run, Stage
from handrail.engine.secrets import Secrets
from handrail.engine.short_forms import ShortForms
from handrail.engine.taint.store import Taints
from handrail.engine.taint.surface import GuardedSurface
from handrail.engine.work import TracedWork, WorkKind, traced
from handrail.errors import Cancelled, HandrailError, StoreUnusable, Unsupported
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope, Lifecycle, ScreenSnapshot, action_id
from handrail.protocol.observe import RequestHumanAuth, Screenshot
from handrail.protocol.read import as_action
from handrail.protocol.traits import Settle
from handrail.surface.capabilities import Surface
from handrail.surface.values import Facts

if TYPE_CHECKING:
    from handrail.engine.script import ScriptExecutor

MOST_ASKED = 4_000
"""Characters of one question about a whole plan."""
SAVE_AFTER_MS = 250.0
"""Refs are written to the store when nothing was done for so long, and at the end."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What sessions share: one home's journal, approvals, secrets and leases."""

    clock: Clock
    journal: Journal
    approvals: Approvals
    secrets: Secrets
    scripts: Callable[[], ScriptExecutor]
    leases: Leases
    hold_queue: HoldQueue
    memory: Memory
    stops: Stops
    taints: Taints
    script_shell: Callable[[], bool] = bool


@in_words("phone")
class Session(ShortForms):
    """The life of one device in this process."""

    def __init__(
        self, surface: Surface, parts: Parts, gate: Gate, known: Known, facts: Facts | None, *, caller: Caller
    ) -> None:
        boot_id = facts.boot_id if facts else ""
        self.surface = GuardedSurface.of(surface, parts.taints, parts.secrets, boot_id)
        self._here = self.surface.here
        self.serial = surface.name
        self.looks = Looks(
            self.surface,
            parts.clock,
            known.refs,
            known.revision,
            known.signature,
            boot_id=boot_id,
        )
        self.caller = caller
        self._facts = facts
        self._parts = parts
        self._known = known
        self._hold = Hold(parts.leases, self.serial, caller)
        session = self._hold.id if surface.is_exclusive else self.serial
        self._record = Record(parts.journal, parts.secrets, self._here, self.serial, session)
        self._permit = Permit(
            gate,
            parts.approvals,
            parts.journal,
            parts.secrets,
            self.serial,
            reveal=self._record.reveal,
            redact=self._here.redact,
            session=secrets.token_hex(16),
        )
        self._lock = asyncio.Lock()
        self._queue = Queue()
        self._use = OpenUse(f"The session of {self.serial}")
        self._watching: asyncio.Task[None] | None = None
        self._saving: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        name: str,
        opening: Awaitable[tuple[Surface, Facts | None]],
        parts: Parts,
        gate: Gate,
        *,
        caller: Caller,
    ) -> Session:
        """Goes on where the last session on this device stopped. Closes the surface where that fails."""
        async with parts.memory.taking(name) as taken:
            surface, facts = await opening
            try:
                known = known_from(await taken, facts.boot_id) if facts else Known(Refs())
                return cls(surface, parts, gate, known, facts, caller=caller)
            except BaseException:
                await surface.close()
                raise

    @property
    def facts(self) -> Facts:
        """What the device says of itself. Raises `Unsupported` where there is no device."""
        if self._facts is None:
            raise Unsupported(f"{self.serial} is no device")
        return self._facts

    async def run(
        self,
        action: AnyAction | Mapping[str, Any],
        *,
        reason: str | None = None,
        caller: Caller | None = None,
        settle: Settle | None = None,
        hand: Lease | None = None,
    ) -> Envelope:
        """Do one action, from permission to proof. Bad input raises; everything else is in the envelope.

        A caller that `raises` hears of a failure by its exception. The action has tasks of its own: a caller
        that goes away stops it, and its end is journalled. `hand` is shown by a person who has taken the
        device over by it, and is not asked about what they do.
        """
        act = as_action(action)
        if reason is not None:
            act = act.model_copy(update={"reason": reason})
        who = caller or self.caller
        [envelope] = await self.run_all([act], caller=who, settle=settle, hand=hand)
        return who.hear(envelope)

    async def run_all(
        self,
        actions: Sequence[AnyAction],
        *,
        caller: Caller | None = None,
        settle: Settle | None = None,
        hand: Lease | None = None,
    ) -> list[Envelope]:
        """Several actions as one change, all or none; the envelope of each. Only a desk takes several."""
        self._use.check()
        runs = [self._begin(act, caller or self.caller, settle, hand) for act in actions]
        turn = Turn(self._lock if self.surface.is_exclusive else asyncio.Lock())
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch(), name=f"stops of {self.serial}")
        work = live([self._stage(run, turn) for run in runs], self._permit)
        return await self._queue.fly(runs[0].action.type, work, partial(self._land, runs), turn)

    async def ask_ahead(
        self, planned: Sequence[AnyAction], *, reason: str, caller: Caller | None = None
    ) -> Envelope | None:
        """One question about all of these that policy would ask about; a yes holds until the session ends.

        None where nobody has to be asked. What may not be remembered is asked about when it is done.
        """
        who = caller or self.caller
        open_ones = self._permit.open_questions(planned, who, self._parts.clock.now_ms())
        if not open_ones:
            return None
        told = "\n".join(dict.fromkeys(f"- {question(subject)[6:-1]}" for subject, _ in open_ones))
        words = f"Allow all of this until the run ends?\n{told}"[:MOST_ASKED]
        ask = RequestHumanAuth(capability="permission", instruction=words, reason=reason)
        envelope = await self.run(ask, caller=who)
        if envelope.success:
            self._permit.remember_all(open_ones, who)
        return envelope

    def allow_ahead(self, planned: Sequence[AnyAction], caller: Caller) -> None:
        """For a device that whoever runs this has made for it, and will throw away: nobody is asked."""
        now = self._parts.clock.now_ms()
        self._permit.remember_all(self._permit.open_questions(planned, caller, now), caller)

    async def snapshot(self) -> ScreenSnapshot:
        """The screen as a picture with what stands beside it (seed 000). Raises what it failed with."""
        envelope = (await self.run(Screenshot(scale=1.0))).or_raise()  # as large as it says
        names = {field.serialization_alias for field in ScreenSnapshot.model_fields.values()}
        told = envelope.details or {}
        return ScreenSnapshot.model_validate({name: told[name] for name in told if name in names})

    async def stop(self) -> int:
        """End everything in flight on this session; how much that was. Each answers with its envelope."""
        return await self._queue.stop()

    async def make_way(self, why: str) -> int:
        """End what keeps the device busy; actions that wait for a person's answer go on waiting."""
        return await self._queue.stop_those_that_act(why)

    async def holder(self) -> Held | None:
        """Who else has the device now; None when it is free or ours."""
        held = await self._parts.leases.holder(self.serial)
        return None if held is None or held.holder.id == self._hold.id else held

    async def stopped(self) -> None:
        """Returns when a stop is asked for on this device, also while nothing is in flight."""
        stops = self._parts.stops
        seen = await stops.newest(self.serial)
        while await stops.newest(self.serial) == seen:
            await self._parts.clock.sleep_ms(POLL_MS)

    @property
    def record(self) -> Record:
        """How what happens here is told, and what may not be told."""
        return self._record

    def events(self, listener: Listener | None = None) -> Listener:
        """Every step in the life of every action, as it happens from now on."""
        return self._record.events.listen(listener)

    def working(self, kind: WorkKind) -> AbstractContextManager[TracedWork]:
        """Around what is more than one action; whoever listens hears of its end."""
        return traced(kind, self._parts.clock, self._record.events.tell_work)

    async def close(self) -> None:
        """Stop, keep the refs, give the device back. What fails is told after the rest was done."""
        self._use.end()
        async with AsyncExitStack() as ends:
            ends.push_async_callback(self.surface.close)
            ends.push_async_callback(self._save, last=True)
            ends.push_async_callback(self._hold.release)
            ends.callback(self._record.events.close)
            ends.push_async_callback(self._end_tasks)
            await self.stop()

    async def _end_tasks(self) -> None:
        for task in (self._saving, self._watching):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # one action

    def _begin(self, action: AnyAction, caller: Caller, settle: Settle | None, hand: Lease | None) -> Run:
        clock = self._parts.clock
        now = clock.now_ms()
        run = Run(
            id=action_id(action.type, now, next_number()),
            action=action,
            caller=caller,
            clock=clock,
            life=Lifecycle.begin(now),
            announce=self._record.announce,
            settle=settle or action.traits.waits,
            started_ms=clock.monotonic_ms(),
            may_begin=self._may_begin,
            may_dispatch=self._may_dispatch,
            hand=hand,
        )
        run.announce(run, run.life.events[0])
        return run

    async def _may_begin(self, run: Run) -> None:
        """In line behind a person who has taken the device over; looking is free."""
        waits = run.caller.patience_ms > 0 and self.surface.is_exclusive
        if not waits or run.action.effect in ("read", "desk"):
            return
        seen = self.looks.last
        if await self._parts.hold_queue.wait(self.serial, run.caller, partial(self._record.say, run)):
            run.waited_on = seen
            run.has_waited = True

    async def _may_dispatch(self, run: Run) -> None:
        self.looks.touched()  # what changes from here on is the action's doing
        waits = [self._parts.journal.durable()]  # what can't be written down is not done
        if self.surface.is_exclusive:
            waits.append(self._hold.check(run.caller))
        await asyncio.gather(*waits, self._draw(run))  # two threads, a disk and this one, at the same time
        run.caller.check_fence()  # last: a process may have been frozen in any of the waits above

    async def _draw(self, run: Run) -> None:
        draw_portraits(run, self.looks.registry)

    def _stage(self, run: Run, turn: Turn) -> Stage:
        parts = self._parts

        async def ask_person(action: RequestHumanAuth) -> Answer:
            async with turn.yielded():
                return await self._permit.ask_person(run, action, self.looks.registry.fingerprint)

        return Stage(
            run=run,
            surface=self.surface,
            looks=self.looks,
            clock=parts.clock,
            secrets=parts.secrets,
            here=self._here,
            scripts=parts.scripts,
            ask_person=ask_person,
            turn=turn,
            guard=self._permit,
            script_shell=parts.script_shell,
        )

    async def _land(self, runs: Sequence[Run], work: Work) -> list[Envelope]:
        """The envelopes, once their end is durable and their numbers are this process's own."""
        await asyncio.wait({work})
        if work.cancelled():  # before its first step: nothing in it could say so
            error: HandrailError | None = Cancelled(f"{runs[0].action.type} was stopped")
            for run in runs:
                failed(run, Cancelled(f"{run.action.type} was stopped"))
        else:
            error = work.result()
        return [await self._seal(run, error) for run in runs]

    async def _seal(self, run: Run, error: HandrailError | None) -> Envelope:
        run.end_timings()
        run.diagnostics += self.surface.diagnostics()
        envelope = self._record.clean(envelope_of(run, self._facts, self.serial, error))
        try:
            if self._known.is_short(self.looks.revision):
                revision = self.looks.revision
                self.looks.revision = await self._parts.memory.extend(self.serial, self._known, revision)
            await self._record.seal(run, envelope)
        except StoreUnusable as failure:  # whether it was done must be told, or it is done twice
            told = {**failure.details, "action_id": run.id, "delivery": run.delivery}
            may_again = failure.retryable and run.delivery == "not_delivered"
            raise type(failure)(failure.message, hint=failure.hint, retryable=may_again, **told) from None
        self._save_soon()
        return envelope

    async def _watch(self) -> None:
        """A stop by another process ends what is in flight here."""
        stops = self._parts.stops
        seen = await stops.newest(self.serial)
        while self._queue:
            await self._parts.clock.sleep_ms(POLL_MS)
            newest = await stops.newest(self.serial)
            if newest > seen:
                seen = newest
                await stops.obeyed(newest, await self.stop())

    # keeping

    def _save_soon(self) -> None:
        if self._facts is not None and (self._saving is None or self._saving.done()):
            self._saving = asyncio.create_task(self._save_later(), name=f"refs of {self.serial}")

    async def _save_later(self) -> None:
        await self._parts.clock.sleep_ms(SAVE_AFTER_MS)
        await self._save()

    async def _save(self, *, last: bool = False) -> None:
        if self._facts is None:
            return  # no screen, no refs
        known, secrets = self._known, self._parts.secrets
        known.revision, known.signature = self.looks.revision, self.looks.signature
        redact = self._here.redact_data if secrets.used else _as_it_is
        boot_id = self.looks.boot_id or self._facts.boot_id
        await self._parts.memory.save(self.serial, boot_id, known, redact, last=last)


def _as_it_is(refs: Any) -> Any:
    return refs


_numbers = itertools.count()


def next_number() -> int:
    """Another one every time, and in every process: also in those that were forked from one."""
    return os.getpid() + next(_numbers)
