"""The Merkle tree over the journal's entries, in the store beside them; entry N is leaf N - 1.

An append writes one row with the leaves of its entries, and one hash for every 256 of them: the cost does not
grow with the journal. Everything between is computed when a proof is made. Entries that a version without a
tree wrote are taken up later, in steps.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from handrail.errors import VerificationFailed
from handrail.journal import merkle
from handrail.journal.merkle import leaf_hash

TREE_STEP = """
    CREATE TABLE journal_leaves (
        first INTEGER PRIMARY KEY,
        leaves BLOB NOT NULL
    ) STRICT;
    CREATE TABLE journal_nodes (
        level INTEGER NOT NULL,
        number INTEGER NOT NULL,
        hash BLOB NOT NULL,
        PRIMARY KEY (level, number)
    ) STRICT, WITHOUT ROWID
"""
"""`first` is the number of the entry whose leaf begins the row."""

SALT_BYTES = 16
LEAF_BYTES = SALT_BYTES + merkle.HASH_BYTES
TILE_LEVELS = 8
TILE = 1 << TILE_LEVELS
"""Leaves, or nodes of one stored level, below one node of the next stored level."""
AT_ONCE = 512
"""Entries that one step of taking up writes: nobody waits longer for the store than that takes."""
NO_SALT = bytes(SALT_BYTES)
MISSING = leaf_hash(b"missing")
"""The leaf of an entry that was gone before the tree had it. No entry has this leaf: its data has lines."""


class TreeDamaged(VerificationFailed):
    """A leaf that should be there is not."""

    hint = "`handrail journal verify` says what was changed."


TreeEntry = tuple[int, int, str | None, str]
"""What a leaf is made from: number, time, action and body of an entry."""


class Leaf(NamedTuple):
    """A leaf's hash, and the random bytes without which nobody can guess its entry from it."""

    salt: bytes
    hash: bytes


def leaf_of(entry: TreeEntry, salt: bytes, prior: bytes | None) -> bytes:
    """`prior` is the leaf of the same action's entry before: so the last leaf vouches for all of them."""
    seq, at_ms, _, body = entry
    before = prior.hex() if prior else ""
    return sha256(f"\x00{salt.hex()}\n{seq}\n{at_ms}\n{before}\n{body}".encode()).digest()


class LastLeaves:
    """The last leaf of each action so far; what is not remembered is looked up."""

    MOST = 10_000

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.prior_leaves: dict[str | None, bytes | None] = {}

    def of(self, entry: TreeEntry) -> bytes | None:
        seq, _, action_id, _ = entry
        if action_id is None:
            return None
        if action_id not in self.prior_leaves:
            self.look_up({action_id}, seq - 1)
        return self.prior_leaves[action_id]

    def forget(self) -> None:
        """What is stored by now need not be remembered; constant memory, however many actions."""
        if len(self.prior_leaves) > self.MOST:
            self.prior_leaves.clear()

    def look_up(self, action_ids: set[str], last: int) -> None:
        """The newest stored leaf of each, among the entries up to `last`: one question for all of them."""
        for start in range(0, len(action_ids), AT_ONCE):
            some = list(action_ids)[start : start + AT_ONCE]
            self.prior_leaves.update(dict.fromkeys(some))
            places = ", ".join("?" * len(some))
            newest = f"SELECT action_id, max(seq) FROM journal WHERE action_id IN ({places})"  # noqa: S608
            rows = self._db.execute(f"{newest} AND seq <= ? GROUP BY action_id", (*some, last))
            for action_id, seq in rows.fetchall():
                self.prior_leaves[action_id] = next(stored_leaves(self._db, seq, seq)).hash


def tree_size(db: sqlite3.Connection) -> int:
    """How many entries the tree has."""
    row = db.execute(
        "SELECT first, length(leaves) FROM journal_leaves ORDER BY first DESC LIMIT 1"
    ).fetchone()
    return row[0] - 1 + row[1] // LEAF_BYTES if row else 0


def add_leaves_of_entries(db: sqlite3.Connection, size: int, entries: Sequence[TreeEntry]) -> bool:
    """Their leaves, in the caller's transaction. False where many entries before them have none yet.

    A damaged tree stops no record: its entries stay without leaves, and the proof says so.
    """
    try:
        before = entries[0][0] - 1
        if size > before:  # entries were cut off: the tree follows what is there, and no witness will sign it
            cut_tree(db, before)
        elif size < before:
            add_missing_leaves(db, before, AT_ONCE)
            if tree_size(db) < before:
                return False
        priors = LastLeaves(db)
        priors.look_up({action_id for _, _, action_id, _ in entries if action_id is not None}, before)
        _append_leaves(db, before, _leaves_of(entries, priors))
        return True
    except TreeDamaged:
        return False


def add_missing_leaves(db: sqlite3.Connection, until: int, most: int) -> int:
    """Leaves for entries that have none, up to number `until`, in the caller's transaction. How many."""
    size = tree_size(db)
    end = min(until, size + most)
    rows = db.execute(
        "SELECT seq, at_ms, action_id, body FROM journal WHERE seq > ? AND seq <= ? ORDER BY seq", (size, end)
    )
    entries_by_seq: dict[int, TreeEntry] = {row[0]: tuple(row) for row in rows}
    wanted = [entries_by_seq.get(seq) for seq in range(size + 1, end + 1)]
    _append_leaves(db, size, _leaves_of(wanted, LastLeaves(db)))
    return len(wanted)


