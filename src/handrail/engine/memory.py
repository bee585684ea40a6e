"""What a session knows outlives its process: refs given by one command are valid in the next one.

Kept per device until it boots again. A number is never given twice, whoever dies and whoever else looks at
the device at the same time: each process takes its numbers from a block that the store gave to it alone.
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

from handrail.store import Store
from handrail.tree.refs import Registry

BLOCK = 1_000
"""Numbers of each kind that a process takes at a time."""
TABLES = (
    """
    CREATE TABLE known_screens (
        device TEXT PRIMARY KEY, boot_id TEXT NOT NULL DEFAULT '', revision INTEGER NOT NULL DEFAULT 0,
        signature TEXT NOT NULL DEFAULT '', refs TEXT, floor INTEGER NOT NULL DEFAULT 0,
        highest INTEGER NOT NULL DEFAULT 0, ceiling INTEGER
    ) STRICT
    """,
)
"""Numbers up to `floor` may be anybody's, `highest` is the highest of the refs and revisions that were saved,
`ceiling` ends the last block that was taken and is NULL when it was given back."""
_log = logging.getLogger("handrail.engine")


class Refs(Registry):
    """A registry whose new numbers lie above `floor`: those below may have been given by somebody else."""

    floor = 0

    @property
    def highest(self) -> int:
        """The highest number that was given, of any kind."""
        return max(self._counters.values(), default=0)

    def _mint(self, kind: str) -> str:
        self._counters[kind] = max(self._counters.get(kind, 0), self.floor)
        return super()._mint(kind)

    def _was_given(self, ref: str) -> bool:
        return super()._was_given(ref) or (ref[2:].isdecimal() and 0 < int(ref[2:]) <= self.floor)


@dataclass(slots=True)
class Known:
    """Where a session on a device stopped, and how far its numbers reach."""

    refs: Refs
    revision: int = 0
    signature: str = ""
    ceiling: int = BLOCK

    def is_short(self, revision: int) -> bool:
        """Time to ask for another block: what one action can show must always fit into what is left."""
        return max(self.refs.highest, self.refs.floor, revision) > self.ceiling - BLOCK // 2


class Memory:
    """The refs and the revision of every device that was seen from this home."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.prepare("known_screens", TABLES)

    async def load(self, device: str, boot_id: str) -> Known:
        """Where the last session stopped, after a boot only its numbers; with a block of new ones."""
        return known_from(await self.take(device), boot_id)

    async def take(self, device: str) -> sqlite3.Row:
        """A block of numbers, and what is kept of the device, as `known_from` reads it.

        Every answer that shows one of them is sealed later, and durably: this does not wait for the disk.
        """
        return await self._store.write(lambda db: _open(db, device), durable=False)

    @asynccontextmanager
    async def taking(self, device: str) -> AsyncIterator[asyncio.Task[sqlite3.Row]]:
        """Take a block while the device is opened. A block that fails leaves everything as it was."""
        taking = asyncio.create_task(self.take(device), name=f"numbers for {device}")
        try:
            yield taking
        except BaseException:
            await asyncio.wait({taking})
            if not taking.cancelled() and taking.exception() is None:
                row = taking.result()
                await self._store.write(lambda db: _give_back(db, row), durable=False)
            raise

    async def extend(self, device: str, known: Known, revision: int) -> int:
        """Another block; the revision to go on with. A block that others came to have is jumped over."""
        ceiling = known.ceiling
        stored = await self._store.write(lambda db: _extend(db, device), durable=False)
        if stored != ceiling:
            known.refs.floor = stored
        known.ceiling = stored + BLOCK
        return max(revision, known.refs.floor)

    async def save(
        self, device: str, boot_id: str, known: Known, redact: Callable[[Any], Any], *, last: bool = False
    ) -> None:
        """What is known now, without secrets; `last`: unused numbers are given back."""
        refs = redact(known.refs.dump())  # made here: the registry belongs to the event loop
        text = json.dumps(refs, ensure_ascii=False, separators=(",", ":"))
        values = {
            "device": device, "boot_id": boot_id, "revision": known.revision, "signature": known.signature,
            "refs": text, "floor": known.refs.floor, "ceiling": known.ceiling,
            "highest": max(known.refs.highest, known.revision),
        }  # fmt: skip
        # Without it the next session jumps over the block that was taken, and no ref means anything else.
        await self._store.write(lambda db: _save(db, values, last=last), durable=False)


def known_from(row: sqlite3.Row, boot_id: str) -> Known:
    """Where the last session stopped, after a boot only its numbers."""
    refs = _refs(row, row["device"])
    if row["boot_id"] != boot_id:
        refs.clear()
    if row["ceiling"] is None:
        return Known(refs, row["revision"], row["signature"], _first_ceiling(row))
    # Its process died, or works on: whatever it showed since it last saved is not known here.
    refs.floor = row["ceiling"]
    return Known(refs, refs.floor, "", refs.floor + BLOCK)


def _refs(row: sqlite3.Row, device: str) -> Refs:
    try:
        refs = cast("Refs", Refs.load(json.loads(row["refs"]))) if row["refs"] else Refs()
        refs.floor = row["floor"]
    except ValueError as error:  # written by another version: start anew rather than guess
        _log.warning("refs of %s are not readable and are dropped: %s", device, error)
        refs = Refs()
        refs.floor = max(row["floor"], row["highest"])
    return refs


def _open(db: sqlite3.Connection, device: str) -> sqlite3.Row:
    """The row as it was, after a block was taken."""
    db.execute("INSERT OR IGNORE INTO known_screens (device) VALUES (?)", (device,))
    row: sqlite3.Row = db.execute("SELECT * FROM known_screens WHERE device = ?", (device,)).fetchone()
    db.execute("UPDATE known_screens SET ceiling = ? WHERE device = ?", (_taken(row), device))
    return row


def _give_back(db: sqlite3.Connection, row: sqlite3.Row) -> None:
    """Nobody was shown a number of the block. Where others took one after it, it stays taken."""
    order = "UPDATE known_screens SET ceiling = ? WHERE device = ? AND ceiling = ?"
    db.execute(order, (row["ceiling"], row["device"], _taken(row)))


def _taken(row: sqlite3.Row) -> int:
    return _first_ceiling(row) if row["ceiling"] is None else int(row["ceiling"]) + BLOCK


def _first_ceiling(row: sqlite3.Row) -> int:
    return int(max(row["floor"], row["highest"])) + BLOCK


def _extend(db: sqlite3.Connection, device: str) -> int:
    row = db.execute("SELECT * FROM known_screens WHERE device = ?", (device,)).fetchone()
    taken = int(row["ceiling"] or max(row["floor"], row["highest"]))
    db.execute("UPDATE known_screens SET ceiling = ? WHERE device = ?", (taken + BLOCK, device))
    return taken


def _save(db: sqlite3.Connection, values: dict[str, Any], *, last: bool) -> None:
    # Where somebody else has taken numbers since, theirs are not in these refs: the next ones lie above.
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
