"""The tree in the store: the RFC's root at every size, in step with the entries, whoever wrote them."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from handrail.journal import merkle
from handrail.journal.journal import Journal
from handrail.journal.merkle_store import Tree, add_missing_leaves, stored_leaves, tree_size
from handrail.journal.signed_log import JournalLog
from handrail.journal.writer import last_entry
from handrail.store import connect
from tests.unit.adb.phones import until
from tests.unit.journal import naive
from tests.unit.journal.journalist import act, with_journal, write_actions


def leaf(salt: bytes, seq: int, at_ms: int, prior: str, body: str) -> bytes:
    """As docs/journal.md says it, without our code."""
    return hashlib.sha256(b"\x00" + f"{salt.hex()}\n{seq}\n{at_ms}\n{prior}\n{body}".encode()).digest()


def leaves_of(db: sqlite3.Connection) -> list[bytes]:
    """Made from the entries and their salts alone."""
    made: list[bytes] = []
    last: dict[str, bytes] = {}
    salts = [one.salt for one in stored_leaves(db, 1, tree_size(db))]
    rows = db.execute("SELECT seq, at_ms, action_id, body FROM journal ORDER BY seq")
    for seq, at_ms, action_id, body in rows:
        prior = last[action_id].hex() if action_id in last else ""
        made.append(leaf(salts[seq - 1], seq, at_ms, prior, body))
        if action_id is not None:
            last[action_id] = made[-1]
    return made


def without_tree(home: Path) -> None:
    """As a version without one left it."""
    db = sqlite3.connect(home / "handrail.db")
    db.execute("DROP TABLE journal_leaves")
    db.execute("DROP TABLE journal_nodes")
    db.execute("UPDATE parts SET version = 1 WHERE name = 'journal'")
    db.commit()
    db.close()


def test_the_root_is_the_rfcs_at_every_size_that_the_journal_had(tmp_path: Path) -> None:
    write_actions(tmp_path, 150)
    with closing(connect(tmp_path / "handrail.db")) as db:
        made, tree = leaves_of(db), Tree(db)
        assert len(made) == 600 == tree_size(db)
        assert [one.hash for one in stored_leaves(db, 1, 600)] == made
        for size in (*range(0, 600, 7), 255, 256, 257, 511, 512, 513, 600):
            assert tree.root(size) == naive.root(made[:size])
        for old, new in ((1, 600), (256, 257), (300, 512), (511, 600), (512, 600)):
            assert merkle.consistency_path(tree.at, old, new) == naive.proof(old, made[:new])
            assert merkle.inclusion_path(tree.at, old, new) == naive.path(old, made[:new])


def test_many_entries_in_one_commit_cross_many_tiles(tmp_path: Path) -> None:
    async def work(journal: Journal) -> None:
        for number in range(1_500):
            journal.note({"kind": "note", "number": number})
        await journal.seal({"kind": "note"})

    with_journal(tmp_path, work)
    with closing(connect(tmp_path / "handrail.db")) as db:
        assert Tree(db).root(1_501) == naive.root(leaves_of(db))
        assert db.execute("SELECT count(*) FROM journal_nodes").fetchone()[0] == 5


def test_equal_entries_have_leaves_that_nobody_can_guess(tmp_path: Path) -> None:
    async def work(journal: Journal) -> None:
        for _ in range(3):
            await journal.seal({"kind": "note", "at_ms": 1})

    with_journal(tmp_path, work)
    with closing(connect(tmp_path / "handrail.db")) as db:
        found = list(stored_leaves(db, 1, 3))
    assert len({one.salt for one in found}) == 3
    body = '{"at_ms":1,"kind":"note"}'
    assert all(one.hash != leaf(b"", seq, 1, "", body) for seq, one in enumerate(found, 1))


def test_a_journal_of_0_1_verifies_as_before_and_is_taken_up(tmp_path: Path) -> None:
    write_actions(tmp_path, 50)
    without_tree(tmp_path)

    async def look(journal: Journal) -> bool:
        return journal.verify().ok

    assert with_journal(tmp_path, look), "before anything was taken up"
    told: list[tuple[int, int]] = []
    log = JournalLog(tmp_path, lambda done, of: told.append((done, of)))
    signed = log.checkpoint()
    log.close()
    assert told[0] == (0, 200)
    with closing(connect(tmp_path / "handrail.db")) as db:
        assert signed.checkpoint.root == naive.root(leaves_of(db))
    assert with_journal(tmp_path, look)


def test_a_few_entries_without_leaves_are_taken_up_with_the_next_one(tmp_path: Path) -> None:
    write_actions(tmp_path, 5)
    without_tree(tmp_path)
    write_actions(tmp_path, 1)
    with closing(connect(tmp_path / "handrail.db")) as db:
        assert tree_size(db) == 24
        assert Tree(db).root(24) == naive.root(leaves_of(db))


def test_a_long_journal_is_taken_up_in_steps_beside_new_entries(tmp_path: Path) -> None:
    async def fill(journal: Journal) -> None:
        for number in range(3_000):
            journal.note({"kind": "note", "number": number})
        await journal.seal({"kind": "note"})

    with_journal(tmp_path, fill)
    without_tree(tmp_path)

    async def work(journal: Journal) -> None:
        with closing(connect(tmp_path / "handrail.db")) as db:
            await act(journal, 1)
            assert 0 < tree_size(db) < 3_001, "the first entry did not wait for all others"
            await until(lambda: tree_size(db) == last_entry(db).count)
            assert Tree(db).root(3_005) == naive.root(leaves_of(db))
            await act(journal, 2)
            assert tree_size(db) == 3_009

    with_journal(tmp_path, work)


def test_entries_that_are_gone_leave_their_places(tmp_path: Path) -> None:
    write_actions(tmp_path, 5)
    without_tree(tmp_path)
    with closing(connect(tmp_path / "handrail.db")) as db:
        db.execute("DELETE FROM journal WHERE seq IN (7, 20)")
    write_actions(tmp_path, 1)
    with closing(connect(tmp_path / "handrail.db")) as db:
        assert tree_size(db) == 25, "with the entry that tells of the cut"
        assert add_missing_leaves(db, 25, 10) == 0
        found = [one.hash for one in stored_leaves(db, 1, 25)]
        assert found[6] == found[19] == naive.leaf(b"missing")


@pytest.mark.parametrize("left", [3, 255, 300])
def test_a_tree_that_is_longer_than_the_entries_follows_them(tmp_path: Path, left: int) -> None:
    write_actions(tmp_path, 130)
    with closing(connect(tmp_path / "handrail.db")) as db:
        db.execute("DELETE FROM journal WHERE seq > ?", (left,))
        db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'journal'", (left,))
    write_actions(tmp_path, 1)
    with closing(connect(tmp_path / "handrail.db")) as db:
        assert tree_size(db) == left + 5
        assert Tree(db).root(left + 5) == naive.root(leaves_of(db))
