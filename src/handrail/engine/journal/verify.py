"""The proof: every entry is recomputed from its predecessor, in order, with constant memory.

The head file is read first and the database afterwards. A head that lags is what a `kill -9` between the two
writes leaves; a head that is ahead, or that names another hash, means that something was cut off or changed.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.engine.journal.blobs import Blobs
from handrail.engine.journal.head import EMPTY, Head, read_head
from handrail.engine.journal.query import HEAD_MISMATCH, columns_of, link
from handrail.engine.journal.writer import COLUMNS, head_path

MOST_WARNINGS = 20


@dataclass(frozen=True, slots=True)
class ChainVerdict:
    """Whether the journal is whole. `head` is what a person may keep elsewhere to compare with later."""

    ok: bool
    count: int
    head_hash: str
    first_bad: int | None = None
    why: str | None = None
    warnings: tuple[str, ...] = ()
    """Blobs that are missing or are not what they were."""

    @property
    def head(self) -> str:
        return str(Head(self.count, self.head_hash))


class _Broken(Exception):
    """The number of the first bad entry, and why it is bad."""


def verify(db: sqlite3.Connection, home: Path, kept: Head | None = None) -> ChainVerdict:
    """Walk the chain from the first entry. `kept` is a head that was written down earlier.

    The connection is left in the transaction that saw all of it.
    """
    told = read_head(head_path(home))
    walk = _Walk([head for head in (told, kept) if head is not None])
    try:
        db.execute("BEGIN")
        walk.through(db)
        _ends(db, walk.last, told, kept)
        return ChainVerdict(True, walk.last.count, walk.last.hash)
    except _Broken as broken:
        return ChainVerdict(False, walk.last.count, walk.last.hash, *broken.args)
    except sqlite3.DatabaseError as error:
        why = f"the database can't be read any further: {error}"
        return ChainVerdict(False, walk.last.count, walk.last.hash, walk.last.count + 1, why)


class _Walk:
    """Along the chain; `last` is the last good entry."""

    def __init__(self, heads: list[Head]) -> None:
        self.last = EMPTY
        self._heads = heads

    def through(self, db: sqlite3.Connection) -> None:
        self.compare()
        for row in db.execute(f"SELECT {COLUMNS} FROM journal ORDER BY seq"):  # noqa: S608
            self._step(row)

    def _step(self, row: Any) -> None:
        seq, at_ms, own, *columns, body = row
        expected = self.last.count + 1
        if seq != expected:
            raise _Broken(expected, f"entry {expected} is missing; the next one there is {seq}")
        if link(seq, at_ms, self.last.hash, body) != own:
            raise _Broken(seq, f"entry {seq} was changed: its content and its hash do not fit")
        event = json.loads(body)
        if tuple(columns) != columns_of(event):
            raise _Broken(seq, f"entry {seq} was changed: its columns do not say what its body says")
        if event.get("kind") == HEAD_MISMATCH:
            raise _Broken(seq, _said_mismatch(seq, event))
        self.last = Head(seq, own)
        self.compare()

    def compare(self) -> None:
        """A head that names this entry must name its hash."""
        for head in self._heads:
            if head.count == self.last.count and head != self.last:
                raise _Broken(
                    head.count, f"entry {head.count} is not the one that the head names: {head.hash}"
                )


def _said_mismatch(seq: int, event: dict[str, Any]) -> str:
    told, last = event.get("head_file"), event.get("last_entry")
    return f"entry {seq} says that the head file did not fit: it held {told}, the last entry was {last}"


def _ends(db: sqlite3.Connection, last: Head, told: Head | None, kept: Head | None) -> None:
    """Whether the chain is as long as it was."""
    if told is None and last.count:
        raise _Broken(last.count, "the head file is missing or can't be read")
    for name, head in (("head file", told), ("head that was kept", kept)):
        if head is not None and head.count > last.count:
            first = last.count + 1
            raise _Broken(first, f"entries {first} to {head.count} are missing: the {name} counts them")
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()
    given = row[0] if row else 0
    if given != last.count:
        raise _Broken(last.count + 1, f"{given} entries were written, {last.count} are there")


def blob_warnings(db: sqlite3.Connection, blobs: Blobs) -> tuple[str, ...]:
    """Kept blobs whose file is gone or holds something else."""
    found: list[str] = []
    more = 0
    for warning in _blob_faults(db, blobs):
        if len(found) < MOST_WARNINGS:
            found.append(warning)
        else:
            more += 1
    return (*found, f"and {more} more blobs") if more else tuple(found)


def _blob_faults(db: sqlite3.Connection, blobs: Blobs) -> Iterator[str]:
    for name, kind in db.execute("SELECT name, kind FROM blobs WHERE state = 'kept' ORDER BY name"):
        try:
            if _sha256(blobs.path(name)) != name:
                yield f"blob {name} ({kind}) holds something else"
        except OSError as error:
            yield f"blob {name} ({kind}) can't be read: {error.strerror}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
