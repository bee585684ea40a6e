"""What a person allows for a time: one class of acts, to one asker, on one device, a number of times.

A use is one SQL statement that checks everything and counts: two at once can't share the last one.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handrail.clock import Clock, iso_time
from handrail.engine.approval.deadline import COLUMNS, LIVES, lasting, moment
from handrail.engine.approval.request import Request
from handrail.errors import InvalidAction
from handrail.store import Store

TABLES = (
    f"""
    CREATE TABLE grants (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        scope TEXT NOT NULL,
        device TEXT NOT NULL,
        asker TEXT NOT NULL,
        asked_by TEXT NOT NULL,
        said TEXT NOT NULL,
        granted_by TEXT NOT NULL,
        times INTEGER NOT NULL,
        used INTEGER NOT NULL DEFAULT 0,
        ended_ms INTEGER,
        {COLUMNS}
    ) STRICT;
    CREATE INDEX grants_by_scope ON grants (scope, device, asker)
    """,
)
PREFIX = "gr_"
LONGEST_MS, MOST_TIMES = 24 * 3_600_000, 100
USUAL_MS, USUAL_TIMES = 3_600_000, 5
_COUNTS = f"ended_ms IS NULL AND used < times AND {LIVES}"


@dataclass(frozen=True, slots=True)
class Allowance:
    """How long, and how often after this once."""

    for_ms: int
    times: int

    @classmethod
    def read(cls, for_ms: int | None, times: int | None) -> Allowance | None:
        """None where neither is said. Raises `InvalidAction`."""
        if for_ms is None and times is None:
            return None
        made = cls(USUAL_MS if for_ms is None else for_ms, USUAL_TIMES if times is None else times)
        if not 0 < made.for_ms <= LONGEST_MS:
            raise InvalidAction("It can be allowed for at most 24 hours", path="for", hint="Give 30m or 2h.")
        if not 0 < made.times <= MOST_TIMES:
            hint = "Give a number of times."
            raise InvalidAction(f"It can be allowed 1 to {MOST_TIMES} times", path="times", hint=hint)
        return made


@dataclass(frozen=True, slots=True)
class Grant:
    """One that was given. Whether it counts is decided where it is used."""

    id: str
    said: str
    device: str
    asked_by: str
    granted_by: str
    times: int
    used: int
    until_ms: int
    ended_ms: int | None = None

    @property
    def left(self) -> int:
        return self.times - self.used

    def __str__(self) -> str:
        """`mcp may tap 'Send' in com.example.mail on emulator-5554 until 18:00, 3 of 5 times left`"""
        until = f"{datetime.fromtimestamp(self.until_ms / 1000):%H:%M}"
        who, left = self.asked_by or "whoever asked", f"{self.left} of {self.times} times left"
        return f"{who} may {self.said} on {self.device} until {until}, {left}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON data, for every door."""
        return {
            "id": self.id,
            "sentence": str(self),
            "said": self.said,
            "device": self.device,
            "asked_by": self.asked_by,
            "granted_by": self.granted_by,
            "times": self.times,
            "left": self.left,
            "until": iso_time(self.until_ms),
        }


def grant_id(approval: str) -> str:
    """Of the grant that came with the answer to this question."""
    return PREFIX + approval.partition("_")[2]


def insert(
    db: sqlite3.Connection, approval: str, asked: Request, allowed: Allowance, by: str, at: dict[str, Any]
) -> None:
    """In the transaction of the answer that it comes with."""
    values = {
        "id": grant_id(approval), "scope": asked.scope.key, "device": asked.device, "asker": asked.asker,
        "asked_by": asked.asked_by, "said": asked.scope.said, "granted_by": by, "times": allowed.times,
        **lasting(at, allowed.for_ms),
    }  # fmt: skip
    marks = ", ".join(f":{name}" for name in values)
    db.execute(f"INSERT INTO grants ({', '.join(values)}) VALUES ({marks})", values)  # noqa: S608


class Grants:
    """Those of one home."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        store.prepare("grants", TABLES)

    async def use(self, scope: str, device: str, asker: str) -> Grant | None:
        """Count one use; None where nothing allows it. Decided inside the transaction, at its own time."""

        def count(db: sqlite3.Connection) -> list[Grant]:
            at = {**self._ended(db), "scope": scope, "device": device, "asker": asker}
            order = (
                "UPDATE grants SET used = used + 1 WHERE seq = (SELECT seq FROM grants WHERE scope = :scope"  # noqa: S608
                f" AND device = :device AND asker = :asker AND {_COUNTS} ORDER BY seq LIMIT 1)"
                f" AND {_COUNTS} RETURNING *"
            )
            return [_read(row) for row in db.execute(order, at).fetchall()]

        found = await self._store.write(count) if scope and asker else []
        return found[0] if found else None

    async def active(self) -> list[Grant]:
        """What still counts, newest first."""

        def find(db: sqlite3.Connection) -> list[Grant]:
            rows = db.execute(f"SELECT * FROM grants WHERE {_COUNTS} ORDER BY seq DESC", self._ended(db))  # noqa: S608
            return [_read(row) for row in rows]

        return await self._store.read(find)

    async def revoke(self, id_: str) -> Grant:
        """End one, by its id or a beginning that only one of those that count has."""
        found = [one for one in await self.active() if one.id.removeprefix(PREFIX).startswith(_bare(id_))]
        if len(found) != 1:
            many = ", ".join(one.id for one in found[:5])
            message = (
                f"{id_!r:.60} is the beginning of several: {many}" if found else f"There is no {id_!r:.60}"
            )
            raise InvalidAction(message, path="id", hint="`handrail policy grants` lists what counts.")
        now = self._clock.now_ms()
        order = "UPDATE grants SET ended_ms = ? WHERE id = ? AND ended_ms IS NULL"
        await self._store.write(lambda db: db.execute(order, (now, found[0].id)))
        return found[0]

    def _ended(self, db: sqlite3.Connection) -> dict[str, Any]:
        """End what has no time left, for good; this moment."""
        at = moment(self._clock)
        late = f"ended_ms IS NULL AND NOT {LIVES}"
        if db.execute(f"SELECT 1 FROM grants WHERE {late} LIMIT 1", at).fetchone():  # noqa: S608
            db.execute(f"UPDATE grants SET ended_ms = :now WHERE {late}", at)  # noqa: S608
        return at


def _bare(id_: str) -> str:
    return id_.strip().lower().removeprefix(PREFIX) or "?"


def _read(row: sqlite3.Row) -> Grant:
    return Grant(
        row["id"], row["said"], row["device"], row["asked_by"], row["granted_by"], row["times"], row["used"],
        row["until_ms"], row["ended_ms"],
    )  # fmt: skip
