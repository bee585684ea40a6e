"""Crashes are told with the line that says why; everything else that ends an app's screen is no crash."""

from __future__ import annotations

import pytest

from handrail.protocol.envelope import Envelope
from tests.scenario.world import World, play

ASYNC_RUNNER = play

TROUBLE = "com.handrail.trouble"
SETTINGS = "com.android.settings"
GALLERY = "com.handrail.gallery"


async def _make(w: World, trouble: str) -> Envelope:
    await w.open(TROUBLE)
    return await w.session.tap(trouble)


async def test_a_crash_is_told_with_its_exception(w: World) -> None:
    done = await _make(w, "Crash")
    assert (done.failure_code, done.delivery) == ("APP_CRASHED", "delivered"), done.to_json()
    assert "IllegalStateException: The lantern is not lit" in (done.message or "")
    assert done.details["package"] == TROUBLE
    assert any("FATAL EXCEPTION" in line for line in done.details["log"])
    assert done.ui_fingerprint_after is not None


async def test_a_process_that_is_gone_without_a_word_is_a_crash_too(w: World) -> None:
    done = await _make(w, "Silent death")
    assert done.failure_code == "APP_CRASHED", done.to_json()
    assert TROUBLE in (done.message or "")


async def test_an_app_that_does_not_answer_is_a_crash_with_its_dialog(w: World) -> None:
    assert (await _make(w, "Freeze")).success
    await w.session.tap("Spinner that ends")
    done = await w.session.tap("Never still", expect="I found it")
    assert done.failure_code == "APP_CRASHED", done.to_json()
    assert done.details["dialog"]["kind"] == "anr"


@pytest.mark.parametrize("key", ["home", "back", "recents"])
async def test_leaving_an_app_by_a_key_is_no_crash(w: World, key: str) -> None:
    await w.open(TROUBLE)
    done = await w.session.press_key(key)
    assert done.success, done.to_json()


async def test_another_app_a_stopped_app_and_a_page_of_the_settings_are_no_crash(w: World) -> None:
    await w.open(TROUBLE)
    assert (await w.session.start_app(SETTINGS)).success
    assert (await w.session.tap("Display")).success
    assert (await w.session.stop_app(SETTINGS)).success
    await w.open(TROUBLE)
    assert (await w.session.stop_app(TROUBLE)).success
    await w.open(TROUBLE)
    assert (await w.session.restart_app(TROUBLE)).success


async def test_a_permission_prompt_and_its_answer_are_no_crash(w: World) -> None:
    started = await w.session.start_app(GALLERY)
    assert started.failure_code != "APP_CRASHED"
    allow = await w.session.tap("Allow")
    assert allow.success, allow.to_json()
    assert (await w.session.expect_app(GALLERY)).success


async def test_an_old_crash_in_the_log_is_not_told_again(w: World) -> None:
    await _make(w, "Crash")
    closed = await w.session.tap("Close app")
    assert closed.success, closed.to_json()
    await w.open(TROUBLE)
    done = await w.session.tap("Late button")
    assert done.success, done.to_json()
