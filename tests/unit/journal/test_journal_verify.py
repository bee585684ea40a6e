"""The proof: whatever is done to the journal behind its back is found, and the first bad entry is named."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handrail.journal import Journal
from handrail.journal.head import Head, read_head
from handrail.journal.query import GENESIS, canonical_json, entry_hash
from handrail.journal.verify import ChainVerdict, verify
from tests.unit.journal.journalist import act, with_journal, write_actions

COLUMNS = ("at_ms", "hash", "kind", "action_id", "session", "device", "type", "terminal", "failed", "body")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Five actions of four events: twenty entries."""
    write_actions(tmp_path, 5)
    return tmp_path


def tamper(home: Path, *statements: str) -> None:
    db = sqlite3.connect(home / "handrail.db")
    with db:
        for statement in statements:
            db.execute(statement)
    db.close()


def verdict_of(home: Path, kept: Head | None = None) -> ChainVerdict:
    async def work(journal: Journal) -> ChainVerdict:
        return journal.verify(kept)

    return with_journal(home, work)


def test_an_untouched_journal_is_proved(home: Path) -> None:
    verdict = verdict_of(home)
    assert (verdict.ok, verdict.count, verdict.first_bad, verdict.warnings) == (True, 20, None, ())
    assert Head.parse(verdict.head) == Head(20, verdict.head_hash)


def test_an_empty_journal_is_proved(tmp_path: Path) -> None:
    assert verdict_of(tmp_path).ok


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("seq", [1, 9, 20])
def test_one_changed_letter_in_any_column_is_found_and_named(home: Path, column: str, seq: int) -> None:
    db = sqlite3.connect(home / "handrail.db")
    [value] = db.execute(f"SELECT {column} FROM journal WHERE seq = {seq}").fetchone()
    changed = value + 1 if isinstance(value, int) else "x" if value is None else value[:-1] + "é"
    db.execute(f"UPDATE journal SET {column} = ? WHERE seq = {seq}", (changed,))
    db.commit()
    db.close()
    verdict = verdict_of(home)
    assert (verdict.ok, verdict.first_bad) == (False, seq)


def test_a_deleted_entry_in_the_middle_is_found(home: Path) -> None:
    tamper(home, "DELETE FROM journal WHERE seq = 7")
    verdict = verdict_of(home)
    assert verdict.first_bad == 7
    assert verdict.why == "entry 7 is missing; the next one there is 8"


def test_the_first_entry_deleted_is_found(home: Path) -> None:
    tamper(home, "DELETE FROM journal WHERE seq = 1")
    assert verdict_of(home).first_bad == 1


CUTS: dict[str, tuple[str, ...]] = {
    "the last one": ("DELETE FROM journal WHERE seq = 20",),
    "the last five": ("DELETE FROM journal WHERE seq > 15",),
    "with the counter set back": (
        "DELETE FROM journal WHERE seq > 15",
        "UPDATE sqlite_sequence SET seq = 15 WHERE name = 'journal'",
    ),
    "all of them": ("DELETE FROM journal", "DELETE FROM sqlite_sequence WHERE name = 'journal'"),
}


@pytest.mark.parametrize("cut", CUTS)
def test_a_cut_tail_is_found_by_the_head_file(home: Path, cut: str) -> None:
    tamper(home, *CUTS[cut])
    verdict = verdict_of(home)
    first = verdict.count + 1
    assert (verdict.ok, verdict.first_bad) == (False, first)
    assert verdict.why == f"entries {first} to 20 are missing: the head file counts them"


@pytest.mark.parametrize("cut", CUTS)
def test_writing_on_after_a_cut_does_not_hide_it(home: Path, cut: str) -> None:
    tamper(home, *CUTS[cut])
    write_actions(home, 10)
    assert not verdict_of(home).ok


def put_head_back(home: Path, seq: int) -> None:
    """The head file as it was after this entry."""
    db = sqlite3.connect(home / "handrail.db")
    [own] = db.execute(f"SELECT hash FROM journal WHERE seq = {seq}").fetchone()
    db.close()
    (home / "journal.head").write_text(f"{seq:020d} {own}\n")


@pytest.mark.parametrize("left", [19, 15])
def test_a_tail_cut_together_with_its_head_is_found_by_the_count_of_all_that_was_written(
    home: Path, left: int
) -> None:
    put_head_back(home, left)
    tamper(home, f"DELETE FROM journal WHERE seq > {left}")
    verdict = verdict_of(home)
    assert (verdict.ok, verdict.count, verdict.first_bad) == (False, left, left + 1)
    assert verdict.why == f"20 entries were written, {left} are there"
    write_actions(home, 1)
    assert verdict_of(home).first_bad == left + 1, "writing on leaves a gap"


