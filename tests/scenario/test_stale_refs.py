"""A ref whose element is gone taps nothing, whatever has its label now; checked on the phone's input log."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.config import Helper
from tests.scenario.world import FastClock, World, play, world

pytestmark = pytest.mark.usefixtures("both_phones")

ASYNC_RUNNER = play

CONTACTS = "com.google.android.contacts"
SETTINGS = "com.android.settings"
CHANNELS = ("none", "u2")


async def _taps_nothing(w: World, ref: str) -> str:
    before = w.inputs()
    done = await w.session.tap(ref)
    assert (done.failure_code, done.delivery) == ("STALE_REFERENCE", "not_delivered"), done.to_json()
    assert w.inputs() == before
    return done.to_json()


@pytest.mark.parametrize("helper", CHANNELS)
async def test_an_icon_of_the_launcher_is_not_the_title_of_the_app(tmp_path: Path, helper: Helper) -> None:
    async with world(tmp_path, clock=FastClock(10), helper=helper) as w:
        icon = await w.ref("Contacts")
        await w.open(CONTACTS)
        assert "Contacts" in await _taps_nothing(w, icon)


@pytest.mark.parametrize("helper", CHANNELS)
async def test_a_row_is_not_the_title_of_the_page_that_it_opened(tmp_path: Path, helper: Helper) -> None:
    async with world(tmp_path, clock=FastClock(10), helper=helper) as w:
        await w.open(SETTINGS)
        row = await w.ref("Display")
        opened = await w.session.tap(row)
        assert opened.success, opened.to_json()
        await _taps_nothing(w, row)
        assert (await w.session.press_key("back")).success
        assert await w.ref("Display") == row  # the same row of the same screen
