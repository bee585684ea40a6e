"""The proof: every entry is recomputed from its predecessor, in order, with constant memory.

The head file is read first and the database afterwards. A head that lags is what a `kill -9` between the two
writes leaves; a head that is ahead, or that names another hash, means that something was cut off or changed.
Whoever has the home can make all of that fit again. What was kept elsewhere shows it: see `kept`.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.journal import merkle
from handrail.journal.blobs import Blobs
from handrail.journal.checkpoint import RememberedCheckpoint
from handrail.journal.head import EMPTY, Head, read_head
from handrail.journal.merkle_store import (
    TILE,
    TILE_LEVELS,
    LastLeaves,
    Leaf,
    Tree,
    TreeDamaged,
    TreeEntry,
    leaf_of,
    stored_leaves,
    tree_size,
)
from handrail.journal.query import HEAD_MISMATCH, columns_of, entry_hash
from handrail.journal.writer import COLUMNS, head_path

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
    """Blobs that are missing or are not what they were; kept things that could not be used."""
    last_bad: int | None = None
    """Where only a checkpoint without its leaves is known: the first bad entry is not behind this one."""
    agrees: tuple[str, ...] = ()
    """The checkpoints, kept elsewhere, that this journal was compared with."""

    @property
    def head(self) -> str:
        return str(Head(self.count, self.head_hash))


class _Broken(Exception):
    """The number of the first bad entry, and why it is bad."""


def verify(
    db: sqlite3.Connection,
    home: Path,
    saved_head: Head | None = None,
    elsewhere: Sequence[RememberedCheckpoint] = (),
) -> ChainVerdict:
    """Walk the chain from the first entry. `kept` is a head that was written down earlier.

    The connection is left in the transaction that saw all of it.
    """
    head_file = read_head(head_path(home))
    walk = _ChainWalk([head for head in (head_file, saved_head) if head is not None], elsewhere)
    try:
        db.execute("BEGIN")
        walk.check_every_entry(db)
        # Whether the chain is as long as it was.
        last = walk.last
        if head_file is None and last.count:
            raise _Broken(last.count, "the head file is missing or can't be read")
        for name, head in (("head file", head_file), ("head that was kept", saved_head)):
            if head is not None and head.count > last.count:
                first = last.count + 1
                raise _Broken(first, f"entries {first} to {head.count} are missing: the {name} counts them")
        row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()
        last_seq = row[0] if row else 0
        if last_seq != last.count:
            raise _Broken(last.count + 1, f"{last_seq} entries were written, {last.count} are there")
        return walk.verdict()
    except _Broken as broken:
        return walk.verdict(broken)
    except sqlite3.DatabaseError as error:
        why = f"the database can't be read any further: {error}"
        return walk.verdict(_Broken(walk.last.count + 1, why))


class _ChainWalk:
    """Along the chain; `last` is the last good entry."""

    def __init__(self, heads: list[Head], elsewhere: Sequence[RememberedCheckpoint]) -> None:
        self.last = EMPTY
        self._heads = heads
        self._elsewhere = [
            _ComparedCheckpoint(checkpoint)
            for checkpoint in sorted(elsewhere, key=lambda checkpoint: checkpoint.size)
        ]

    def verdict(self, broken: _Broken | None = None) -> ChainVerdict:
        first, why, last = (*broken.args, None)[:3] if broken else (None, None, None)
        warnings = tuple(compared.warning for compared in self._elsewhere if compared.warning)
        agreeing = [compared.remembered for compared in self._elsewhere if compared.agrees]
        agrees = tuple(f"{remembered.where}: {remembered.size} entries" for remembered in agreeing)
        ok = broken is None
        return ChainVerdict(ok, self.last.count, self.last.hash, first, why, warnings, last, agrees)

    def check_every_entry(self, db: sqlite3.Connection) -> None:
        self.compare_heads()
        grown = _StoredTreeCheck(db)
        for row in db.execute(f"SELECT {COLUMNS} FROM journal ORDER BY seq"):  # noqa: S608
            event = self._check_link(row)
            leaf = grown.check_entry((row[0], row[1], row[4], row[10]))
            for compared in self._elsewhere:
                compared.compare_entry(row[0], leaf)
            if event.get("kind") == HEAD_MISMATCH:
                held, was = event.get("head_file"), event.get("last_entry")
                why = f"the head file did not fit: it held {held}, the last entry was {was}"
                raise _Broken(row[0], f"entry {row[0]} says that {why}")
            self.last = Head(row[0], row[2])
            self.compare_heads()
            self._compare_roots(grown)
        self._check_remembered_sizes(grown)

    def _check_link(self, row: Any) -> dict[str, Any]:
        seq, at_ms, own, *columns, body = row
        expected = self.last.count + 1
        if seq != expected:
            raise _Broken(expected, f"entry {expected} is missing; the next one there is {seq}")
        if entry_hash(seq, at_ms, self.last.hash, body) != own:
            raise _Broken(seq, f"entry {seq} was changed: its content and its hash do not fit")
        event: dict[str, Any] = json.loads(body)
        if tuple(columns) != columns_of(event):
            raise _Broken(seq, f"entry {seq} was changed: its columns do not say what its body says")
        return event

    def _compare_roots(self, grown: _StoredTreeCheck) -> None:
        """Where a checkpoint was made, the tree must have its root."""
        for compared in self._elsewhere:
            if compared.remembered.size != self.last.count or grown.size < compared.remembered.size:
                continue
            if grown.root(compared.remembered.size) == compared.remembered.root:
                compared.agrees = True
                continue
            good = max(other.good for other in self._elsewhere)
            first, last = good + 1, compared.remembered.size
            which = f"entry {first}" if first == last else f"one of entries {first} to {last}"
            raise _Broken(
                first, f"{which} was changed: the root is not the one of {compared.remembered.where}", last
            )

    def _check_remembered_sizes(self, grown: _StoredTreeCheck) -> None:
        """A checkpoint that counts more than there is."""
        for compared in self._elsewhere:
            size, where = compared.remembered.size, compared.remembered.where
            if size == 0:
                compared.agrees = True
            if size > self.last.count:
                first = self.last.count + 1
                raise _Broken(first, f"entries {first} to {size} are missing: {where} counts them")
            if size > grown.size:
                first = grown.size + 1
                raise _Broken(first, f"the tree has no leaves from entry {first} on: {where} counts {size}")

    def compare_heads(self) -> None:
        """Raises `_Broken` if a known head counts as many entries and has another hash."""
        for head in self._heads:
            if head.count == self.last.count and head != self.last:
                raise _Broken(
                    head.count, f"entry {head.count} is not the one that the head names: {head.hash}"
                )


class _StoredTreeCheck:
    """The tree in the store, checked beside the entries: each leaf is made again, each stored node, too."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.size = tree_size(db)
        self._stored = stored_leaves(db, 1, self.size)
        self._priors = LastLeaves(db)
        self._tile: list[bytes] = []

    def check_entry(self, entry: TreeEntry) -> Leaf | None:
        """Returns its leaf; None where the tree has not taken it up yet. Raises where they differ."""
        seq = entry[0]
        if seq > self.size:
            return None
        try:
            leaf = next(self._stored)
            if leaf_of(entry, leaf.salt, self._priors.of(entry)) != leaf.hash:
                raise _Broken(seq, f"entry {seq} was changed: it is not the one in the tree")
        except TreeDamaged as error:
            raise _Broken(seq, error.message) from None
        if entry[2] is not None:
            self._priors.prior_leaves[entry[2]] = leaf.hash
        self._priors.forget()
        self._tile.append(leaf.hash)
        if len(self._tile) == TILE:
            self._check_nodes(seq)
        return leaf

    def _check_nodes(self, seq: int) -> None:
        """Checks the nodes of every stored level that ends here."""
        nodes, self._tile = merkle.root_of_complete_subtree(self._tile), []
        level, number = TILE_LEVELS, seq >> TILE_LEVELS
        while True:
            row = self._db.execute(
                "SELECT hash FROM journal_nodes WHERE level = ? AND number = ?", (level, number - 1)
            ).fetchone()
            if row is None or row[0] != nodes:
                first = ((number - 1) << level) + 1
                raise _Broken(first, f"the tree was changed: its node over entries {first} to {seq} is wrong")
            if number % TILE:
                return
            number, level = number >> TILE_LEVELS, level + TILE_LEVELS
            nodes = merkle.root_of_complete_subtree(Tree(self._db).tile(level, number - 1))

    def root(self, size: int) -> bytes:
        return Tree(self._db).root(size)


