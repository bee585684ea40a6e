"""Expectations and waits: what was looked for, what was there, and never a guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.scenario.world import FastClock, World, play, until, world

ASYNC_RUNNER = play

SETTINGS = "com.android.settings"
CONTACTS = "com.google.android.contacts"
TROUBLE = "com.handrail.trouble"


async def _display(w: World) -> None:
    await w.open(SETTINGS)
    opened = await w.session.tap("Display", expect="Brightness level")
    assert opened.success, opened.to_json()


DARK_IS_OFF = {"state": {"target": "Dark theme", "property": "checked", "value": False}}
CONDITIONS: list[tuple[dict[str, Any] | str, bool]] = [
    ("Brightness level", True),
    ({"visible": "No such words"}, False),
    ({"absent": "No such words"}, True),
    ({"absent": "Brightness level"}, False),
    ({"text": {"target": {"id": "summary", "index": 0}, "equals": "40%"}}, True),
    ({"text": {"target": {"text_contains": "inactivity"}, "contains": "1 minute"}}, True),
    ({"text": {"target": "Brightness level", "equals": "Darkness"}}, False),
    (DARK_IS_OFF, True),
    ({"state": {"target": "Display brightness", "property": "value", "value": 40}}, True),
    ({"state": {"target": "Display brightness", "property": "value", "value": "41%"}}, False),
    ({"state": {"target": "Screen timeout", "property": "clickable", "value": True}}, True),
    ({"state": {"target": "Lock screen", "property": "clickable", "value": True}}, False),
    ({"state": {"target": "Dark theme", "property": "enabled", "value": True}}, True),
    ({"app": SETTINGS}, True),
    ({"app": CONTACTS}, False),
    ({"all": ["Brightness level", {"absent": "No such words"}, DARK_IS_OFF]}, True),
    ({"all": ["Brightness level", "No such words"]}, False),
    ({"any": ["No such words", DARK_IS_OFF]}, True),
    ({"any": ["No such words", {"app": CONTACTS}]}, False),
    ({"fingerprint": "zzzzzz"}, False),
]


async def test_every_kind_of_condition_is_judged_by_a_fresh_read(w: World) -> None:
    await _display(w)
    for condition, holds in CONDITIONS:
        done = await w.session.wait_for(condition, timeout_ms=0)
        assert done.success is holds, (condition, done.to_json())
        assert done.failure_code == (None if holds else "TIMEOUT")
        assert done.verification
        assert done.verification.outcome == ("verified" if holds else "failed")


async def test_a_condition_that_comes_true_is_waited_for(w: World) -> None:
    await w.open(TROUBLE)
    await w.session.tap("Late button")
    too_soon = await w.session.wait_for("Agree", timeout_ms=500)
    assert (too_soon.failure_code, too_soon.retryable) == ("TIMEOUT", True)
    there = await w.session.wait_for("Agree", timeout_ms=20_000)
    assert there.success, there.to_json()


async def test_several_matches_are_no_ambiguity_for_an_expectation(w: World) -> None:
    await w.open(TROUBLE)
    rows = await w.session.expect_visible({"id": "trouble"}, timeout_ms=0)
    assert rows.success, rows.to_json()
    inside = await w.session.expect_visible({"text": "Crash", "within": {"id": "trouble"}}, timeout_ms=0)
    assert inside.success, inside.to_json()
    text = await w.session.expect_text({"id": "title"}, equals="Freeze", timeout_ms=0)
    assert text.success, text.to_json()
    none = await w.session.expect_absent({"text": "Peace", "within": {"id": "trouble"}}, timeout_ms=0)
    assert none.success, none.to_json()


async def test_a_ref_is_followed_to_a_screen_that_was_not_read_yet(w: World) -> None:
    await w.open(TROUBLE)
    await w.session.scroll_to("Shifting list")
    await w.session.tap("Shifting list")
    ref = await w.ref("Kestrel")
    sparrows = w.phone.dump().count("Sparrow")
    await until(lambda: w.phone.dump().count("Sparrow") > sparrows)
    text = await w.session.expect_text(ref, equals="Kestrel", timeout_ms=0)
    assert text.success, text.to_json()
    await w.session.press_key("back")
    gone = await w.session.expect_absent(ref, timeout_ms=0)
    assert gone.success, gone.to_json()


async def test_a_failed_expectation_tells_both_sides_and_the_nearest(w: World) -> None:
    await _display(w)
    missing = await w.session.expect_visible("Dark themes", timeout_ms=0)
    assert missing.failure_code == "ASSERTION_FAILED"
    assert missing.details["candidates"][0]["label"] == "Dark theme"
    text = await w.session.expect_text("Brightness level", equals="Darkness", timeout_ms=0)
    assert (text.failure_code, text.verification and text.verification.observed) == (
        "ASSERTION_FAILED",
        "Brightness level",
    )
    state = await w.session.expect_state("Dark theme", "checked", True, timeout_ms=0)
    assert (state.failure_code, state.verification and state.verification.observed) == (
        "EXPECT_STATE_MISMATCH",
        False,
    )


@pytest.mark.parametrize(
    "activity",
    [
        "com.android.settings.Settings",
        "Settings",
        ".Settings",
        "settings.Settings",
        "com.android.settings/.Settings",
    ],
)
async def test_a_screen_is_known_by_its_activity_whole_or_by_its_last_part(w: World, activity: str) -> None:
    await w.open(SETTINGS)
    done = await w.session.expect_screen(activity=activity, timeout_ms=0)
    assert done.success, done.to_json()
    other = await w.session.expect_screen(activity="ings", timeout_ms=0)
    assert other.failure_code == "EXPECT_STATE_MISMATCH"


async def test_a_screen_is_known_by_its_fingerprint_and_an_app_by_its_package(w: World) -> None:
    await w.open(SETTINGS)
    seen = await w.session.get_ui_tree()
    here = seen.details["fingerprint"]
    assert (await w.session.expect_screen(here, timeout_ms=0)).success
    assert (await w.session.expect_app(SETTINGS, timeout_ms=0)).success
    await w.open(CONTACTS)
    elsewhere = await w.session.expect_screen(here, timeout_ms=0)
    other = await w.session.expect_app(SETTINGS, timeout_ms=0)
    assert elsewhere.failure_code == other.failure_code == "EXPECT_STATE_MISMATCH"
    assert other.verification
    assert other.verification.observed == CONTACTS


async def test_change_is_measured_from_the_wait_itself_when_nothing_was_read_before(w: World) -> None:
    still = await w.session.wait_for({"screen_changed": True}, timeout_ms=300)
    assert still.failure_code == "TIMEOUT"
    w.phone.start_activity(package=CONTACTS)
    changed = await w.session.wait_for({"screen_changed": True}, timeout_ms=3_000)
    assert changed.success, changed.to_json()


async def test_a_screen_that_keeps_loading_is_not_stable(w: World) -> None:
    await w.open(SETTINGS)
    assert (await w.session.wait_for_stable()).success
    w.phone.start_activity(component=f"{TROUBLE}/.EndlessActivity")
    done = await w.session.wait_for_stable(1_000)
    assert done.failure_code == "IDLE_TIMEOUT", done.to_json()
    assert "loading" in (done.message or "")


async def test_a_toast_that_the_helper_heard_is_a_change_a_condition_and_text(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(10), helper="handrail") as w:
        await w.open("com.handrail.notes")
        await w.session.tap("New note")
        done = await w.session.press_key("back", expect={"toast": "note discarded"})
        assert done.success, done.to_json()
        assert "Empty note discarded" in str(done.to_dict()), done.to_json()
        assert (await w.session.wait_for({"toast": "Empty"}, timeout_ms=500)).success
        await w.phone.clock.sleep_ms(4_000)
        gone = await w.session.wait_for({"toast": "Empty"}, timeout_ms=300)
        assert (gone.success, gone.failure_code) == (False, "TIMEOUT"), gone.to_json()
        assert gone.verification.observed == "no toast"
