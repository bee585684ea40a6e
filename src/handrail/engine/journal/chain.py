"""Appending to the chain: what one transaction does. The predecessor is read inside it, so that several
processes may write the same journal. Knows no thread and no waiting caller.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from handrail.engine.journal.entry import HEAD_MISMATCH, Entry, entry_of, link
from handrail.engine.journal.head import EMPTY, Head, HeadFile

COLUMNS = "seq, at_ms, hash, kind, action_id, session, device, type, terminal, failed, body"
ROWS_AT_ONCE = 64
"""Rows of one statement: each statement lets go of the interpreter, and may wait to get it back."""
ROW = "(" + ", ".join("?" * 11) + ")"


@dataclass(frozen=True, slots=True)
class Appended:
    """Where the entries went. The caller advances the head file after the commit, never before."""

    seqs: range
    head: Head
    mismatch: bool
    """Whether the head file did not fit, which the entry before them says now."""


def append(db: sqlite3.Connection, head_file: HeadFile, entries: Sequence[Entry]) -> Appended:
    """The entries, linked to what is there, in the caller's transaction."""
    last = last_of(db)
    told = head_file.read()
    mismatch = not fits(db, told, last)
    found = [_mismatch(told, last, entries[0].at_ms)] if mismatch else []
    seq, previous = _used(db, last), last.hash
    rows: list[tuple[Any, ...]] = []
    for entry in (*found, *entries):
        seq += 1
        previous = link(seq, entry.at_ms, previous, entry.body)
        rows.append((seq, entry.at_ms, previous, *entry.columns, entry.body))
    _insert(db, rows)
    return Appended(range(seq - len(entries) + 1, seq + 1), Head(seq, previous), mismatch)


def last_of(db: sqlite3.Connection) -> Head:
    """The last entry there is."""
    row = db.execute("SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
    return Head(*row) if row else EMPTY


def fits(db: sqlite3.Connection, told: Head | None, last: Head) -> bool:
    """Whether the head file names an entry that is there, or lags behind."""
    if told == last:
        return True
    if told is None or told.count > last.count:
        return False
    if told.count == 0:
        return told == EMPTY
    row = db.execute("SELECT hash FROM journal WHERE seq = ?", (told.count,)).fetchone()
    return row is not None and row[0] == told.hash


def _used(db: sqlite3.Connection, last: Head) -> int:
    """The greatest number ever given: a deleted last entry leaves a gap instead of a free place."""
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()
    return max(last.count, row[0] if row else 0)


def _mismatch(told: Head | None, last: Head, at_ms: int) -> Entry:
    """The finding becomes part of the chain: writing on does not wash it away."""
    event = {"kind": HEAD_MISMATCH, "head_file": str(told) if told else None, "last_entry": str(last)}
    return entry_of(event, at_ms, str)


def _insert(db: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        places = ", ".join([ROW] * len(some))
        db.execute(f"INSERT INTO journal ({COLUMNS}) VALUES {places}", [v for row in some for v in row])  # noqa: S608
