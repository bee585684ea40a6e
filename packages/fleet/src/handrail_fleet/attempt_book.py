"""A host's own book of the attempts that it was given: begun, ended, reported; and how each is proved.

It is kept in the host's home. A process that begins after another was killed reads in it what became of that
one's attempts: never begun, begun and lost, or ended and not reported yet.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.journal.signed_log import JournalLog
from handrail.journal.signed_note import SigningKey, to_base64
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail_fleet.ledger import AttemptReport, Ended, Fenced, HandedUnit

TABLES = (
    """
    CREATE TABLE fleet_attempts (
        unit TEXT NOT NULL, attempt INTEGER NOT NULL, actor TEXT NOT NULL, devices TEXT NOT NULL,
        began INTEGER NOT NULL, ended INTEGER, report TEXT, reported INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (unit, attempt)
    ) STRICT
    """,
)
"""`began` and `ended` are numbers of journal entries."""


@dataclass(frozen=True, slots=True)
class BookedEnd:
    """An attempt that is over, as it will be reported."""

    report: AttemptReport
    ended: int
    """The journal entry that says so; 0 where there is none."""


def digest_of(result: Mapping[str, Any]) -> str:
    """Stands in the journal: what was reported afterwards must have it."""
    written = json.dumps(result, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(written.encode()).hexdigest()


class AttemptBook:
    """One home's."""

    def __init__(self, runtime: Runtime) -> None:
        self._store = runtime.store
        self._journal = runtime.journal
        self._home = runtime.config.home
        self._store.create_tables("fleet_host", TABLES)

    async def begin(self, one: HandedUnit, caller: Caller, devices: Sequence[str]) -> int:
        """Before the first touch, and durable: whoever comes after a kill knows that it was begun."""
        event = {
            "kind": "attempt_began",
            "device": devices[0] if devices else None,
            "actor": {"kind": caller.actor, "id": caller.id},
            "door": caller.door,
            "attempt": {"unit": one.unit, "number": one.attempt},
        }
        seq = await self._journal.seal(event)
        row = (one.unit, one.attempt, caller.id, json.dumps(list(devices)), seq)
        order = "INSERT INTO fleet_attempts (unit, attempt, actor, devices, began) VALUES (?, ?, ?, ?, ?)"
        await self._store.write(lambda db: db.execute(order, row))
        return seq

    async def end(self, fenced: Fenced, ended: Ended, result: Mapping[str, Any], why: str) -> None:
        """The result, in the journal by its digest and in the book as it is."""
        row = await self._row(fenced)
        actions = await asyncio.to_thread(self._actions, row)
        event = {
            "kind": "attempt_ended",
            "device": next(iter(json.loads(row["devices"])), None),
            "attempt": {
                "unit": fenced[0],
                "number": fenced[1],
                "ended": ended,
                "result": digest_of(result),
                "actions": [[action, seq] for action, seq in sorted(actions.items(), key=lambda one: one[1])],
            },
        }
        seq = await self._journal.seal(event)
        report = json.dumps({"ended": ended, "result": dict(result), "why": why})
        order = "UPDATE fleet_attempts SET ended = ?, report = ? WHERE unit = ? AND attempt = ?"
        await self._store.write(lambda db: db.execute(order, (seq, report, *fenced)))

    async def unreported(self) -> list[BookedEnd]:
        """What ended, and nobody was told of; oldest first."""
        order = "SELECT * FROM fleet_attempts WHERE report IS NOT NULL AND reported = 0 ORDER BY began"
        rows = await self._store.read(lambda db: db.execute(order).fetchall())
        return [_booked(row) for row in rows]

    async def of_predecessor(self, one: HandedUnit) -> AttemptReport | None:
        """What became of an attempt of a process that is gone; None: it ended, and will be reported."""
        found = await self._find((one.unit, one.attempt))
        if found is None:
            why = "the host's process ended before it began"
            return AttemptReport(one.unit, one.attempt, "given_back", why=why)
        if found["report"] is not None:
            return None
        actions = await asyncio.to_thread(self._actions, found)
        last = max(actions.values(), default=found["began"])
        why = f"the host's process ended in the middle; its last journal entry is {last}"
        return AttemptReport(one.unit, one.attempt, "lost", why=why, last_entry=str(last))

    async def reported(self, ends: Sequence[Fenced]) -> None:
        order = "UPDATE fleet_attempts SET reported = 1 WHERE unit = ? AND attempt = ?"
        await self._store.write(lambda db: db.executemany(order, ends), durable=False)

    async def prove(self, ends: Sequence[BookedEnd]) -> dict[Fenced, dict[str, Any]]:
        """One checkpoint for all of them; for each, its end with its body and the places of its actions."""
        return await asyncio.to_thread(self._prove, ends)

    def _prove(self, ends: Sequence[BookedEnd]) -> dict[Fenced, dict[str, Any]]:
        log = JournalLog(self._home)
        try:
            signed = log.checkpoint()
            made: dict[Fenced, dict[str, Any]] = {}
            for end in ends:
                proof = log.prove(end.ended)
                attempt = proof.entries[-1].event["attempt"]
                places = log.places((seq for _, seq in attempt["actions"]), signed)
                made[end.report.unit, end.report.attempt] = {
                    "ended": str(proof),
                    "places": [
                        [action, seq, to_base64(places[seq][0]), *map(to_base64, places[seq][1])]
                        for action, seq in attempt["actions"]
                    ],
                    "checkpoint": str(signed),
                }
            return made
        finally:
            log.close()

    def key(self) -> SigningKey:
        """The journal's key, which is who this host is."""
        log = JournalLog(self._home)
        try:
            return log.signer()
        finally:
            log.close()

    def _actions(self, row: sqlite3.Row) -> dict[str, int]:
        log = JournalLog(self._home)
        try:
            found: dict[str, int] = {}
            for device in json.loads(row["devices"]):
                found |= log.actions_of(row["actor"], device, row["began"])
            return found
        finally:
            log.close()

    async def _find(self, fenced: Fenced) -> sqlite3.Row | None:
        order = "SELECT * FROM fleet_attempts WHERE unit = ? AND attempt = ?"
        found: sqlite3.Row | None = await self._store.read(lambda db: db.execute(order, fenced).fetchone())
        return found

    async def _row(self, fenced: Fenced) -> sqlite3.Row:
        found = await self._find(fenced)
        if found is None:
            raise AssertionError(f"{fenced} was never started here")
        return found


def _booked(row: sqlite3.Row) -> BookedEnd:
    told = json.loads(row["report"])
    last = str(row["ended"])
    report = AttemptReport(row["unit"], row["attempt"], told["ended"], told["result"], told["why"], last)
    return BookedEnd(report, row["ended"])
