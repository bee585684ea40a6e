"""A helper that dies between two looks is no change of the screen."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from handrail.config import Helper
from handrail_sim.apps import APPS, DEFAULT
from tests.scenario.people import PAY_RULE, asked, at_checkout
from tests.scenario.world import World, play, world

ASYNC_RUNNER = play

STARTED = [APPS[name].package for name in DEFAULT if name not in ("launcher", "browser")]
"""The launcher is home, and a page of the browser loads between two looks."""
HINTED = {"com.handrail.reactlab"}
"""Plain adb tells a hint as a field's text, so a field without a name gets another ref there."""
REF = re.compile(r"@[a-z]\d+")
HELPERS: tuple[Helper, ...] = ("u2", "handrail")


def kill(w: World) -> None:
    """Whatever a helper does from now on, it dies of it."""
    w.phone.faults.add("helper_dies")


@pytest.mark.slow
@pytest.mark.parametrize("helper", HELPERS)
@pytest.mark.parametrize("app", STARTED)
async def test_a_screen_is_the_same_one_after_its_helper_died(
    tmp_path: Path, helper: Helper, app: str
) -> None:
    async with world(tmp_path / "home", helper=helper) as w:
        await w.open(app)
        before = await w.session.get_ui_tree()
        assert w.session.surface.channels()["look"] != "adb"
        kill(w)
        after = await w.session.get_ui_tree()
        assert w.session.surface.channels()["look"] == "adb"
        assert after.details["fingerprint"] == before.details["fingerprint"]
        if app not in HINTED:
            assert set(REF.findall(str(after.details))) == set(REF.findall(str(before.details)))
        assert (await w.session.expect_screen(before.details["fingerprint"])).success


@pytest.mark.slow
@pytest.mark.parametrize("helper", HELPERS)
async def test_a_yes_that_was_asked_for_over_one_channel_counts_over_another(
    tmp_path: Path, helper: Helper
) -> None:
    async with world(tmp_path / "home", policy=PAY_RULE, helper=helper) as w:
        await at_checkout(w)
        task = asyncio.create_task(w.session.tap({"id": "pay"}))
        [one] = await asked(w)
        kill(w)
        await w.runtime.approvals.answer(one.id, True, "lena")
        done = await task
        assert done.success, done.to_json()
