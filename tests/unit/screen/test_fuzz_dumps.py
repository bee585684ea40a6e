"""A short run of the dump fuzzer; the long one is `python tests/fuzz/dumps.py`."""

from __future__ import annotations

from tests.fuzz.dumps import mutants, run


def test_damaged_dumps_are_read_or_refused_and_nothing_else_happens() -> None:
    tally = run(count=200, seed=20)
    assert sum(tally.outcomes.values()) == 200
    assert min(tally.outcomes["read"], tally.outcomes["mended"], tally.outcomes["refused"]) > 20


def test_the_same_seed_gives_the_same_damage() -> None:
    assert list(mutants(20, seed=3)) == list(mutants(20, seed=3))