@dataclass(slots=True)
class _ComparedCheckpoint:
    """One thing that was kept, as far as the walk has come."""

    remembered: RememberedCheckpoint
    agrees: bool = False
    warning: str = ""
    matched: int = 0
    """Entries whose leaves were compared."""
    _leaves: Iterator[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self._leaves = self.remembered.read_leaves()

    @property
    def good(self) -> int:
        """The first so many entries are certainly the ones that were kept."""
        return self.remembered.size if self.agrees else self.matched if self.remembered.vouched else 0

    def compare_entry(self, seq: int, leaf: Leaf | None) -> None:
        """Raises where this very entry is another one than was kept."""
        stored_hash = next(self._leaves, None)
        if stored_hash is None or leaf is None:
            return
        if stored_hash == leaf.hash:
            self.matched = seq
            return
        if self.remembered.has_true_leaves():
            raise _Broken(seq, f"entry {seq} was changed: it is not the one that {self.remembered.where} has")
        self.warning = f"the leaves beside {self.remembered.where} do not fit it, and were not used"
        self._leaves = iter(())


def blob_warnings(db: sqlite3.Connection, blobs: Blobs) -> tuple[str, ...]:
    """Kept blobs whose file is gone or holds something else."""
    warnings: list[str] = []
    for name, kind in db.execute("SELECT name, kind FROM blobs WHERE state = 'kept' ORDER BY name"):
        try:
            with blobs.path(name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != name:
                    warnings.append(f"blob {name} ({kind}) holds something else")
        except OSError as error:
            warnings.append(f"blob {name} ({kind}) can't be read: {error.strerror}")
    more = len(warnings) - MOST_WARNINGS
    return (*warnings[:MOST_WARNINGS], f"and {more} more blobs") if more > 0 else tuple(warnings)
