"""The checks that peers fail, one story each: what a person would call "it did what it said"."""

from __future__ import annotations

import asyncio

from handrail.protocol.device import Tap
from tests.scenario.world import World, play, until

ASYNC_RUNNER = play

TROUBLE = "com.handrail.trouble"
CONTACTS = "com.google.android.contacts"
SETTINGS = "com.android.settings"


async def test_an_element_is_found_again_after_rows_were_inserted_above_it(w: World) -> None:
    """Check 2: the list shifts every 700 ms, the ref stays with its row."""
    await w.open(TROUBLE)
    await w.session.scroll_to("Shifting list")
    await w.session.tap("Shifting list")
    ref = await w.ref("Kestrel")
    added = lambda: w.phone.dump().count("Sparrow")  # noqa: E731
    before = added()
    await until(lambda: added() > before)
    done = await w.session.tap(ref)
    assert done.success, done.to_json()
    assert w.app_state(TROUBLE)["done"] == ["chose Kestrel"]
    assert w.app_state(TROUBLE)["missed"] == []


async def test_a_ref_whose_element_is_gone_is_stale_and_nothing_is_touched(w: World) -> None:
    """Check 2, second half."""
    await w.open(SETTINGS)
    ref = await w.ref("Display")
    await w.open(CONTACTS)
    touched = len(w.inputs())
    done = await w.session.tap(ref)
    assert done.failure_code == "STALE_REFERENCE"
    assert done.retryable
    assert "get_ui_tree" in (done.hint or "")
    assert done.delivery == "not_delivered"
    assert len(w.inputs()) == touched


async def test_a_failed_dump_is_not_absence(w: World) -> None:
    """Check 3."""
    await w.open(SETTINGS)
    w.phone.faults.add("dump_killed")
    done = await w.session.expect_absent("There is no such thing", timeout_ms=0)
    assert not done.success
    assert done.failure_code in ("ADB_COMMAND_ERROR", "TREE_PARSE_ERROR")


async def test_a_slow_dump_with_a_true_state_passes(w: World) -> None:
    """Check 4: the read takes longer than the time that was given."""
    await w.open(SETTINGS)
    w.phone.faults.add("latency", command="uiautomator", ms=2_000)
    done = await w.session.expect_visible("Display", timeout_ms=500)
    assert done.success, done.to_json()
    state = await w.session.expect_state("Display", "enabled", True, timeout_ms=0)
    assert state.success, state.to_json()


async def test_a_change_that_finished_before_the_wait_is_seen(w: World) -> None:
    """Check 5: by the wait's own baseline, and by revision."""
    await w.open(SETTINGS)
    seen = await w.session.get_ui_tree()
    revision = seen.details["revision"]
    w.phone.start_activity(package=CONTACTS)
    waited = await w.session.wait_for({"screen_changed": True}, timeout_ms=3_000)
    assert waited.success, waited.to_json()
    changed = await w.session.what_changed(revision)
    assert f"Screen changed: {SETTINGS} -> {CONTACTS}" in changed.details["text"]


async def test_two_equal_matches_are_ambiguous_and_listed(w: World) -> None:
    """Check 6."""
    await w.open(TROUBLE)
    touched = len(w.inputs())
    done = await w.session.tap({"id": "trouble"})
    assert done.failure_code == "AMBIGUOUS_TARGET"
    assert len(done.details["candidates"]) > 1
    assert all(one["ref"].startswith("@") for one in done.details["candidates"])
    assert len(w.inputs()) == touched
    chosen = await w.session.tap(done.details["candidates"][0]["ref"])
    assert chosen.success, chosen.to_json()


async def test_a_life_reaches_verified_and_is_linked_to_its_expectation(w: World) -> None:
    """Check 7."""
    await w.open(SETTINGS)
    listener = asyncio.ensure_future(_states(w.session.events(), 5))
    await asyncio.sleep(0)
    done = await w.session.run(Tap(target="Display", expect="Brightness level"))  # type: ignore[arg-type]
    assert done.lifecycle_state == "verified"
    assert done.verification
    assert done.verification.mode == "explicit"
    assert done.verification.outcome == "verified"
    states = await listener
    assert states == ["accepted", "resolved", "dispatched", "pending_verification", "verified"]
    wrong = await w.session.tap("Dark theme", expect="No such words")
    assert (wrong.lifecycle_state, wrong.failure_code) == ("failed", "VERIFICATION_FAILED")
    assert wrong.delivery == "delivered"
    terminal = [e for e in w.events() if e.get("action_id") == wrong.action_id and e["terminal"]]
    assert len(terminal) == 1


async def _states(events: object, count: int) -> list[str]:
    found = []
    async for event in events:  # type: ignore[attr-defined]
        found.append(event.state)
        if len(found) == count:
            break
    return found


async def test_a_connection_lost_in_mid_input_leaves_the_delivery_unknown(w: World) -> None:
    """Check 8: it may have arrived, so it is not retryable."""
    await w.open(SETTINGS)
    w.phone.faults.add("stream_reset", command="input", bytes=0, times=1)
    done = await w.session.tap("Display")
    assert not done.success
    assert done.delivery == "unknown"
    assert done.retryable is False
    assert done.ui_fingerprint_after is not None
