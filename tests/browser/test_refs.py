"""A ref means its record or nothing, whatever a page does to its elements."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Play
from tests.browser.react_records import STEPS as REACT_STEPS
from tests.browser.react_records import react_page
from tests.browser.records import AWAY, PAGE, mutate
from tests.browser.stage import Stage

STEPS = 40


def test_no_ref_names_another_record_under_random_changes(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(PAGE)
        tally = await mutate(stage, STEPS, seed=1)
        assert tally.wrong == []
        assert tally.share >= 0.95, str(tally)

    play(story)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 5])
def test_no_ref_names_another_record_on_a_page_that_react_draws(play: Play, seed: int) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(react_page(stage.site))
        tally = await mutate(stage, STEPS, seed=seed, steps=REACT_STEPS)
        assert tally.wrong == []
        assert tally.share >= 0.95, str(tally)

    play(story)


def test_a_ref_outlives_a_visit_to_another_page(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(PAGE)
        await mutate(stage, 5, seed=2)
        tally = await mutate(stage, 1, seed=3, steps=(AWAY,))
        assert tally.wrong == []
        assert tally.shown > 0
        assert tally.share == 1, str(tally)

    play(story)
