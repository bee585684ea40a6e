"""Who waits for a device that a person has taken over: in the order in which they came, across processes.

Only whoever has patience gets in line. A process that died holds nobody up.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from handrail.clock import Clock, iso_time
from handrail.config import canonical
from handrail.engine.events import Caller
from handrail.engine.leases import Held, Leases, mark, place
from handrail.errors import DeviceBusy
from handrail.store import Store

POLL_MS = 100.0
"""How often somebody in line looks whether it is their turn."""
STEPS = (
    """
    CREATE TABLE hold_queue (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, device TEXT NOT NULL, label TEXT NOT NULL, kind TEXT NOT NULL,
        pid INTEGER NOT NULL, process TEXT, place TEXT NOT NULL, since_ms INTEGER NOT NULL
    ) STRICT
    """,
)
Say = Callable[[str], None]
"""Told in words how the waiting gets on."""


@dataclass(frozen=True, slots=True)
class InLine:
    """Somebody in line."""

    seq: int
    label: str
    kind: str
    since_ms: int

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.label, "kind": self.kind, "since": iso_time(self.since_ms)}


class HoldQueue:
    """The lines of one home, one for each device."""

    def __init__(self, store: Store, clock: Clock, leases: Leases) -> None:
        self._store = store
        self._clock = clock
        self._leases = leases
        store.prepare("hold_queue", STEPS)

    async def line(self, device: str) -> list[InLine]:
        """Everybody who waits, the first one first."""
        order = "SELECT * FROM hold_queue WHERE device = ? ORDER BY seq"
        rows = await self._store.read(lambda db: db.execute(order, (canonical(device),)).fetchall())
        alive = (row for row in rows if row["place"] != place() or mark(row["pid"]) == row["process"])
        return [InLine(row["seq"], row["label"], row["kind"], row["since_ms"]) for row in alive]

    async def wait(self, device: str, caller: Caller, say: Say) -> bool:
        """Until the person hands the device back and it is this caller's turn; whether it had to wait.

        Raises `DeviceBusy` when the caller's patience ends.
        """
        held = await self._by_another_person(device, caller)
        if held is None:
            return False
        began = self._clock.monotonic_ms()
        async with self._place(device, caller) as seq:
            while (before := await self._before(device, seq)) or held is not None:
                waited = self._clock.monotonic_ms() - began
                if waited >= caller.patience_ms:
                    raise _given_up(device, held, before, waited)
                say(_told(held, before))
                await self._clock.sleep_ms(min(POLL_MS, caller.patience_ms - waited))
                held = await self._by_another_person(device, caller)
        return True

    async def _by_another_person(self, device: str, caller: Caller) -> Held | None:
        held = await self._leases.holder(device)
        if held is None or held.holder.kind != "person" or held.holder.id == caller.holder_id:
            return None
        return held

    async def _before(self, device: str, seq: int) -> int:
        """How many came earlier."""
        return sum(one.seq < seq for one in await self.line(device))

    @asynccontextmanager
    async def _place(self, device: str, caller: Caller) -> AsyncIterator[int]:
        here = (os.getpid(), mark(os.getpid()), place(), self._clock.now_ms())
        row = (canonical(device), caller.id, caller.actor, *here)

        def enter(db: sqlite3.Connection) -> int:
            order = "INSERT INTO hold_queue (device, label, kind, pid, process, place, since_ms)"
            return int(db.execute(f"{order} VALUES (?, ?, ?, ?, ?, ?, ?)", row).lastrowid or 0)

        seq = await self._store.write(enter, durable=False)
        try:
            yield seq
        finally:
            leave = "DELETE FROM hold_queue WHERE seq = ?"
            await self._store.write(lambda db: db.execute(leave, (seq,)), durable=False)


def _told(held: Held | None, before: int) -> str:
    who = f"{held.holder.name} has the device" if held is not None else "it was handed back"
    return f"waiting: {who}, you are number {before + 1} in line"


def _given_up(device: str, held: Held | None, before: int, waited_ms: float) -> DeviceBusy:
    who = f"{held.holder} has {device}" if held is not None else f"others are before you on {device}"
    return DeviceBusy(
        f"{who}; waited {waited_ms / 1000:.0f} s, number {before + 1} in line",
        hint="Try again later, or tell the person that you wait for the device.",
        retryable=True,
        waited_ms=round(waited_ms),
        position=before + 1,
        **(held.to_dict() if held is not None else {"device": device}),
    )
