"""A long run of the journal's promise under `kill -9`: `python tests/fuzz/journal.py [deaths]`."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from handrail.clock import SystemClock
from handrail.journal import Journal
from handrail.journal.merkle_store import tree_size
from handrail.store import connect
from tests.unit.engine.nursery import ROOT, Nursery
from tests.unit.journal.journalist import act

DEATHS_PER_HOME = 50
"""A journal grows with each life, and so does its proof; a new one is begun now and then."""


@dataclass
class Tally:
    """What the run saw."""

    deaths: int = 0
    answered: int = 0


def run(folder: Path, deaths: int, seed: int) -> Tally:
    """Kill writers, and look after each death whether the journal is whole."""
    tally = Tally()
    with Nursery(seed) as nursery:
        for number in range(deaths):
            home = folder / str(number // DEATHS_PER_HOME)
            answered = nursery.live_and_die(home, number)
            check(home, answered)
            tally.deaths += 1
            tally.answered += len(answered)
    return tally


def check(home: Path, answered: list[str]) -> int:
    """Raises unless the journal is proved and has an end for every answered action. Returns its length."""

    async def look() -> int:
        journal = Journal.open(home, SystemClock())
        try:
            verdict = journal.verify()
            assert verdict.ok, verdict
            assert not verdict.warnings, verdict
            with closing(connect(home / "handrail.db")) as db:
                assert tree_size(db) == verdict.count, "every entry has its leaf, and no leaf is without one"
            for action_id in answered:
                assert journal.show(action_id).envelope is not None, action_id
            return verdict.count
        finally:
            await journal.close()

    return asyncio.run(look())


def together(home: Path, processes: int, actions: int) -> list[str]:
    """Several processes write the same journal at the same time; returns what all of them were answered."""
    command = [sys.executable, __file__, "--write", str(home), str(actions)]
    writers = [
        subprocess.Popen([*command, str(number)], cwd=ROOT, stdout=subprocess.PIPE)
        for number in range(processes)
    ]
    printed = [writer.communicate()[0].decode() for writer in writers]
    assert all(writer.returncode == 0 for writer in writers)
    return [line for text in printed for line in text.splitlines()]


async def write(home: Path, actions: int, number: int) -> None:
    journal = Journal.open(home, SystemClock())
    for count in range(actions):
        name = number * 1_000_000 + count
        await act(journal, name)
        print(f"tap_1710000000000_{name}", flush=True)  # noqa: T201
    await journal.close()


def main(deaths: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tally = run(Path(folder), deaths, seed=60)
        print(f"{tally.deaths} writers killed: {tally.answered} answered actions, all there, all proved")  # noqa: T201
        answered = together(Path(folder) / "together", processes=4, actions=500)
        entries = check(Path(folder) / "together", answered)
        print(f"four processes at once: {len(answered)} actions, {entries} entries, one chain")  # noqa: T201


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        asyncio.run(write(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
