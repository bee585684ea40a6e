"""A ref means its record or nothing, whatever a page does to its elements."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Play
from tests.browser.react_records import SHAPES, react_page
from tests.browser.react_records import STEPS as REACT_STEPS
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
@pytest.mark.parametrize("shape", SHAPES)
def test_no_ref_names_another_record_on_a_page_that_react_draws(play: Play, shape: str) -> None:
    """Where a record is one element, a name that two of them have leaves nothing to tell them apart."""

    async def story(stage: Stage) -> None:
        await stage.goto(react_page(stage.site, shape))
        tally = await mutate(stage, STEPS // 2, seed=4, steps=REACT_STEPS)
        assert tally.wrong == []
        assert tally.share >= (0.9 if shape in ("buttons", "card") else 0.8), str(tally)

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
