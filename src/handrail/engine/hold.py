"""A session's hold on its device, and stops asked for by other processes.

Whoever has taken the device over acts under the own hold; everybody else waits for the hand-back.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import uuid
from contextlib import AsyncExitStack
from typing import Any

from handrail.config import canonical
from handrail.engine.events import Caller
from handrail.engine.leases import Holder, Lease, Leases
from handrail.errors import DeviceBusy
from handrail.store import Store


class Hold:
    """One writer per device, across processes."""

    def __init__(self, leases: Leases, device: str, caller: Caller) -> None:
        self._leases = leases
        self._device = device
        self._holder = _holder(caller, uuid.uuid4().hex[:12])
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
            who = self._holder if caller.actor == "person" else _holder(caller, self._holder.id)
            if self._lease is not None and await self._is_mine(self._lease):
                if self._lease.held.holder != who:  # several agents share the session: whoever acts has it
                    self._lease = await self._leases.rename(self._lease, who)
                return
            await self.release()
            held = self._leases.hold(self._device, who)
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


def _holder(caller: Caller, id_: str) -> Holder:
    kind = "cli" if caller.door == "cli" else caller.actor
    fence = caller.fence.attempt if caller.fence is not None else None
    return Holder(id_, kind, label=caller.id, door=caller.door, pid=os.getpid(), fence=fence)


POLL_MS = 50.0
"""How often a session that does something looks; one that does nothing never does."""
TABLES = (
    """
    CREATE TABLE stops (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT, at_ms INTEGER NOT NULL, by TEXT NOT NULL,
        ended INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
)


class Stops:
    """The stops of one home."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.prepare("stops", TABLES)

    async def ask(self, device: str | None, by: str, at_ms: int) -> int:
        """End what is going on, on one device or (None) on every one; the number of this stop."""
        row = (canonical(device) if device else None, at_ms, by)

        def insert(db: sqlite3.Connection) -> Any:
            return db.execute("INSERT INTO stops (device, at_ms, by) VALUES (?, ?, ?)", row).lastrowid

        return int(await self._store.write(insert))

    async def newest(self, device: str) -> int:
        """The number of the last stop that means this device; 0 when there was none."""
        name = canonical(device)
        order = "SELECT max(seq) FROM stops WHERE device IS NULL OR device = ?"
        return await self._store.read(lambda db: int(db.execute(order, (name,)).fetchone()[0] or 0))

    async def obeyed(self, number: int, count: int) -> None:
        """So many actions were ended because of it."""
        order = "UPDATE stops SET ended = ended + ? WHERE seq = ?"
        await self._store.write(lambda db: db.execute(order, (count, number)))

    async def ended(self, number: int) -> int:
        """How many actions it has ended so far, in all processes."""
        order = "SELECT ended FROM stops WHERE seq = ?"
        return await self._store.read(lambda db: int(db.execute(order, (number,)).fetchone()[0]))
