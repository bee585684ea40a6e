"""A ref means its record or nothing, whatever a page does to its elements."""

from __future__ import annotations

from tests.browser.conftest import Play
from tests.browser.records import PAGE, mutate
from tests.browser.stage import Stage

STEPS = 40


def test_no_ref_names_another_record_under_random_changes(play: Play) -> None:
    async def story(stage: Stage) -> None:
        await stage.show(PAGE)
        tally = await mutate(stage, STEPS, seed=1)
        assert tally.wrong == []
        assert tally.share >= 0.95, f"{tally.kept} of {tally.shown} refs were kept"

    play(story)


def test_a_ref_outlives_a_visit_to_another_page(play: Play) -> None:
    async def story(stage: Stage) -> None:
        stage.site.put("<p>Elsewhere</p>", "/away")
        await stage.show(PAGE + "<a href=/away>Leave</a>", "/records")
        tally = await mutate(stage, 5, seed=2)
        text = await stage.ui()
        await stage.tap("Leave", expect="Elsewhere")
        await stage.act("press_key", key="back", expect="Records")
        again = await mutate(stage, 5, seed=3)
        assert tally.wrong + again.wrong == []
        kept = [
            line for line in text.splitlines() if line.strip().startswith("@") and line in await stage.ui()
        ]
        assert kept

    play(story)
