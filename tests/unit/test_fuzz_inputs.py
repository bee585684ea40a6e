"""A short run of the input fuzzer; the long one is `python tests/fuzz/inputs.py`."""

from __future__ import annotations

import pytest

from tests.fuzz.inputs import refused, run
from tests.unit.protocol.damage import mutants


def test_whatever_comes_in_is_read_or_refused_and_nothing_else_happens() -> None:
    tally = run(count=400, seed=20)
    assert sum(tally.outcomes.values()) == 400
    assert min(tally.outcomes[outcome] for outcome in ("read", "refused", "no JSON")) > 40


def test_the_same_seed_gives_the_same_inputs() -> None:
    assert list(mutants(200, seed=3)) == list(mutants(200, seed=3))


def test_an_error_that_is_not_ours_is_not_taken_for_a_refusal() -> None:
    with pytest.raises(ZeroDivisionError):
        refused(lambda: 1 // 0)
