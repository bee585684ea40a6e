"""A session's hold on its device: taken with the first touch, checked before every other, given back.

Whoever has taken the device over acts under the own hold; everybody else waits for the hand-back.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from contextlib import AsyncExitStack

from handrail.android.lease import Holder, Lease, Leases
from handrail.engine.caller import Caller
from handrail.errors import DeviceBusy


class Grip:
    """One writer per device, across processes."""

    def __init__(self, leases: Leases, device: str, caller: Caller) -> None:
        self._leases = leases
        self._device = device
        self._holder = _holder(caller)
        self._lease: Lease | None = None
        self._taking = asyncio.Lock()
        self._ends = AsyncExitStack()

    @property
    def id(self) -> str:
        """Another one for every session."""
        return self._holder.id

    async def check(self, caller: Caller) -> None:
        """Raises `DeviceBusy` with who and since when, if somebody else has the device."""
        if caller.actor == "person" and await self._is_held_by(caller):
            return
        async with self._taking:
            if self._lease is not None and await self._is_mine(self._lease):
                return
            await self.release()
            held = self._leases.hold(self._device, self._holder)
            self._lease = await self._ends.enter_async_context(held)

    async def release(self) -> None:
        """As often as one likes."""
        self._lease = None
        await self._ends.aclose()

    async def _is_held_by(self, person: Caller) -> bool:
        held = await self._leases.holder(self._device)
        return held is not None and held.holder.kind == "person" and held.holder.id == person.holder_id

    async def _is_mine(self, lease: Lease) -> bool:
        """False when it was lost and nobody has the device: a suspended laptop misses its renewals."""
        try:
            await lease.check()
        except DeviceBusy as busy:
            if "holder" in busy.details:
                raise
            return False
        return True


def _holder(caller: Caller) -> Holder:
    kind = "cli" if caller.door == "cli" else caller.actor
    return Holder(uuid.uuid4().hex[:12], kind, label=caller.id, door=caller.door, pid=os.getpid())
