"""A person at the desk and a phone: taking it, touching it, giving it back. All by the engine's own hold."""

from __future__ import annotations

import asyncio
import os

from handrail.android.serial import canonical
from handrail.engine.events import Caller
from handrail.engine.hold import Stops
from handrail.engine.leases import Held, Holder
from handrail.engine.session import Session
from handrail.errors import DeviceBusy
from handrail.protocol.actions import AnyAction
from handrail.protocol.envelope import Envelope
from handrail.runtime import Runtime

WAITING = 50
"""Touches of one person that may wait for their turn; more means that the phone hangs."""
BY_HAND = "by hand, at the desk"
"""The reason in the journal, where the person gives none."""


class Hands:
    """People's hands on the phones of one runtime. Browsers of one person share a hold."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._touches: dict[str, set[asyncio.Task[Envelope]]] = {}

    async def holder(self, device: str) -> Held | None:
        return await self._runtime.leases.holder(device)

    async def take(self, device: str, person: Caller) -> None:
        """Agents get `DEVICE_BUSY` from now on. Ends with this process, should nobody hand it back."""
        if owns(person, await self.holder(device)):
            return
        holder = Holder(person.holder_id, "person", label=person.id, door="desk", pid=os.getpid())
        await self._runtime.leases.take_over(device, holder)
        await self._write("taken_over", device, person)
        for session in self._sessions(device):  # who waits for a screen would keep the person waiting too
            await session.make_way(f"{person.id} took the phone over")

    async def hand_back(self, device: str, person: Caller) -> None:
        """Whoever worked on it goes on. Nothing to do where no person has it."""
        held = await self.holder(device)
        if held is not None and held.holder.kind == "person":
            await self._runtime.leases.hand_back(device)
            await self._write("handed_back", device, person)

    async def touch(self, session: Session, action: AnyAction, person: Caller) -> None:
        """Begins at once and in order; how it ends is told like the end of every action."""
        held = await self.holder(session.serial)
        if not owns(person, held):
            raise _not_yours(session.serial, held)
        waiting = self._touches.setdefault(session.serial, set())
        if len(waiting) >= WAITING:
            raise DeviceBusy(
                f"{session.serial} has not answered {len(waiting)} touches yet",
                hint="Wait for the phone, or stop what is being done on it.",
                device=session.serial,
            )
        reason = action.reason or BY_HAND
        running = session.run(action, reason=reason, caller=person, settle="light")
        touch = asyncio.create_task(running, name=f"{action.type} by hand")
        waiting.add(touch)
        touch.add_done_callback(waiting.discard)

    async def stop(self, device: str, person: Caller) -> int:
        """End what is being done on this phone, by whatever process; how much was ended in this one."""
        ended = sum([await session.stop() for session in self._sessions(device)])
        runtime = self._runtime
        await Stops(runtime.store).ask(canonical(device), person.id, runtime.clock.now_ms())
        await self._write("stop", device, person)
        return ended

    async def close(self) -> None:
        touches = {touch for waiting in self._touches.values() for touch in waiting}
        for touch in touches:
            touch.cancel()
        if touches:
            await asyncio.wait(touches)

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