def _leaves_of(entries: Sequence[TreeEntry | None], priors: LastLeaves) -> list[bytes]:
    """Salt and hash of each; None is an entry that is missing."""
    salts = os.urandom(SALT_BYTES * len(entries))
    prior_leaves = priors.prior_leaves
    new_leaves: list[bytes] = []
    for start, entry in zip(range(0, len(salts), SALT_BYTES), entries, strict=True):
        if entry is None:
            new_leaves.append(NO_SALT + MISSING)
            continue
        salt, action_id = salts[start : start + SALT_BYTES], entry[2]
        prior = prior_leaves[action_id] if action_id in prior_leaves else priors.of(entry)
        leaf = leaf_of(entry, salt, prior)
        if action_id is not None:
            prior_leaves[action_id] = leaf
        new_leaves.append(salt + leaf)
    return new_leaves


def _append_leaves(db: sqlite3.Connection, size: int, new_leaves: Sequence[bytes]) -> None:
    for start in range(0, len(new_leaves), TILE):
        some = b"".join(new_leaves[start : start + TILE])
        db.execute("INSERT INTO journal_leaves VALUES (?, ?)", (size + 1 + start, some))
    # A hash for every tile that became full, on as many levels as did.
    old = size
    new = size + len(new_leaves)
    tree = Tree(db)
    level = 0
    while old >> TILE_LEVELS != new >> TILE_LEVELS:
        old, new, level = old >> TILE_LEVELS, new >> TILE_LEVELS, level + TILE_LEVELS
        hashes = (
            (level, number, merkle.root_of_complete_subtree(tree.tile(level, number)))
            for number in range(old, new)
        )
        db.executemany("INSERT OR REPLACE INTO journal_nodes VALUES (?, ?, ?)", list(hashes))


def cut_tree(db: sqlite3.Connection, size: int) -> None:
    """Removes all leaves after the first `size`."""
    db.execute("DELETE FROM journal_leaves WHERE first > ?", (size,))
    db.execute(
        "UPDATE journal_leaves SET leaves = substr(leaves, 1, (? - first + 1) * ?)"
        " WHERE first = (SELECT max(first) FROM journal_leaves)",
        (size, LEAF_BYTES),
    )
    db.execute("DELETE FROM journal_nodes WHERE ((number + 1) << level) > ?", (size,))


def stored_leaves(db: sqlite3.Connection, first: int, last: int) -> Iterator[Leaf]:
    """Yields the leaves of the entries from number `first` to `last`, as they are stored."""
    for data in _read_salts_and_hashes(db, first, last):
        for at in range(0, len(data), LEAF_BYTES):
            yield Leaf(data[at : at + SALT_BYTES], data[at + SALT_BYTES : at + LEAF_BYTES])


def leaf_hashes(db: sqlite3.Connection, first: int, last: int) -> Iterator[bytes]:
    """The hashes of these leaves, without their salts."""
    for data in _read_salts_and_hashes(db, first, last):
        for at in range(SALT_BYTES, len(data), LEAF_BYTES):
            yield data[at : at + merkle.HASH_BYTES]


def _read_salts_and_hashes(db: sqlite3.Connection, first: int, last: int) -> Iterator[bytes]:
    """Salts and hashes, row by row."""
    rows = db.execute(
        "SELECT first, leaves FROM journal_leaves WHERE first <= ? AND first >="
        " coalesce((SELECT max(first) FROM journal_leaves WHERE first <= ?), 1) ORDER BY first",
        (last, first),
    )
    wanted = first
    for start, data in rows:
        count = len(data) // LEAF_BYTES
        if not start <= wanted < start + count:
            break
        end = min(count, last - start + 1)
        yield data[(wanted - start) * LEAF_BYTES : end * LEAF_BYTES]
        wanted = start + end
    if wanted <= last:
        raise TreeDamaged(f"the journal's tree has no leaf for entry {wanted}")


class Tree:
    """Hashes of complete subtrees as proofs need them, read by whole tiles; good for one transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._tiles: dict[tuple[int, int], list[Sequence[bytes]]] = {}

    def at(self, level: int, number: int) -> bytes:
        """The hash at this level and number, as the functions of `merkle` ask for it."""
        inner = level % TILE_LEVELS
        tile = number >> (TILE_LEVELS - inner)
        rows = self._tile(level - inner, tile)
        while len(rows) <= inner:
            below = rows[-1]
            pairs = range(0, len(below) - 1, 2)
            rows.append([merkle.node_hash(below[at], below[at + 1]) for at in pairs])
        return rows[inner][number - (tile << (TILE_LEVELS - inner))]

    def tile(self, level: int, number: int) -> Sequence[bytes]:
        """What stands below node `number` of a stored level; as much as there is of it."""
        return self._tile(level - TILE_LEVELS, number)[0]

    def _tile(self, level: int, number: int) -> list[Sequence[bytes]]:
        """A tile's own row, and the rows above it as far as anybody asked."""
        if (level, number) not in self._tiles:
            first = number << TILE_LEVELS
            if level == 0:
                read = list(leaf_hashes(self._db, first + 1, min(first + TILE, tree_size(self._db))))
            else:
                order = "SELECT hash FROM journal_nodes WHERE level = ? AND number >= ? AND number < ?"
                rows = self._db.execute(f"{order} ORDER BY number", (level, first, first + TILE))
                read = [row[0] for row in rows]
            self._tiles[level, number] = [read]
        return self._tiles[level, number]

    def root(self, size: int) -> bytes:
        return merkle.root_of_span(self.at, 0, size)
