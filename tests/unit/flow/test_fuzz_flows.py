"""A short run of the flow fuzzer; the long one is `python tests/fuzz/flows.py`."""

from __future__ import annotations

from tests.fuzz.flows import inputs, run


def test_whatever_comes_in_is_read_or_refused_and_nothing_else_happens() -> None:
    tally = run(count=250, seed=5)
    assert sum(tally.outcomes.values()) == 250
    assert min(tally.outcomes[outcome] for outcome in ("read", "refused")) > 20


def test_the_same_seed_gives_the_same_flows() -> None:
    assert list(inputs(100, seed=3)) == list(inputs(100, seed=3))