def test_a_tail_cut_together_with_its_head_and_count_is_found_by_a_head_kept_elsewhere(home: Path) -> None:
    kept = Head.parse(verdict_of(home).head)
    put_head_back(home, 16)
    tamper(
        home,
        "DELETE FROM journal WHERE seq > 16",
        "UPDATE sqlite_sequence SET seq = 16 WHERE name = 'journal'",
    )
    assert verdict_of(home).ok
    verdict = verdict_of(home, kept)
    assert verdict.first_bad == 17
    assert "kept" in str(verdict.why)


def test_an_entry_put_in_between_is_found(home: Path) -> None:
    tamper(
        home,
        "UPDATE journal SET seq = -seq WHERE seq > 8",
        "UPDATE journal SET seq = 1 - seq WHERE seq < 0",
        f"INSERT INTO journal SELECT 9, {', '.join(COLUMNS)} FROM journal WHERE seq = 8",
    )
    assert verdict_of(home).first_bad == 9


def test_two_entries_that_changed_places_are_found(home: Path) -> None:
    swap = ("UPDATE journal SET seq = -1 WHERE seq = 4", "UPDATE journal SET seq = 4 WHERE seq = 5")
    tamper(home, *swap, "UPDATE journal SET seq = 5 WHERE seq = -1")
    assert verdict_of(home).first_bad == 4


def test_a_chain_forged_from_one_entry_on_does_not_fit_the_head(home: Path) -> None:
    db = sqlite3.connect(home / "handrail.db")
    rows = db.execute("SELECT seq, at_ms, hash, body FROM journal ORDER BY seq").fetchall()
    previous = rows[8][2]
    for seq, at_ms, _, body in rows[9:]:
        event = json.loads(body) | {"forged": True}
        forged = canonical_json(event)
        previous = entry_hash(seq, at_ms, previous, forged)
        db.execute("UPDATE journal SET body = ?, hash = ? WHERE seq = ?", (forged, previous, seq))
    db.commit()
    db.close()
    verdict = verdict_of(home)
    assert verdict.first_bad == 10
    assert verdict.why == "entry 10 was changed: it is not the one in the tree"
    tamper(home, "DELETE FROM journal_leaves", "DELETE FROM journal_nodes")
    verdict = verdict_of(home)
    assert verdict.first_bad == 20
    assert "not the one that the head names" in str(verdict.why)


HEADS: dict[str, Callable[[Path], object]] = {
    "removed": lambda path: path.unlink(),
    "emptied": lambda path: path.write_text(""),
    "garbled": lambda path: path.write_bytes(b"\xff" * 86),
    "with another hash": lambda path: path.write_text(f"{20:020d} {'a' * 64}\n"),
    "ahead": lambda path: path.write_text(f"{21:020d} {'a' * 64}\n"),
    "of nothing, with a strange hash": lambda path: path.write_text(f"{0:020d} {'a' * 64}\n"),
    "longer than it should be": lambda path: path.write_text(path.read_text() + "x"),
}


@pytest.mark.parametrize("how", HEADS)
def test_a_replaced_head_file_is_found(home: Path, how: str) -> None:
    HEADS[how](home / "journal.head")
    assert not verdict_of(home).ok


@pytest.mark.parametrize("how", ["removed", "emptied", "garbled", "longer than it should be"])
def test_a_head_file_that_says_nothing_is_told_with_the_last_entry(home: Path, how: str) -> None:
    HEADS[how](home / "journal.head")
    verdict = verdict_of(home)
    assert (verdict.first_bad, verdict.why) == (20, "the head file is missing or can't be read")


@pytest.mark.parametrize("how", HEADS)
def test_a_replaced_head_file_stays_in_the_record_when_writing_goes_on(home: Path, how: str) -> None:
    HEADS[how](home / "journal.head")
    write_actions(home, 1)
    verdict = verdict_of(home)
    assert (verdict.ok, verdict.first_bad) == (False, 21)
    assert "the head file did not fit" in str(verdict.why)


def test_a_head_that_lags_is_what_a_killed_process_leaves_and_is_no_fault(home: Path) -> None:
    put_head_back(home, 18)
    assert verdict_of(home).ok
    write_actions(home, 1)
    assert verdict_of(home).ok
    assert (home / "journal.head").read_text().startswith(f"{24:020d} ")


