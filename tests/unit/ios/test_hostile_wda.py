"""Answers that no WebDriverAgent should give: no crash, no empty screen called good, no input twice."""

from __future__ import annotations

import pytest

from tests.scenario.world import play, usual_clock
from tests.unit.ios.hostile_wda import attempt


async def attempts(seeds: range) -> list[str]:
    clock = usual_clock()
    return [line for seed in seeds for line in await attempt(seed, clock)]


def test_broken_answers_end_in_an_error_or_in_what_was_really_there() -> None:
    wrong = play(attempts(range(150)))
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("part", range(8))
def test_many_broken_answers_end_in_an_error_or_in_what_was_really_there(part: int) -> None:
    wrong = play(attempts(range(1_000 + part * 1_000, 2_000 + part * 1_000)))
    assert not wrong, "\n".join(wrong[:20])
