"""Waiting for screens, against a whole phone: what never rests, loads, comes late, or misleads."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.clock import Clock
from handrail.config import Helper
from handrail.engine.snapshot import MAY_REBOOT_MS
from handrail.protocol.envelope import Envelope
from handrail_sim.phone import Phone
from tests.scenario.studio import LENGTHS_MS, Studio
from tests.scenario.world import FastClock, World, play, until, usual_clock, world

ASYNC_RUNNER = play

TROUBLE = "com.handrail.trouble"
SETTINGS = "com.android.settings"
GALLERY = "com.handrail.gallery"
LAUNCHER = "com.android.launcher3"
STUDIO = Studio.package
EVERY_CHANNEL = ("none", *(pytest.param(helper, marks=pytest.mark.slow) for helper in ("u2", "handrail")))


def studio(clock: Clock | None = None) -> Phone:
    return Phone(clock=clock or usual_clock(), apps=["launcher", "settings", "trouble", Studio])


def assert_served(w: World, helper: Helper) -> None:
    assert w.session.surface.channels()["look"] == {"none": "adb", "u2": "u2", "handrail": "helper"}[helper]


def settled(envelope: Envelope) -> str:
    assert envelope.settle, envelope.to_json()
    return envelope.settle.reason


def dumps(w: World) -> int:
    """How often `uiautomator dump` was held up by the profile, which is how often it ran."""
    return sum(int(one["hits"]) for one in w.phone.faults.to_list() if one.get("command") == "uiautomator")


def texts(w: World) -> list[str]:
    seen = w.session.screens.last
    assert seen
    return [node.text for node in seen.screen.nodes if node.text]


@pytest.mark.parametrize("helper", EVERY_CHANNEL)
async def test_a_screen_that_never_stops_moving_settles_as_volatile(tmp_path: Path, helper: Helper) -> None:
    """Learned the first time, left out the second time; the button beside the ball works all the same."""
    # A dump of 150 ms counts as quiet in itself, and takes that long on a busy machine: slow the time.
    clock = FastClock(0.2) if helper == "none" else usual_clock()
    async with world(tmp_path, helper=helper, clock=clock) as w:
        assert_served(w, helper)
        await w.open(TROUBLE)
        first = await w.session.tap("Never still")
        assert settled(first) == "volatile", first.to_json()
        again = await w.session.long_press("Never still")
        assert settled(again) == "volatile", again.to_json()
        assert again.settle
        assert first.settle
        assert again.settle.ms < first.settle.ms
        assert not again.changes
        found = await w.session.tap("I found it")
        assert found.success
        assert w.app_state(TROUBLE)["done"] == ["found"]


@pytest.mark.parametrize("helper", EVERY_CHANNEL)
async def test_a_spinner_that_ends_is_waited_for(tmp_path: Path, helper: Helper) -> None:
    async with world(tmp_path, clock=FastClock(3), helper=helper) as w:
        assert_served(w, helper)
        await w.open(TROUBLE)
        done = await w.session.tap("Spinner that ends")
        assert settled(done) in ("quiet", "volatile"), done.to_json()
        assert done.settle
        assert "spinner" in (done.settle.loading or "")  # what was waited for
        assert "Continue" in texts(w)


async def test_a_spinner_that_never_ends_is_reported_after_its_budget(w: World) -> None:
    await w.open(TROUBLE)
    done = await w.session.tap("Spinner that never ends")
    assert settled(done) == "loading"
    assert done.settle
    assert "spinner" in (done.settle.loading or "")
    waited = await w.session.wait_for_stable(timeout_ms=1_000)
    assert waited.failure_code == "IDLE_TIMEOUT"
    assert "spinner" in (waited.message or "")


@pytest.mark.parametrize("helper", EVERY_CHANNEL)
@pytest.mark.parametrize("length", LENGTHS_MS)
async def test_an_animation_of_ten_frames_a_second_is_followed_to_its_end(
    tmp_path: Path, length: int, helper: Helper
) -> None:
    async with world(tmp_path, phone=studio(), helper=helper) as w:
        assert_served(w, helper)
        await w.open(STUDIO)
        done = await w.session.tap(f"Run {length}")
        assert settled(done) == "quiet", done.to_json()
        assert f"Ran {length}" in texts(w)
        assert not w.session.screens.volatile.nodes(w.session.screens.last.screen)  # type: ignore[union-attr]


async def test_waiting_for_a_stable_screen_follows_the_same_rules(tmp_path: Path) -> None:
    async with world(tmp_path, phone=studio()) as w:
        await w.open(STUDIO)
        await w.session.run({"type": "tap", "target": "Run 800"}, settle="light")
        done = await w.session.wait_for_stable()
        assert done.success, done.to_json()
        assert "Ran 800" in texts(w)
        await w.open(TROUBLE)
        await w.session.run({"type": "tap", "target": "Never still"}, settle="light")
        restless = await w.session.wait_for_stable()
        assert restless.success, restless.to_json()
        assert settled(restless) == "volatile"


async def test_on_hardware_a_tap_needs_two_dumps(tmp_path: Path) -> None:
    """One to find the target on a fresh screen; one that began after the dispatch counts as quiet."""
    async with world(tmp_path, clock=FastClock(20)) as w:
        await w.open(SETTINGS)
        w.phone.faults.add("hardware")
        await w.session.get_ui_tree()
        before = dumps(w)
        done = await w.session.tap("Display")
        assert done.success, done.to_json()
        assert dumps(w) - before <= 2
        assert done.settle
        assert done.settle.reads == 1
        assert done.changes
        before = dumps(w)
        back = await w.session.press_key("back")
        assert back.success, back.to_json()
        assert dumps(w) - before <= 1  # the last settled screen serves as the one before


async def test_on_hardware_a_switch_is_proved_by_one_dump(tmp_path: Path) -> None:
    clock = FastClock(20)
    async with world(tmp_path, clock=clock, phone=studio(clock)) as w:
        await w.open(STUDIO)
        w.phone.faults.add("hardware")
        done = await w.session.tap("Water")
        assert done.lifecycle_state == "verified", done.to_json()
        assert done.settle
        assert (done.settle.reads, done.settle.reason) == (1, "verified")


async def test_a_ticking_clock_does_not_keep_a_screen_awake_and_is_no_change(tmp_path: Path) -> None:
    async with world(tmp_path, phone=studio()) as w:
        await w.open(STUDIO)
        w.phone.faults.add("clock_ticks", ms=50)
        done = await w.session.tap("Nothing")
        assert settled(done) == "quiet", done.to_json()
        assert not done.changes
        back = await w.session.press_key("home")
        assert back.success


async def test_a_toast_that_comes_and_goes_is_news_and_teaches_nothing(tmp_path: Path) -> None:
    clock = FastClock(5)
    async with world(tmp_path, clock=clock, phone=studio(clock)) as w:
        await w.open(STUDIO)
        for _ in range(3):
            done = await w.session.tap("Toast")
            assert settled(done) == "quiet", done.to_json()
            gone = await w.session.wait_for({"absent": "Hello from below"}, timeout_ms=20_000)
            assert gone.success, gone.to_json()
        assert w.session.screens.last
        assert not w.session.screens.volatile.nodes(w.session.screens.last.screen)


async def test_a_dialog_that_pops_up_after_the_settle_is_found_by_the_next_look(tmp_path: Path) -> None:
    async with world(tmp_path, phone=studio()) as w:
        await w.open(STUDIO)
        done = await w.session.tap("Ask later")
        assert settled(done) == "quiet"
        await until(lambda: "Do you like this studio?" in w.phone.dump())
        told = await w.session.what_changed(done.revision_after)
        assert "Do you like this studio?" in told.details["text"]
        touched = len(w.inputs())
        under = await w.session.tap("Run 300")
        assert under.failure_code == "ELEMENT_NOT_INTERACTABLE", under.to_json()
        assert len(w.inputs()) == touched
        closed = await w.session.tap("Yes")
        assert settled(closed) == "quiet"
        assert "Do you like this studio?" not in texts(w)


async def test_a_slow_ticker_is_learned_and_left_out_of_what_changed(tmp_path: Path) -> None:
    clock = FastClock(5)
    async with world(tmp_path, clock=clock, phone=studio(clock)) as w:
        await w.open(STUDIO)
        await w.session.tap("Count")
        await w.session.wait_for({"text": {"target": {"id": "score"}, "equals": "Score 5"}})
        before = await w.session.get_ui_tree()
        assert before.details
        await until(lambda: "Score 7" in w.phone.dump())
        done = await w.session.tap("Nothing")
        assert not done.changes
        at_end = await w.session.swipe("up")
        assert at_end.failure_code == "NAVIGATION_NO_CHANGE", at_end.to_json()


async def test_a_switch_that_a_person_turned_between_two_actions_is_news(tmp_path: Path) -> None:
    async with world(tmp_path, phone=studio()) as w:
        await w.open(STUDIO)
        for _ in range(4):
            seen = await w.session.get_ui_tree()
            assert seen.details
            place = next(n for n in w.session.screens.last.screen.nodes if n.text == "Water").center  # type: ignore[union-attr]
            await w.phone.tap(*place)
            told = await w.session.what_changed(seen.details["revision"])
            assert "Water" in told.details["text"]


async def test_a_switch_that_flips_back_at_once_is_not_verified(tmp_path: Path) -> None:
    """The repeat comes 20 ms after the first read: what does not last so long was no change."""
    async with world(tmp_path, phone=studio()) as w:
        await w.open(STUDIO)
        done = await w.session.tap("Flashes")
        assert done.failure_code == "VERIFICATION_FAILED", done.to_json()
        assert done.delivery == "delivered"


async def test_a_switch_that_flips_back_later_is_told_by_the_next_look(tmp_path: Path) -> None:
    """Nobody can wait for every change of mind; the revision moves on, and `since` tells what happened."""
    async with world(tmp_path, phone=studio()) as w:
        await w.open(STUDIO)
        done = await w.session.tap("Flips back")
        assert done.lifecycle_state == "verified", done.to_json()
        await until(lambda: w.phone.dump().count('checked="true"') == 1)  # the radio button
        told = await w.session.what_changed(done.revision_after)
        assert "Flips back" in told.details["text"]


async def test_a_switch_that_takes_its_time_is_given_it(tmp_path: Path) -> None:
    async with world(tmp_path, phone=studio()) as w:
        await w.open(STUDIO)
        done = await w.session.tap("Slow")
        assert done.lifecycle_state == "verified", done.to_json()


async def test_a_radio_button_is_verified_when_it_is_chosen_and_when_it_was_already(tmp_path: Path) -> None:
    async with world(tmp_path, phone=studio()) as w:
        await w.open(STUDIO)
        chosen = await w.session.tap("Large")
        assert chosen.lifecycle_state == "verified"
        again = await w.session.tap("Large")
        assert again.lifecycle_state == "verified", again.to_json()


async def test_a_box_whose_row_moves_when_it_is_ticked_is_found_where_it_went(tmp_path: Path) -> None:
    async with world(tmp_path, phone=studio()) as w:
        await w.open(STUDIO)
        ref = await w.ref("Water")
        done = await w.session.tap("Water")
        assert done.lifecycle_state == "verified", done.to_json()
        assert texts(w).index("Water") > texts(w).index("Prune")
        back = await w.session.tap(ref)
        assert back.lifecycle_state == "verified", back.to_json()


async def test_a_lost_tap_on_a_switch_is_not_verified(tmp_path: Path) -> None:
    clock = FastClock(5)
    async with world(tmp_path, clock=clock, phone=studio(clock)) as w:
        await w.open(STUDIO)
        w.phone.faults.add("input_lost")
        done = await w.session.tap("Water")
        assert done.failure_code == "VERIFICATION_FAILED"
        assert "off" in (done.message or "")


@pytest.mark.parametrize("helper", EVERY_CHANNEL)
async def test_an_app_that_asks_for_a_permission_first_has_come_to_the_front(
    tmp_path: Path, helper: Helper
) -> None:
    async with world(tmp_path, helper=helper) as w:
        done = await w.session.start_app(GALLERY)
        assert done.lifecycle_state == "verified", done.to_json()
        assert done.verification
        assert done.verification.observed == f"a permission prompt of {GALLERY}"


async def test_back_on_the_home_screen_changes_nothing_and_says_so_after_a_full_settle(w: World) -> None:
    await w.session.press_key("home")
    done = await w.session.press_key("back")
    assert done.failure_code == "NAVIGATION_NO_CHANGE"
    assert settled(done) == "quiet"
    assert done.retryable


async def test_a_swipe_at_the_end_of_a_list_changes_nothing(w: World) -> None:
    await w.open(SETTINGS)
    for _ in range(10):
        done = await w.session.swipe("up")
        if not done.success:
            break
    assert done.failure_code == "NAVIGATION_NO_CHANGE", done.to_json()


@pytest.mark.parametrize("profile", ["", "hardware"])
async def test_a_reboot_ends_refs_and_never_gives_their_numbers_again(tmp_path: Path, profile: str) -> None:
    """Also where every look takes two seconds, so the one during the reboot is no slower."""
    clock = usual_clock()
    async with world(tmp_path, clock=clock) as w:
        if profile:
            w.phone.faults.add(profile)
        await w.open(SETTINGS)
        old = set(w.session.screens.registry.refs)
        ref = await w.ref("Display")
        w.phone.reboot()
        if not profile:
            await clock.sleep_ms(MAY_REBOOT_MS)
        await w.session.wait_for({"app": LAUNCHER}, timeout_ms=30_000)
        stale = await w.session.tap(ref)
        assert stale.failure_code == "STALE_REFERENCE", stale.to_json()
        await w.open(SETTINGS)
        assert not old & set(w.session.screens.registry.refs)
