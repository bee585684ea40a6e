"""People's hands on the phones of one runtime: taking one over, touching it, stopping, handing it back."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from handrail.config import canonical
from handrail.engine.events import Caller
from handrail.engine.hold import Stops
from handrail.engine.leases import Held, Holder, Lease
from handrail.engine.session import Session
from handrail.errors import DeviceBusy
from handrail.protocol.actions import AnyAction
from handrail.runtime import Runtime
from handrail.waiting import Background

WAITING = 50
"""Touches of one person that may wait for their turn; more means that the phone hangs."""
BY_HAND = "by hand, at the desk"
"""The reason in the journal, where the person gives none."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A phone in a person's hand: the lease, and the page that took it; who has no page has no hand."""

    lease: Lease
    page: str


class ManualControl:
    """People's hands on the phones of one runtime. Browsers of one person share a hold, one has the hand."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._taken: dict[str, TakenOver] = {}
        self._touches: dict[str, Background] = {}

    async def holder(self, device: str) -> Held | None:
        return await self._runtime.leases.holder(device)

    async def take(self, device: str, person: Caller) -> None:
        """Agents wait from now on. Ends with this process, should nobody hand it back.

        Another page of the same person takes the hand over, not the hold.
        """
        name = canonical(device)
        if owns(person, await self.holder(device)):
            if known := self._taken.get(name):
                self._taken[name] = replace(known, page=person.page)
            return
        holder = Holder(person.holder_id, "person", label=person.id, door="desk", pid=os.getpid())
        self._taken[name] = TakenOver(await self._runtime.leases.take_over(device, holder), person.page)
        await self._write("taken_over", device, person)
        for session in self._sessions(device):  # who waits for a screen would keep the person waiting too
            await session.make_way(f"{person.id} took the phone over")

    async def hand_back(self, device: str, person: Caller) -> None:
        """Whoever worked on it goes on. Nothing to do where no person has it."""
        held = await self.holder(device)
        if held is not None and held.holder.kind == "person":
            await self._runtime.leases.hand_back(device)
            self._taken.pop(canonical(device), None)
            await self._write("handed_back", device, person)

    def hand(self, device: str, person: Caller) -> Lease | None:
        """What proves that this person's own hand is on the phone: they sit before the page that took it.

        A program's token, MCP and the command socket have no page, so nothing of theirs is ever a hand.
        """
        taken = self._taken.get(canonical(device))
        return taken.lease if taken is not None and person.page and person.page == taken.page else None

    async def touch(self, session: Session, action: AnyAction, person: Caller) -> None:
        """Begins at once and in order; how it ends is told like the end of every action."""
        held = await self.holder(session.serial)
        if not owns(person, held):
            raise _not_yours(session.serial, held)
        waiting = self._touches.setdefault(session.serial, Background())
        if len(waiting) >= WAITING:
            raise DeviceBusy(
                f"{session.serial} has not answered {len(waiting)} touches yet",
                hint="Wait for the phone, or stop what is being done on it.",
                device=session.serial,
            )
        reason = action.reason or BY_HAND
        hand = self.hand(session.serial, person)
        running = session.run(action, reason=reason, caller=person, settle="light", hand=hand)
        waiting.start(running, f"{action.type} by hand")

    async def stop(self, device: str, person: Caller) -> int:
        """End what is being done on this phone, by whatever process; how much was ended in this one."""
        ended = sum([await session.stop() for session in self._sessions(device)])
        runtime = self._runtime
        await Stops(runtime.store).ask(canonical(device), person.id, runtime.clock.now_ms())
        await self._write("stop", device, person)
        return ended

    async def close(self) -> None:
        for waiting in self._touches.values():
            await waiting.close()

    def _sessions(self, device: str) -> list[Session]:
        name = canonical(device)
        return [one for one in self._runtime.sessions.values() if canonical(one.serial) == name]

    async def _write(self, kind: str, device: str, by: Caller) -> None:
        actor = {"kind": by.actor, "id": by.id}
        event = {"kind": kind, "device": canonical(device), "actor": actor, "door": by.door}
        await self._runtime.journal.seal(event)


def owns(person: Caller, held: Held | None) -> bool:
    """Whether a hold is this person's own."""
    return held is not None and held.holder.kind == "person" and held.holder.id == person.holder_id


def _not_yours(serial: str, held: Held | None) -> DeviceBusy:
    who = f"is held by {held.holder}" if held is not None else "was not taken over"
    return DeviceBusy(
        f"{serial} {who}: a touch by hand needs the phone first",
        hint="Take it over, then touch it.",
        **(held.to_dict() if held is not None else {"device": serial}),
    )
