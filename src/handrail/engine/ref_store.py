"""Keeps refs and revisions across processes: a ref from one command is valid in the next.

They are kept per device until it reboots. No number is given twice, even if a process dies or another one
reads the same device: each process takes its numbers from a block that the store reserved for it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from handrail.screen.refs import Registry
from handrail.store import Store

BLOCK = 1_000
"""Numbers of each kind that a process reserves at a time."""
TABLES = (
    """
    CREATE TABLE known_screens (
        device TEXT PRIMARY KEY, boot_id TEXT NOT NULL DEFAULT '', revision INTEGER NOT NULL DEFAULT 0,
        signature TEXT NOT NULL DEFAULT '', refs TEXT, floor INTEGER NOT NULL DEFAULT 0,
        highest INTEGER NOT NULL DEFAULT 0, ceiling INTEGER
    ) STRICT
    """,
)
"""Numbers up to `floor` may belong to anybody. `highest` is the highest saved ref or revision. `ceiling` ends
the last reserved block and is NULL once that was returned."""
_log = logging.getLogger("handrail.engine")


class BlockRegistry(Registry):
    """A registry that only gives numbers above `floor`; lower ones may belong to another process."""

    floor = 0

    @property
    def highest(self) -> int:
        return max(self._counters.values(), default=0)

    def _mint(self, kind: str) -> str:
        self._counters[kind] = max(self._counters.get(kind, 0), self.floor)
        return super()._mint(kind)

    def _was_issued(self, ref: str) -> bool:
        return super()._was_issued(ref) or (ref[2:].isdecimal() and 0 < int(ref[2:]) <= self.floor)


@dataclass(slots=True)
class RefState:
    """Where a session stopped, and the end of its block of numbers."""

    refs: BlockRegistry
    revision: int = 0
    signature: str = ""
    ceiling: int = BLOCK

    def is_short(self, revision: int) -> bool:
        """Less than half a block is left. One action must never need more than that."""
        return max(self.refs.highest, self.refs.floor, revision) > self.ceiling - BLOCK // 2


class RefStore:
    """The refs and revision of every device of this home."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.create_tables("known_screens", TABLES)

    async def take(self, device: str) -> sqlite3.Row:
        """Reserves a block and returns the row that `restore_refs` reads.

        It need not be durable: every envelope that shows a number of the block is written durably later.
        """
        return await self._store.write(lambda db: _take_block(db, device), durable=False)

    @asynccontextmanager
    async def taking(self, device: str) -> AsyncIterator[asyncio.Task[sqlite3.Row]]:
        """Reserves a block while the device is being opened, and returns it if that fails."""
        taking = asyncio.create_task(self.take(device), name=f"numbers for {device}")
        try:
            yield taking
        except BaseException:
            await asyncio.wait({taking})
            if not taking.cancelled() and taking.exception() is None:
                # No number of the block was shown. It stays taken if somebody reserved another one after it.
                row = taking.result()
                order = "UPDATE known_screens SET ceiling = ? WHERE device = ? AND ceiling = ?"
                values = (row["ceiling"], row["device"], _highest_taken(row) + BLOCK)
                await self._store.write(lambda db: db.execute(order, values), durable=False)
            raise

    async def extend(self, device: str, state: RefState, revision: int) -> int:
        """Reserves another block and returns the revision to continue with. Skips blocks that others took."""
        taken = _highest_taken(await self.take(device))
        if taken != state.ceiling:
            state.refs.floor = taken
        state.ceiling = taken + BLOCK
        return max(revision, state.refs.floor)

    async def save(
        self,
        device: str,
        boot_id: str,
        state: RefState,
        redact: Callable[[Any], Any] | None,
        *,
        last: bool = False,
    ) -> None:
        """Saves refs without secrets. With `last`, unused numbers are returned."""
        refs = state.refs.dump()  # here, because the registry belongs to the event loop
        if redact is not None:
            refs = redact(refs)
        text = json.dumps(refs, ensure_ascii=False, separators=(",", ":"))
        values = {
            "device": device, "boot_id": boot_id, "revision": state.revision, "signature": state.signature,
            "refs": text, "floor": state.refs.floor, "ceiling": state.ceiling,
            "highest": max(state.refs.highest, state.revision),
        }  # fmt: skip
        # If this is lost, the next session skips the reserved block, so no ref changes its meaning.
        await self._store.write(lambda db: _save_row(db, values, last=last), durable=False)


def restore_refs(row: sqlite3.Row, boot_id: str) -> RefState:
    """Where the last session stopped; after a reboot only its numbers."""
    refs = BlockRegistry()
    try:
        if row["refs"]:
            refs = cast("BlockRegistry", BlockRegistry.load(json.loads(row["refs"])))
        refs.floor = row["floor"]
    except ValueError as error:  # written by another version
        _log.warning("refs of %s are not readable and are dropped: %s", row["device"], error)
        refs.floor = max(row["floor"], row["highest"])
    if row["boot_id"] != boot_id:
        refs.clear()
    if row["ceiling"] is None:
        return RefState(refs, row["revision"], row["signature"], _highest_taken(row) + BLOCK)
    # The process has died or still runs: what it showed since its last save is unknown here.
    refs.floor = row["ceiling"]
    return RefState(refs, refs.floor, "", refs.floor + BLOCK)


def _take_block(db: sqlite3.Connection, device: str) -> sqlite3.Row:
    """Returns the row as it was before the block was reserved."""
    db.execute("INSERT OR IGNORE INTO known_screens (device) VALUES (?)", (device,))
    row: sqlite3.Row = db.execute("SELECT * FROM known_screens WHERE device = ?", (device,)).fetchone()
    ceiling = _highest_taken(row) + BLOCK
    db.execute("UPDATE known_screens SET ceiling = ? WHERE device = ?", (ceiling, device))
    return row


def _highest_taken(row: sqlite3.Row) -> int:
    """The end of the last reserved block; where that was returned, the highest number that anybody has."""
    return int(row["ceiling"] or max(row["floor"], row["highest"]))


def _save_row(db: sqlite3.Connection, values: dict[str, Any], *, last: bool) -> None:
    # If somebody else took numbers since, these refs lack theirs, so the next block starts above them.
    db.execute(
        "UPDATE known_screens SET boot_id = :boot_id, revision = :revision, signature = :signature,"
        " refs = :refs, floor = max(floor, :floor, CASE WHEN ceiling IS :ceiling THEN 0 ELSE highest END),"
        " highest = max(highest, :highest) WHERE device = :device",
        values,
    )
    if last:
        db.execute(
            "UPDATE known_screens SET ceiling = NULL WHERE device = :device AND ceiling = :ceiling", values
        )
