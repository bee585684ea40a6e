"""How long blobs are kept. A swept blob stays in the table, and the journal says that it was swept."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from handrail.engine.journal.blobs import Blobs

GIB = 1024**3
DAY_MS = 86_400_000
YOUNG_MS = 60_000
"""What is younger may belong to an action in flight; it is never swept."""
AT_ONCE = 500
"""Blobs that one transaction removes: writers of other processes wait no longer than that."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The oldest go first as soon as one limit is passed; None is no limit."""

    bytes: int | None = 2 * GIB
    count: int | None = 100_000
    age_ms: int | None = 30 * DAY_MS


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep removed."""

    names: tuple[str, ...]
    bytes: int


def sweep(db: sqlite3.Connection, blobs: Blobs, limits: Limits, now_ms: int) -> Iterator[Swept]:
    """Remove what is beyond the limits, oldest first; yields after each transaction."""
    old = list(_beyond(db, limits, now_ms))
    for start in range(0, len(old), AT_ONCE):
        gone = _remove(db, blobs, old[start : start + AT_ONCE])
        if gone:
            yield Swept(tuple(one.name for one in gone), sum(one.bytes for one in gone))


@dataclass(frozen=True, slots=True)
class _Old:
    name: str
    bytes: int
    at_ms: int


def _beyond(db: sqlite3.Connection, limits: Limits, now_ms: int) -> Iterator[_Old]:
    """The kept blobs that have to go."""
    count, size = db.execute(
        "SELECT count(*), coalesce(sum(bytes), 0) FROM blobs WHERE state = 'kept'"
    ).fetchone()
    for row in db.execute("SELECT name, bytes, at_ms FROM blobs WHERE state = 'kept' ORDER BY at_ms"):
        one = _Old(*row)
        over = (
            (limits.bytes is not None and size > limits.bytes)
            or (limits.count is not None and count > limits.count)
            or (limits.age_ms is not None and now_ms - one.at_ms > limits.age_ms)
        )
        if not over or now_ms - one.at_ms < YOUNG_MS:
            return
        yield one
        count -= 1
        size -= one.bytes


def _remove(db: sqlite3.Connection, blobs: Blobs, old: list[_Old]) -> list[_Old]:
    """Row first, file second: a table that says `kept` for a file that is gone would look like damage."""
    with blobs.locked(fcntl.LOCK_EX):
        gone = [one for one in old if not blobs.touched_since(one.name, one.at_ms)]
        db.execute("BEGIN IMMEDIATE")
        try:
            names = [(one.name,) for one in gone]
            db.executemany("UPDATE blobs SET state = 'swept' WHERE name = ?", names)
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        for one in gone:
            blobs.path(one.name).unlink(missing_ok=True)
    return gone
