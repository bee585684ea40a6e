"""One device and everybody who acts on it: the queue, the lease, refs and revisions, the journal, stop.

`Session.run` is the only entry point. Clients send actions and get envelopes; a failure is an envelope too.
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

from handrail.clock import Clock
from handrail.config import canonical
from handrail.engine.action_guard import ActionGuard
from handrail.engine.events import Listener, SpanKind, TracedSpan, traced_span
from handrail.engine.journal_writer import JournalWriter, build_envelope, describe_targets
from handrail.engine.lifecycle import mark_failed, run_actions
from handrail.engine.pictures import Eyes, with_eyes
from handrail.engine.ref_store import BlockRegistry, RefState, RefStore, restore_refs
from handrail.engine.run import ActionQueue, ActionRun, QueueTurn, Stage, Work
from handrail.engine.short_forms import ShortForms
from handrail.engine.snapshot import ScreenTracker
from handrail.errors import Cancelled, HandrailError, StoreUnusable, Unsupported
from handrail.invocation import Invocation
from handrail.journal import Journal
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope, Lifecycle, LifecycleEvent, ScreenSnapshot, action_id
from handrail.protocol.observe import RequestHumanAuth, Screenshot
from handrail.protocol.read import as_action
from handrail.protocol.traits import Settle
from handrail.safety.approval_request import question
from handrail.safety.approval_store import Answer
from handrail.safety.approvals import Approvals
from handrail.safety.authorize import Authorizer
from handrail.safety.caller import Caller
from handrail.safety.leases import (
    STOP_POLL_MS,
    HeldLease,
    Lease,
    LeaseQueue,
    Leases,
    SessionLease,
    StopRequests,
)
from handrail.safety.permissions import AnsweredPolicy
from handrail.safety.redacted_surface import RedactedSurface
from handrail.safety.secret_fields import SecretFieldStore
from handrail.safety.secrets import Secrets
from handrail.surface.capabilities import Surface
from handrail.surface.values import Facts
from handrail.waiting import UseGuard

if TYPE_CHECKING:
    from handrail.engine.script_executor import ScriptExecutor, ScriptResult
    from handrail.protocol.system import RunScript

MOST_ASKED = 4_000
"""Characters of the question that covers a whole plan."""
SAVE_AFTER_MS = 250.0
"""Refs are written to the store after this long without an action, and when the session closes."""


@dataclass(frozen=True, slots=True)
class SessionServices:
    """What all sessions of one home share."""

    clock: Clock
    journal: Journal
    approvals: Approvals
    secrets: Secrets
    scripts: Callable[[], ScriptExecutor]
    leases: Leases
    hold_queue: LeaseQueue
    ref_store: RefStore
    stops: StopRequests
    taints: SecretFieldStore
    script_shell: Callable[[], bool] = bool
    eyes: Eyes | None = None
    """Makes the reader of pictures for one surface."""


_numbers = itertools.count()


class Session(ShortForms):
    """One device, as long as this process works with it."""

    def __init__(
        self,
        surface: Surface,
        services: SessionServices,
        gate: AnsweredPolicy,
        state: RefState,
        facts: Facts | None,
        *,
        caller: Caller,
    ) -> None:
        boot_id = facts.boot_id if facts else ""
        surface = with_eyes(surface, services.eyes, services.clock)
        self.surface = RedactedSurface.of(surface, services.taints, services.secrets, boot_id)
        self._device_secrets = self.surface.here
        self.serial = surface.name
        self.screens = ScreenTracker(
            self.surface, services.clock, state.refs, state.revision, state.signature, boot_id=boot_id
        )
        self.caller = caller
        self._facts = facts
        self._services = services
        self._ref_state = state
        self._hold = SessionLease(services.leases, self.serial, caller)
        session = self._hold.id if surface.is_exclusive else self.serial
        self.journal_writer = JournalWriter(
            services.journal, services.secrets, self._device_secrets, self.serial, session
        )
        self._authorizer = Authorizer(
            gate,
            services.approvals,
            services.journal,
            services.secrets,
            self.serial,
            redact=self._device_secrets.redact,
            session=secrets.token_hex(16),
        )
        self._guard = ActionGuard(self._authorizer, self.journal_writer.write_pending)
        self._run_session = RunContext(
            services, self.surface, self.screens, self.journal_writer, self._hold, self._authorizer
        )
        self._lock = asyncio.Lock()
        self._queue = ActionQueue()
        self._obeyed = 0
        """The last stop that was obeyed here."""
        self._use = UseGuard(f"The session of {self.serial}")
        self._watching: asyncio.Task[None] | None = None
        self._saving: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        name: str,
        opening: Awaitable[tuple[Surface, Facts | None]],
        services: SessionServices,
        gate: AnsweredPolicy,
        *,
        caller: Caller,
    ) -> Session:
        """Continues with the refs of the last session on this device. Closes the surface if opening fails."""
        async with services.ref_store.taking(name) as taken:
            surface, facts = await opening
            try:
                state = restore_refs(await taken, facts.boot_id) if facts else RefState(BlockRegistry())
                session = cls(surface, services, gate, state, facts, caller=caller)
                await session._device_secrets.refresh()
                return session
            except BaseException:
                await surface.close()
                raise

    @property
    def facts(self) -> Facts:
        """Raises `Unsupported` on a surface that is not a device."""
        if self._facts is None:
            raise Unsupported(f"{self.serial} is not a device")
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
        """Runs one action, from policy to verification. Bad input raises; every other failure is in the
        envelope.

        For a caller with `raises` a failed envelope becomes its exception. The action runs in its own task:
        when the caller is cancelled the action is stopped, and its end is journalled. `hand` is the lease of
        a person who has taken the device over; policy does not ask about what they do themselves.
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
        """Runs several actions as one change, all or none, and returns their envelopes. Only the desk takes
        several."""
        self._use.check()
        runs = [self._begin(act, caller or self.caller, settle, hand) for act in actions]
        turn = QueueTurn(self._lock if self.surface.is_exclusive else asyncio.Lock())
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch_stop_requests(), name=f"stops of {self.serial}")
        shared = (self.surface, self.screens, turn, self._guard, self._services.secrets, self._device_secrets)
        work = run_actions([Stage(run, *shared) for run in runs])
        return await self._queue.run(runs[0].action.type, work, partial(self._finish, runs), turn)

    async def ask_ahead(
        self, planned: Sequence[AnyAction], *, reason: str, caller: Caller | None = None
    ) -> Envelope | None:
        """Asks a person once about all planned actions that need approval; a yes holds until the session
        ends.

        Returns None if nothing needs approval. Approvals that may not be remembered are asked for during the
        run.
        """
        who = caller or self.caller
        open_ones = self._authorizer.open_questions(planned, who, self._services.clock.now_ms())
        if not open_ones:
            return None
        lines = "\n".join(dict.fromkeys(f"- {question(subject)[6:-1]}" for subject, _ in open_ones))
        words = f"Allow all of this until the run ends?\n{lines}"[:MOST_ASKED]
        ask = RequestHumanAuth(capability="permission", instruction=words, reason=reason)
        envelope = await self.run(ask, caller=who)
        if envelope.success:
            self._authorizer.remember_all(open_ones, who)
        return envelope

    def allow_ahead(self, planned: Sequence[AnyAction], caller: Caller) -> None:
        """Approves planned actions without asking, for a disposable device that the caller created."""
        now = self._services.clock.now_ms()
        self._authorizer.remember_all(self._authorizer.open_questions(planned, caller, now), caller)

    async def snapshot(self) -> ScreenSnapshot:
        """A full-size screenshot with its metadata (seed 000). Raises if it fails."""
        full_size = Screenshot(scale=1.0)  # width and height describe the unscaled picture
        envelope = (await self.run(full_size)).or_raise()
        names = {field.serialization_alias for field in ScreenSnapshot.model_fields.values()}
        details = envelope.details or {}
        return ScreenSnapshot.model_validate({name: details[name] for name in details if name in names})

    def picture_beside(self, caller: Caller) -> asyncio.Task[bytes] | None:
        """A screenshot that is taken beside the actions; the next touch waits for it.

        None where policy does not simply allow one here: then it has to be an action.
        """
        last, now = self.screens.last, self._services.clock.now_ms()
        package = last.screen.package if last else ""
        if not self._authorizer.allows(Screenshot(), caller, now, package):
            return None
        task = self.screens.picture = asyncio.create_task(self.screens.reader.screenshot(), name="a picture")
        return task

    async def stop(self, by: Caller | None = None) -> int:
        """Ends what is done on this device, in every process, and holds it until it is handed back.

        Returns how many actions were ended. Each of them still returns its envelope. A surface that is not
        exclusive has no holder: only this session's actions end.
        """
        if not self.surface.is_exclusive:
            return await self.end_actions()
        return await stop_devices(self._services, [self], self.serial, by or self.caller)

    async def hand_back(self, by: Caller | None = None) -> HeldLease | None:
        """Ends a stop, or a person's take-over. Returns who has the device now."""
        now = await self._services.leases.hand_back(self.serial)
        await write_control(self._services, "handed_back", self.serial, by or self.caller)
        return now

    async def end_actions(self) -> int:
        """Ends the actions of this session and returns their number. It may act again at once."""
        return await self._queue.stop()

    async def obey(self, stop: int) -> int:
        """Ends the actions that run here when a stop is read; it does not end later ones."""
        self._obeyed = max(self._obeyed, stop)
        return await self.end_actions()

    async def stop_active_actions(self, why: str) -> int:
        """Stops the actions that use the device; actions that wait for a person's answer keep waiting."""
        return await self._queue.stop(why, only_active=True)

    @property
    def lease_id(self) -> str:
        """`Holder.id` is this for the lease of this session."""
        return self._hold.id

    async def holder(self) -> HeldLease | None:
        """Who else holds the device; None if it is free or held by this session."""
        held = await self._services.leases.holder(self.serial)
        return None if held is None or held.holder.id == self._hold.id else held

    async def stopped(self) -> None:
        """Returns when somebody requests a stop on this device, even if no action is running."""
        stops = self._services.stops
        newest = await stops.newest(self.serial)
        while await stops.newest(self.serial) == newest:
            await self._services.clock.sleep_ms(STOP_POLL_MS)

    def events(self, listener: Listener | None = None) -> Listener:
        """Publishes every lifecycle step of every action from now on."""
        return self.journal_writer.events.listen(listener)

    def working(self, kind: SpanKind) -> AbstractContextManager[TracedSpan]:
        """Groups several actions into one span; listeners get it when it ends."""
        return traced_span(kind, self._services.clock, self.journal_writer.events.publish_span)

    async def release_for(self, user: Invocation) -> None:
        """The device is free if this user was the last to take it. The session stays open for its others."""
        await self._hold.release_for(user)

    async def close(self) -> None:
        """Stops actions, saves refs and releases the device. Errors are raised after all steps."""
        self._use.end()
        async with AsyncExitStack() as ends:
            ends.push_async_callback(self.surface.close)
            ends.push_async_callback(self._save, last=True)
            ends.push_async_callback(self._hold.release)
            ends.callback(self.journal_writer.events.close)
            ends.push_async_callback(self._end_tasks)
            await self.end_actions()

    async def _end_tasks(self) -> None:
        for task in filter(None, (self._saving, self._watching)):
            task.cancel()
            await asyncio.wait({task})

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # one action

    def _begin(
        self, action: AnyAction, caller: Caller, settle: Settle | None, hand: Lease | None
    ) -> ActionRun:
        clock = self._services.clock
        now = clock.now_ms()
        number = os.getpid() + next(_numbers)  # differs between processes, also between forked ones
        run = ActionRun(
            id=action_id(action.type, now, number),
            action=action,
            caller=caller,
            clock=clock,
            life=Lifecycle.begin(now),
            session=self._run_session,
            settle=settle or action.traits.waits,
            started_ms=clock.monotonic_ms(),
            hand=hand,
        )
        self.journal_writer.announce(run, run.life.events[0])
        return run

    async def _finish(self, runs: Sequence[ActionRun], work: Work) -> list[Envelope]:
        """Returns the envelopes after their journal entries are durable and their numbers belong to this
        process."""
        await asyncio.wait({work})
        if work.cancelled():  # cancelled before its first step, so nothing in it could report that
            error: HandrailError | None = Cancelled(f"{runs[0].action.type} was stopped")
            for run in runs:
                mark_failed(run)
        else:
            error = work.result()
        return [await self._seal(run, error) for run in runs]

    async def _seal(self, run: ActionRun, error: HandrailError | None) -> Envelope:
        total_ms = run.clock.monotonic_ms() - run.started_ms
        run.timings |= {"other": max(0.0, total_ms - sum(run.timings.values())), "total": total_ms}
        run.diagnostics += self.surface.diagnostics()
        envelope = self.journal_writer.redact_envelope(build_envelope(run, self._facts, self.serial, error))
        try:
            if self._ref_state.is_short(self.screens.revision):
                revision = self.screens.revision
                self.screens.revision = await self._services.ref_store.extend(
                    self.serial, self._ref_state, revision
                )
            await self.journal_writer.finish(run, envelope)
        except StoreUnusable as failure:
            # Without delivery and action_id the caller might repeat an action that was done.
            details = {**failure.details, "action_id": run.id, "delivery": run.delivery}
            may_again = failure.retryable and run.delivery == "not_delivered"
            raise type(failure)(failure.message, hint=failure.hint, retryable=may_again, **details) from None
        if self._facts is not None and (self._saving is None or self._saving.done()):
            saving = self._save(after_ms=SAVE_AFTER_MS)
            self._saving = asyncio.create_task(saving, name=f"refs of {self.serial}")
        return envelope

    async def _watch_stop_requests(self) -> None:
        """Ends the actions here when another process requests a stop."""
        stops = self._services.stops
        self._obeyed = max(self._obeyed, await stops.newest(self.serial))
        while self._queue:
            await self._services.clock.sleep_ms(STOP_POLL_MS)
            newest = await stops.newest(self.serial)
            if newest > self._obeyed:
                await stops.obeyed(newest, await self.obey(newest))

    async def _save(self, *, after_ms: float = 0.0, last: bool = False) -> None:
        if self._facts is None:
            return  # a surface without a screen has no refs
        if after_ms:
            await self._services.clock.sleep_ms(after_ms)
        state = self._ref_state
        state.revision, state.signature = self.screens.revision, self.screens.signature
        redact = self._device_secrets.redact_data if self._services.secrets.used else None
        boot_id = self.screens.boot_id or self._facts.boot_id
        await self._services.ref_store.save(self.serial, boot_id, state, redact, last=last)