def test_a_count_that_was_set_back_is_found_and_writing_goes_on(home: Path) -> None:
    tamper(home, "UPDATE sqlite_sequence SET seq = 15 WHERE name = 'journal'")
    verdict = verdict_of(home)
    assert (verdict.ok, verdict.first_bad, verdict.why) == (
        False,
        21,
        "15 entries were written, 20 are there",
    )
    write_actions(home, 1)
    assert verdict_of(home).count == 24


def test_an_entry_that_is_written_during_the_proof_does_not_disturb_it(home: Path) -> None:
    class Meanwhile(sqlite3.Connection):
        """Somebody writes just before the count of entries is read."""

        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if "sqlite_sequence" in sql:
                write_actions(home, 1)
            return super().execute(sql, *values)

    db = sqlite3.connect(home / "handrail.db", isolation_level=None, factory=Meanwhile)
    verdict = verify(db, home)
    db.close()
    assert (verdict.ok, verdict.count) == (True, 20)
    assert verdict_of(home).count == 24


def test_a_head_that_fits_no_entry_is_named_with_what_was_there(home: Path) -> None:
    (home / "journal.head").write_text(f"{20:020d} {'a' * 64}\n")
    last = verdict_of(home, None)
    assert last.why == f"entry 20 is not the one that the head names: {'a' * 64}"
    write_actions(home, 1)
    verdict = verdict_of(home)
    db = sqlite3.connect(home / "handrail.db")
    rows = dict(db.execute("SELECT seq, hash FROM journal WHERE seq IN (20, 25)").fetchall())
    kinds = db.execute("SELECT kind FROM journal WHERE seq = 21").fetchone()
    db.close()
    assert kinds == ("head_mismatch",), "the proof of a later version looks for it, too"
    assert verdict.why == (
        "entry 21 says that the head file did not fit: "
        f"it held 20:{'a' * 64}, the last entry was 20:{rows[20]}"
    )
    assert read_head(home / "journal.head") == Head(25, rows[25])


def test_without_entries_a_missing_head_is_no_damage(tmp_path: Path) -> None:
    async def work(journal: Journal) -> ChainVerdict:
        (tmp_path / "journal.head").unlink()
        return journal.verify()

    assert with_journal(tmp_path, work) == ChainVerdict(True, 0, GENESIS)


def test_a_damaged_database_file_is_a_verdict_and_not_a_crash(tmp_path: Path) -> None:
    write_actions(tmp_path, 60)
    file = tmp_path / "handrail.db"
    data = bytearray(file.read_bytes())
    for at in range(len(data) // 2 // 4096 * 4096, len(data), 4096):
        data[at : at + 8] = b"\xff" * 8  # the beginning of a page says what it is
    file.write_bytes(data)
    verdict = verdict_of(tmp_path)
    assert (verdict.ok, verdict.first_bad) == (False, verdict.count + 1)
    assert str(verdict.why).startswith("the database can't be read any further: ")


def test_a_blob_that_is_not_what_it_was_is_a_warning_of_its_own(tmp_path: Path) -> None:
    async def work(journal: Journal) -> tuple[str, str, str]:
        names = [await journal.put_blob(text, "tree") for text in (b"<one/>", b"<two/>", b"<three/>")]
        await act(journal, 1)
        return names[0], names[1], names[2]

    one, two, _ = with_journal(tmp_path, work)
    (tmp_path / "blobs" / one[:2] / one).write_bytes(b"<other/>")
    (tmp_path / "blobs" / two[:2] / two).unlink()
    verdict = verdict_of(tmp_path)
    assert verdict.ok
    assert sorted(verdict.warnings) == sorted(
        [
            f"blob {one} (tree) holds something else",
            f"blob {two} (tree) can't be read: No such file or directory",
        ]
    )


async def test_twenty_bad_blobs_are_named_and_the_others_counted(tmp_path: Path, journal: Journal) -> None:
    names = [await journal.put_blob(f"<tree n='{number}'/>".encode(), "tree") for number in range(22)]
    await journal.seal({"kind": "note"})
    for damaged in (20, 21, 22):
        for name in names[:damaged]:
            (tmp_path / "blobs" / name[:2] / name).unlink(missing_ok=True)
        warnings = journal.verify().warnings
        assert sum("can't be read" in warning for warning in warnings) == 20
        assert warnings[20:] == ((f"and {damaged - 20} more blobs",) if damaged > 20 else ())
    assert journal.verify(blobs=False).warnings == ()
