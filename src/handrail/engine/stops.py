"""Stop from another process: a row in the store, looked for by every session while it does something."""

from __future__ import annotations

import sqlite3
from typing import Any

from handrail.android.serial import canonical
from handrail.store import Store

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
