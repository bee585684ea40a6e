"""The desk as something to act on: its actions are permitted, applied and journalled like a phone's.

There is no screen to settle and no queue: a question to a person waits beside everything else.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from handrail.clock import Clock
from handrail.engine.approval import Approvals
from handrail.engine.events import Caller, Listener
from handrail.engine.journal import Journal
from handrail.engine.lifecycle import failed, unforeseen
from handrail.engine.on_desk import name_on_desk, on_desk
from handrail.engine.permissions import Gate
from handrail.engine.permit import Permit
from handrail.engine.queue import Queue, Work
from handrail.engine.record import Record
from handrail.engine.report import envelope_of
from handrail.engine.run import DeskSurface, Run
from handrail.engine.secrets import Secrets
from handrail.engine.session import next_number
from handrail.errors import Cancelled, HandrailError, InvalidAction, Unsupported
from handrail.protocol.act import DeskAct
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope, Lifecycle, Verification, action_id
from handrail.protocol.read import action_from

DESK = "desk"
"""Its name where the journal has a device's serial."""


class DeskRunner(ABC):
    """Whoever carries the desk's actions out: a desk of this process, or the server of this home."""

    async def run(
        self,
        action: AnyAction | Mapping[str, Any],
        *,
        reason: str | None = None,
        caller: Caller | None = None,
    ) -> Envelope:
        """One OS action, from permission to proof. Bad input raises; everything else is in the envelope."""
        act = _read(action)
        if reason is not None:
            act = act.model_copy(update={"reason": reason})
        return (await self.run_all([act], caller=caller))[0]

    async def run_all(
        self, actions: Sequence[AnyAction | Mapping[str, Any]], *, caller: Caller | None = None
    ) -> list[Envelope]:
        """Several as one change: all of them or, when one is wrong, none."""
        acts = [_read(one) for one in actions]
        for act in acts:
            _check(act)
        return await self.carry_out(acts, caller)

    @abstractmethod
    async def carry_out(self, acts: Sequence[AnyAction], caller: Caller | None) -> list[Envelope]:
        """Actions of the desk, as one change."""

    @abstractmethod
    async def heard(self, by: str, timeout_ms: float) -> list[dict[str, Any]]:
        """What people did for this caller since it was last told; waits for the first of it."""

    @abstractmethod
    async def left(self, by: str) -> None:
        """An agent has gone: what it had locked is free."""


class DeskSession(DeskRunner):
    """Everybody who acts on the desk, in this process."""

    serial = DESK

    def __init__(
        self,
        desk: DeskSurface,
        gate: Gate,
        *,
        clock: Clock,
        journal: Journal,
        approvals: Approvals,
        secrets: Secrets,
        caller: Caller,
    ) -> None:
        self.caller = caller
        self._desk = desk
        self._clock = clock
        self._secrets = secrets
        self._record = Record(journal, secrets, DESK, DESK)
        self._permit = Permit(
            gate, approvals, journal, secrets, DESK, reveal=self._record.reveal, since_ms=clock.now_ms()
        )
        self._queue = Queue()

    async def carry_out(self, acts: Sequence[AnyAction], caller: Caller | None) -> list[Envelope]:
        runs = [self._begin(act, caller or self.caller) for act in acts]
        return await self._queue.fly("desk", self._live(runs), partial(self._land, runs))

    async def heard(self, by: str, timeout_ms: float) -> list[dict[str, Any]]:
        inbox = self._desk.inbox(name_on_desk(by))
        if timeout_ms > 0:
            await inbox.wait(timeout_ms)
        return inbox.take()

    async def left(self, by: str) -> None:
        self._desk.end_agent(name_on_desk(by))

    async def stop(self) -> int:
        """End what waits; how much that was."""
        return await self._queue.stop()

    def events(self) -> Listener:
        """Every step in the life of every action, as it happens from now on."""
        return self._record.events.listen()

    async def close(self) -> None:
        """Stop; each answers with its envelope."""
        await self.stop()
        self._record.events.close()

    # one change

    def _begin(self, action: AnyAction, caller: Caller) -> Run:
        now = self._clock.now_ms()
        run = Run(
            id=action_id(action.type, now, next_number()),
            action=action,
            caller=caller,
            clock=self._clock,
            life=Lifecycle.begin(now),
            announce=self._record.announce,
            settle="none",
            started_ms=self._clock.monotonic_ms(),
            may_dispatch=_always,
        )
        run.announce(run, run.life.events[0])
        return run

    async def _live(self, runs: list[Run]) -> HandrailError | None:
        try:
            for run in runs:
                self._permit.early(run)
                await self._permit.decide_unseen(run)
                run.advance("resolved")
            await self._apply(runs)
            return None
        except asyncio.CancelledError:
            failure: HandrailError = Cancelled("The desk's action was stopped")
        except HandrailError as error:
            failure = error
        except Exception as error:
            failure = unforeseen(runs[0], self._secrets, error)
        for run in runs:
            failed(run, failure)
        return failure

    async def _apply(self, runs: list[Run]) -> None:
        for run in runs:
            run.advance("dispatched")
        told = await on_desk(self._desk, [run.action for run in runs], runs[0].caller)
        for run, details in zip(runs, told, strict=True):
            run.details |= details
            run.delivery = "delivered"
            run.advance("pending_verification")
            run.verification = Verification(mode="built_in", outcome="verified")
            run.advance("verified")

    async def _land(self, runs: list[Run], work: Work) -> list[Envelope]:
        await asyncio.wait({work})
        if work.cancelled():  # before its first step
            stopped = Cancelled("The desk's action was stopped")
            return [await self._seal(run, failed(run, stopped)) for run in runs]
        return [await self._seal(run, work.result()) for run in runs]

    async def _seal(self, run: Run, error: HandrailError | None) -> Envelope:
        run.timings["total"] = self._clock.monotonic_ms() - run.started_ms
        envelope = self._record.clean(envelope_of(run, None, DESK, error))
        await self._record.seal(run, envelope)
        return envelope


def _read(action: AnyAction | Mapping[str, Any]) -> AnyAction:
    return action_from(dict(action)) if isinstance(action, Mapping) else action


async def _always() -> None:
    """Nobody has the desk for themselves."""


def _check(act: AnyAction) -> None:
    if not isinstance(act, DeskAct):
        raise InvalidAction(f"type: {act.type!r} is not an action of the desk", path="type")
    if act.expect is not None:
        raise Unsupported(
            "expect: the desk has no phone's screen to look at",
            path="expect",
            hint="Send it without `expect`.",
        )
