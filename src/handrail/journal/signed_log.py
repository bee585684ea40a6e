"""The journal as a log that strangers can check: signs its state, proves one action, compares two states."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from handrail.errors import VerificationFailed
from handrail.journal import merkle
from handrail.journal.checkpoint import Checkpoint, RememberedCheckpoint, SignedCheckpoint, replace_durably
from handrail.journal.head import locked
from handrail.journal.merkle import BadProof
from handrail.journal.merkle_store import (
    AT_ONCE,
    Tree,
    add_missing_leaves,
    leaf_hashes,
    stored_leaves,
    tree_size,
)
from handrail.journal.proof import ActionProof, InclusionProof, SaltedEntry
from handrail.journal.query import show_action
from handrail.journal.signed_note import LOG, BadNote, Note, Signature, SigningKey
from handrail.journal.signing_key import HandOver, KeyRefused, LogKeys, keys_for, make_key
from handrail.journal.writer import STEPS, last_entry, store_path
from handrail.store import connect, migrate, transaction

NAME = "handrail/journal"
"""How the name of every journal begins; what follows is random, so that no two have the same."""
Progress = Callable[[int, int], None]
"""Told how many entries the tree has, of how many."""


class Rewritten(VerificationFailed):
    """The journal does not continue what was signed before."""

    hint = "`handrail journal verify` names the first entry that was changed. Nothing was signed."


class JournalLog:
    """Signs and proves. The connection is its own; close it."""

    def __init__(self, home: Path, progress: Progress | None = None) -> None:
        self.keys = LogKeys(home)
        self._last = home / "journal.checkpoint"
        self._db = connect(store_path(home))
        migrate(self._db, "journal", STEPS)
        self._progress = progress

    def close(self) -> None:
        self._db.close()

    # signing

    def checkpoint(self) -> SignedCheckpoint:
        """The newest state, signed. Raises `Rewritten` if it does not continue the last one."""
        self.add_missing_leaves()
        with self._locked():
            key, last = self.signer(), self.last()
            with self._reading():
                tree, size = Tree(self._db), tree_size(self._db)
                self._check_continues(tree, size, last)
                current = Checkpoint(key.name, size, tree.root(size))
            if last is not None and last.note.text == current.text:
                signers = {signature.id for signature in last.note.signatures}
                if key.verifier.id in signers:
                    return last  # with the witnesses' signatures that it has by now
            return self._remember(SignedCheckpoint(current, Note.signed(current.text, key)))

    def add_cosignatures(self, original: SignedCheckpoint, more: list[Signature]) -> SignedCheckpoint:
        """The same checkpoint, also signed by witnesses; kept if it is still the last one."""
        signed = SignedCheckpoint(original.checkpoint, original.note.with_signatures(more))
        with self._locked():
            last = self.last()
            return self._remember(signed) if last and last.note.text == original.note.text else signed

    def last(self) -> SignedCheckpoint | None:
        """The last one that was signed here."""
        return remembered.signed if (remembered := self.last_remembered()) else None

    def last_remembered(self) -> RememberedCheckpoint | None:
        return RememberedCheckpoint.read(self._last) if self._last.exists() else None

    def signer(self) -> SigningKey:
        """The key, made if this is the first signature."""
        if (key := self.keys.signer()) is not None:
            return key
        if self._last.exists() or self.keys.hand_overs():
            raise KeyRefused(
                f"{self.keys.path} is gone, and the journal was signed before",
                hint=f"Put the key back from a copy, or start a new log: mv {self._last} {self._last}.old",
            )
        return make_key(self.keys.path, LOG, NAME)

    def rotate_key(self) -> HandOver:
        """A new key from this size on. The caller writes the note into the journal."""
        last = self.checkpoint()
        with self._locked():
            return self.keys.hand_over(self.signer(), last.checkpoint)

    def _check_continues(self, tree: Tree, size: int, last: SignedCheckpoint | None) -> None:
        if last is None:
            return
        earlier = last.checkpoint
        if size < earlier.size:
            raise Rewritten(f"the journal has {size} entries, and {earlier.size} were signed before")
        if tree.root(earlier.size) != earlier.root:
            raise Rewritten(f"the first {earlier.size} entries are not the ones that were signed before")

    def _remember(self, signed: SignedCheckpoint) -> SignedCheckpoint:
        replace_durably(self._last, str(signed).encode())
        return signed

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process signs at a time: two could sign two states of the same size, or make two keys."""
        self.keys.folder.mkdir(mode=0o700, exist_ok=True)
        with locked(self.keys.folder / ".lock", os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX):
            yield

    # the tree

    def add_missing_leaves(self) -> None:
        """Leaves for entries that a version without a tree wrote."""
        while True:
            end, size = last_entry(self._db).count, tree_size(self._db)
            if size >= end:
                return
            if self._progress is not None:
                self._progress(size, end)
            with transaction(self._db):
                add_missing_leaves(self._db, end, AT_ONCE)

    def leaf_hashes(self, first: int, end: int) -> bytes:
        """Joins the hashes of the leaves from `first`, counted from 0, to before `end`."""
        return b"".join(leaf_hashes(self._db, first + 1, end))

    def size(self) -> int:
        return tree_size(self._db)

    def consistency(self, old: int, new: int) -> list[bytes]:
        """The proof that the first `old` of `new` entries stayed what they were."""
        with self._reading():
            self._check_has_entries(new)
            return merkle.consistency_path(Tree(self._db).at, old, new)

    def root(self, size: int) -> bytes:
        with self._reading():
            self._check_has_entries(size)
            return Tree(self._db).root(size)

    def _check_has_entries(self, size: int) -> None:
        if (there := tree_size(self._db)) < size:
            raise Rewritten(f"the journal has {there} entries, not {size}")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """A read transaction: one state of the store, whoever writes meanwhile."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    # proofs

    def prove(self, action: str | int) -> ActionProof:
        """All entries of one action, by its id or the number of one of them."""
        numbers = [event["seq"] for event in show_action(self._db, action).events]
        last = self.last()
        signed = last if last and last.checkpoint.size >= numbers[-1] else self.checkpoint()
        with self._reading():
            size = signed.checkpoint.size
            self._check_continues(Tree(self._db), tree_size(self._db), signed)
            path = merkle.inclusion_path(Tree(self._db).at, numbers[-1] - 1, size)
            entries = []
            for seq in numbers:
                row = self._db.execute("SELECT at_ms, body FROM journal WHERE seq = ?", (seq,)).fetchone()
                entries.append(SaltedEntry(seq, row[0], next(stored_leaves(self._db, seq, seq)).salt, row[1]))
        proof = ActionProof(tuple(entries), InclusionProof(numbers[-1] - 1, tuple(path), signed))
        try:
            proof.check(keys_for(self.keys.trusted(), size))
        except (BadNote, BadProof) as error:
            raise Rewritten(f"entries of this action are not what they were: {error}") from None
        return proof

    def places(
        self, numbers: Iterable[int], signed: SignedCheckpoint
    ) -> dict[int, tuple[bytes, list[bytes]]]:
        """Of many entries: the leaf of each, and its path to the root of one checkpoint."""
        size = signed.checkpoint.size
        with self._reading():
            self._check_has_entries(size)
            tree = Tree(self._db)
            return {
                seq: (next(leaf_hashes(self._db, seq, seq)), merkle.inclusion_path(tree.at, seq - 1, size))
                for seq in numbers
            }

    def actions_of(self, actor: str, device: str, after: int) -> dict[str, int]:
        """What this actor did on this device since an entry: each action, and its last entry so far."""
        order = (
            "SELECT action_id, max(seq) FROM journal WHERE action_id IN (SELECT action_id FROM journal"
            " WHERE seq > ? AND device = ? AND kind = 'accepted' AND json_extract(body, '$.actor.id') = ?)"
            " GROUP BY action_id"
        )
        return dict(self._db.execute(order, (after, device, actor)).fetchall())