async def stop_devices(
    services: SessionServices, sessions: Sequence[Session], device: str | None, by: Caller
) -> int:
    """Holds one device, or (None) all, then ends what runs there. `sessions` are those of this process.

    No dispatch begins after the hold is written, in any process. Those that had begun in this process have
    ended when it returns; those of other processes are waited for up to `OBEY_MS`. Returns how many actions
    it ended.
    """
    number = await services.stops.ask(device, by, services.clock.now_ms())
    ended = sum(await asyncio.gather(*(session.obey(number) for session in sessions)))
    own = {session.lease_id for session in sessions}
    if any(held.holder.id not in own for held in await services.leases.workers(device)):
        ended += await services.stops.wait_for_stopped_count(number, services.clock)
    await write_control(services, "stop", device, by)
    return ended


async def write_control(services: SessionServices, kind: str, device: str | None, by: Caller) -> None:
    actor = {"kind": by.actor, "id": by.id}
    name = canonical(device) if device else None
    await services.journal.seal({"kind": kind, "device": name, "actor": actor, "door": by.door})


@dataclass(frozen=True, slots=True)
class RunContext:
    """Runs see their session through this: services, surface, screens, lease, authorizer."""

    services: SessionServices
    surface: Surface
    screens: ScreenTracker
    journal_writer: JournalWriter
    lease: SessionLease
    authorizer: Authorizer

    def announce(self, run: ActionRun, event: LifecycleEvent) -> None:
        """Journals and publishes a step."""
        self.journal_writer.announce(run, event)

    async def wait_for_device(self, run: ActionRun) -> None:
        """Waits while a person has taken the device over. Raises `DeviceBusy`.

        Reads do not wait. On a stopped device nothing else begins, so that nobody is asked about it.
        """
        if not self.surface.is_exclusive or run.action.effect in ("read", "desk"):
            return
        if not run.caller.patience_ms:
            await self.services.leases.refuse_stopped(self.surface.name)
            return
        last, tell = self.screens.last, partial(self.journal_writer.publish_wait, run)
        if await self.services.hold_queue.wait(self.surface.name, run.caller, tell):
            run.waited_on = last
            run.has_waited = True

    async def before_dispatch(self, run: ActionRun) -> None:
        """Makes the journal durable and checks the lease. Raises `DeviceBusy`."""

        async def describe() -> None:
            describe_targets(run, self.screens.registry)

        if self.screens.picture is not None:
            with run.phase("picture"):
                await asyncio.wait([self.screens.picture])
            self.screens.picture = None
        self.screens.mark_input()  # changes from here on are caused by the action
        waits = [self.services.journal.durable()]  # an action that can't be journalled is not dispatched
        if self.surface.is_exclusive:
            waits.append(self.lease.check(run.caller))
        await asyncio.gather(*waits, describe())  # the targets are described while the disk works
        run.caller.check_fence()  # last, because the process may have been suspended during the waits above

    async def ask_person(self, stage: Stage, action: RequestHumanAuth) -> Answer:
        """Other actions may run meanwhile."""
        async with stage.turn.released():
            return await self.authorizer.ask_person(stage.run, action, self.screens.registry.fingerprint)

    async def run_script(self, action: RunScript) -> ScriptResult:
        """Runs it on this machine, in a sandbox unless policy allows a real shell."""
        services = self.services
        return await services.scripts().run(
            action.script, action.timeout_sec, shell=services.script_shell(), secrets=services.secrets
        )
