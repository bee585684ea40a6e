"""Rewrites of the journal by somebody with its key, many: `python tests/fuzz/rewritten.py [attempts]`."""

from __future__ import annotations

import sys
import tempfile
from contextlib import closing
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))

from handrail.journal.checkpoint import RememberedCheckpoint
from handrail.journal.signed_log import JournalLog
from handrail.journal.verify import verify
from handrail.journal.witnesses import FolderWitness, WitnessRefused, cosign, remembered_elsewhere
from handrail.store import connect
from handrail_sim.clock import ManualClock
from tests.unit.journal.journalist import write_actions
from tests.unit.journal.rewriter import copy_of, first_difference, rewrite, rows_of, tampered


def attack(folder: Path, attempts: int, seed: int) -> int:
    """Each on a copy of one journal, of which a checkpoint was kept and a witness knows. How many."""
    random = Random(seed)
    home, disk = folder / "home", folder / "disk"
    disk.mkdir()
    write_actions(home, 6)
    log = JournalLog(home)
    signed = log.checkpoint()
    (folder / "kept").write_text(str(signed))
    (folder / "kept.leaves").write_bytes(log.leaf_hashes(0, signed.checkpoint.size))
    cosign(home, log, FolderWitness(disk), str(disk), ManualClock())
    log.close()
    before = rows_of(home)
    for number in range(attempts):
        rows = tampered(before, random)
        while (first := first_difference(before, rows)) > len(before):  # it only added to it
            rows = tampered(before, random)
        copy = copy_of(home, folder / "copy")
        rewrite(copy, rows)
        told = f"attempt {number} of seed {seed}, entry {first}"
        assert named(copy, RememberedCheckpoint.read(folder / "kept")) == first, told
        assert named(copy, None, disk) == first, told
        assert is_refused(copy, disk), told
    return attempts


def named(home: Path, kept: RememberedCheckpoint | None, disk: Path | None = None) -> int | None:
    """The entry that `verify` accuses."""
    with (
        closing(connect(home / "handrail.db")) as db,
        remembered_elsewhere(home, str(disk) if disk else None, None) as (known, _),
    ):
        return verify(db, home, None, [kept] if kept else known).first_bad


def is_refused(home: Path, disk: Path) -> bool:
    log = JournalLog(home)
    try:
        cosign(home, log, FolderWitness(disk), str(disk), ManualClock())
    except WitnessRefused:
        return True
    finally:
        log.close()
    return False


def main(attempts: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        seed = 170
        done = attack(Path(folder), attempts, seed)
        print(f"{done} rewrites, seed {seed}: the first changed entry was named each time")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
