"""An attacker with the database, the head file and the key rewrites everything and signs it again.

What was kept elsewhere names the first entry that was changed. The long run is `tests/fuzz/rewritten.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from handrail.journal.checkpoint import RememberedCheckpoint
from handrail.journal.head import read_head
from handrail.journal.journal import Journal
from handrail.journal.signed_log import JournalLog, Rewritten
from handrail.journal.verify import ChainVerdict
from handrail.journal.witnesses import FolderWitness, WitnessRefused, WitnessState, cosign
from handrail_sim.clock import ManualClock
from tests.fuzz.rewritten import attack
from tests.unit.adb.phones import until
from tests.unit.journal.journalist import act, with_journal, write_actions
from tests.unit.journal.rewriter import copy_of, first_difference, rewrite, rows_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_actions(tmp_path / "home", 5)
    return tmp_path / "home"


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


@contextmanager
def log_of(home: Path) -> Iterator[JournalLog]:
    log = JournalLog(home)
    try:
        yield log
    finally:
        log.close()


def keep(home: Path, path: Path, *, leaves: bool = True) -> RememberedCheckpoint:
    """What `journal checkpoint --out` writes."""
    with log_of(home) as log:
        signed = log.checkpoint()
        path.write_text(str(signed))
        if leaves:
            path.with_name(f"{path.name}.leaves").write_bytes(log.leaf_hashes(0, signed.checkpoint.size))
    return RememberedCheckpoint.read(path)


def witnessed(home: Path, disk: Path) -> None:
    with log_of(home) as log:
        cosign(home, log, FolderWitness(disk), str(disk), ManualClock())


def verdict(home: Path, *kept: RememberedCheckpoint, disk: Path | None = None) -> ChainVerdict:
    async def work(journal: Journal) -> ChainVerdict:
        return journal.verify(elsewhere=kept)

    return with_journal(home, work, witness=(str(disk), None) if disk else None)


def changed(home: Path, seq: int) -> None:
    rows = rows_of(home)
    at_ms, body = rows[seq - 1]
    rows[seq - 1] = (at_ms, body.replace("tester", "nobody").replace('"s1"', '"s2"'))
    assert first_difference(rows_of(home), rows) == seq
    rewrite(home, rows)


def test_without_anything_kept_elsewhere_a_rewrite_with_the_key_is_not_seen(home: Path) -> None:
    changed(home, 7)
    assert verdict(home).ok, "as the docs say; this is why a witness is needed"


@pytest.mark.parametrize("seq", [1, 7, 20])
def test_an_older_checkpoint_names_the_first_changed_entry(home: Path, tmp_path: Path, seq: int) -> None:
    kept = keep(home, tmp_path / "kept")
    assert verdict(home, kept).ok
    changed(home, seq)
    found = verdict(home, kept)
    assert (found.ok, found.first_bad, found.last_bad) == (False, seq, None)
    assert found.why == f"entry {seq} was changed: it is not the one that {tmp_path / 'kept'} has"


def test_a_checkpoint_without_its_leaves_names_the_range(home: Path, tmp_path: Path) -> None:
    early = keep(home, tmp_path / "early", leaves=False)
    write_actions(home, 3)
    late = keep(home, tmp_path / "late", leaves=False)
    changed(home, 25)
    found = verdict(home, late, early)
    assert (found.ok, found.first_bad, found.last_bad) == (False, 21, 32)
    assert found.why == f"one of entries 21 to 32 was changed: the root is not the one of {tmp_path / 'late'}"
    assert found.agrees == (f"{tmp_path / 'early'}: 20 entries",)


def test_leaves_that_do_not_fit_their_checkpoint_accuse_nobody(home: Path, tmp_path: Path) -> None:
    kept = keep(home, tmp_path / "kept")
    leaves = tmp_path / "kept.leaves"
    leaves.write_bytes(bytes(32) + leaves.read_bytes()[32:])
    found = verdict(home, kept)
    assert found.ok
    assert found.warnings == (f"the leaves beside {tmp_path / 'kept'} do not fit it, and were not used",)


def test_the_folder_of_a_witness_names_the_first_changed_entry(home: Path, disk: Path) -> None:
    witnessed(home, disk)
    changed(home, 7)
    found = verdict(home, disk=disk)
    assert (found.ok, found.first_bad) == (False, 7)


def test_a_tail_cut_off_with_everything_that_counts_it_is_named(home: Path, disk: Path) -> None:
    witnessed(home, disk)
    rewrite(home, rows_of(home)[:15])
    assert verdict(home).ok
    found = verdict(home, disk=disk)
    assert (found.first_bad, found.count) == (16, 15)
    assert "entries 16 to 20 are missing" in str(found.why)


def test_the_witness_refuses_a_fork_and_doctor_hears_of_it(home: Path, disk: Path) -> None:
    witnessed(home, disk)
    changed(home, 7)
    write_actions(home, 2)
    with pytest.raises(WitnessRefused):
        witnessed(home, disk)
    state = WitnessState.read(home, str(disk))
    assert (state.refused, state.size) == (True, 20)
    with log_of(home) as log:
        kept = FolderWitness(disk).remembered(log.signer().name, log, disk)
    assert kept.size == 20, "what it has stays what it was"


def test_an_honest_program_does_not_sign_over_what_it_signed(home: Path) -> None:
    """Without the key's use by the attacker: the home's own checkpoint is enough."""
    with log_of(home) as log:
        log.checkpoint()
        signed = (home / "journal.checkpoint").read_bytes()
        changed(home, 7)
        (home / "journal.checkpoint").write_bytes(signed)
        with pytest.raises(Rewritten, match="the first 20 entries"):
            log.checkpoint()
    assert verdict(home).last_bad == 20


def test_random_rewrites_are_named_by_checkpoint_and_witness(tmp_path: Path) -> None:
    assert attack(tmp_path, attempts=12, seed=17) == 12


@pytest.mark.slow
def test_a_hundred_random_rewrites_are_named_by_checkpoint_and_witness(tmp_path: Path) -> None:
    assert attack(tmp_path, attempts=100, seed=18) == 100


def test_a_changed_leaf_or_node_of_the_tree_is_found(tmp_path: Path) -> None:
    write_actions(tmp_path / "home", 70)
    for number, statement in enumerate(
        (
            "UPDATE journal_leaves SET leaves = zeroblob(length(leaves)) WHERE first = 1",
            "DELETE FROM journal_leaves WHERE first = 5",
            "UPDATE journal_nodes SET hash = zeroblob(32)",
            "DELETE FROM journal_nodes",
        )
    ):
        copy = copy_of(tmp_path / "home", tmp_path / str(number))
        db = sqlite3.connect(copy / "handrail.db")
        assert db.execute(statement).rowcount > 0
        db.commit()
        db.close()
        found = verdict(copy)
        assert not found.ok, statement
        assert found.first_bad in (1, 5)
        write_actions(copy, 1)
        assert read_head(copy / "journal.head").count == 284, "a damaged tree stops no record"  # type: ignore[union-attr]


def test_a_process_with_a_witness_tells_it_what_it_writes(home: Path, disk: Path) -> None:
    async def work(journal: Journal) -> None:
        await act(journal, 50)
        await until(lambda: WitnessState.read(home, str(disk)).size == 24)

    with_journal(home, work, witness=(str(disk), None))
    assert verdict(home, disk=disk).agrees[-1].endswith("checkpoint: 24 entries")


def test_a_witness_that_is_away_delays_nothing_and_is_told_later(home: Path, disk: Path) -> None:
    disk.rmdir()

    async def work(journal: Journal) -> None:
        await act(journal, 50)

    with_journal(home, work, witness=(str(disk), None))
    disk.mkdir()
    witnessed(home, disk)
    assert WitnessState.read(home, str(disk)) == WitnessState(str(disk), 24, ManualClock().now_ms())


def test_two_who_write_down_what_a_witness_said_at_once_do_not_take_each_others_file(tmp_path: Path) -> None:
    """The background and a command of the same home: each wrote `witness.next` and renamed it."""

    def write(size: int) -> None:
        for _ in range(100):
            WitnessState("disk", size).write(tmp_path)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))  # raises what a thread raised
    assert [path.name for path in tmp_path.iterdir()] == ["witness.json"]
    assert WitnessState.read(tmp_path, "disk").size in range(4)
