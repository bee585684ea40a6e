"""A person's yes is for one action on one screen, once; everything else is a no."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from handrail.safety.approval_store import AskedApproval
from tests.scenario.people import BANK, PAY_RULE, answered, asked, at_checkout, command, found_in
from tests.scenario.world import FastClock, World, on_both_phones, play, play_live, until, world

ASYNC_RUNNER = play

SETTINGS = "com.android.settings"


def presses(w: World) -> int:
    return sum(event.get("action") == "down" for event in w.inputs())


@on_both_phones
async def test_a_no_dispatches_nothing_and_says_who_and_why(tmp_path: Path) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        task = asyncio.create_task(w.session.tap({"id": "pay"}))
        [one] = await asked(w)
        await w.runtime.approvals.answer(one.id, False, "lena", note="too expensive")
        done = await task
        assert done.failure_code == "ACTION_REJECTED"
        assert done.delivery == "not_delivered"
        assert "lena said no: too expensive" in (done.message or "")
        assert done.approval
        assert done.approval.decision == "denied"
        assert presses(w) == 0


@on_both_phones
async def test_nobody_answers_in_time(tmp_path: Path) -> None:
    clock = FastClock(10)
    async with world(tmp_path, policy=PAY_RULE, clock=clock) as w:
        await at_checkout(w)
        task = asyncio.create_task(w.session.tap({"id": "pay"}))
        [one] = await asked(w)
        clock.speed *= 10_000
        done = await task
        clock.speed = 10
        assert done.failure_code == "ACTION_REJECTED"
        assert done.approval
        assert (done.approval.id, done.approval.decision) == (one.id, "expired")
        assert presses(w) == 0


@on_both_phones
async def test_a_yes_for_one_action_is_useless_for_another(tmp_path: Path) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        tap = asyncio.create_task(w.session.tap({"id": "pay"}))
        [first] = await asked(w)
        press = asyncio.create_task(w.session.long_press({"id": "pay"}))
        [_, second] = await asked(w, 2)
        assert first.request.digest != second.request.digest
        await w.runtime.approvals.answer(second.id, True, "lena")
        assert (await press).success
        assert presses(w) == 1
        assert not tap.done()
        assert [one.id for one in await w.runtime.approvals.pending()] == [first.id]
        await w.session.end_actions()
        assert (await tap).failure_code == "CANCELLED"
        assert presses(w) == 1


async def approve_after(w: World, one: AskedApproval, change: str) -> None:
    match change:
        case "another screen":
            w.phone.start_activity(package=SETTINGS)
        case "another text in a field":
            assert (await w.session.type_text("Mallory", target={"id": "name"})).success
            assert (await w.session.press_key("back")).success  # the keyboard
        case "another state":
            assert (await w.session.tap({"id": "gift"})).success
    await w.runtime.approvals.answer(one.id, True, "lena")


@pytest.mark.parametrize("change", ["another screen", "another text in a field", "another state"])
async def test_a_yes_is_useless_after_the_screen_changed(tmp_path: Path, change: str) -> None:
    """Also when the agent itself changed it while the person was thinking."""
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        task = asyncio.create_task(w.session.tap({"id": "pay"}))
        [one] = await asked(w)
        before = await _paid(w)
        await approve_after(w, one, change)
        done = await task
        assert done.failure_code == "ACTION_REJECTED", done.to_json()
        assert "changed" in (done.message or "")
        assert done.delivery == "not_delivered"
        assert await _paid(w) == before
        kept = await w.runtime.approvals.get(one.id)
        assert kept.consumed_ms is None


async def _paid(w: World) -> int:
    """Presses that reached the button."""
    node = {"id": "pay"}
    found = await w.session.expect_visible(node, timeout_ms=0)
    if not found.success:
        return 0
    box = next(n.bounds for n in w.session.screens.last.screen.nodes if n.id_tail == "pay")  # type: ignore[union-attr]
    downs = [event for event in w.inputs() if event.get("action") == "down"]
    return sum(box.left <= e["x"] < box.right and box.top <= e["y"] < box.bottom for e in downs)


@on_both_phones
async def test_others_act_while_a_person_thinks_and_a_late_yes_finds_the_target_again(tmp_path: Path) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        ref = await w.ref("Pay")
        task = asyncio.create_task(w.session.tap(ref))
        [one] = await asked(w)
        assert (await w.session.start_app(SETTINGS)).success
        await at_checkout(w)
        assert presses(w) == 0
        await w.runtime.approvals.answer(one.id, True, "lena")
        done = await task
        assert done.success, done.to_json()
        assert presses(w) == 1


@on_both_phones
async def test_a_yes_is_used_once_and_asked_for_again_the_next_time(tmp_path: Path) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        first = await answered(w, w.session.tap({"id": "pay"}))
        assert first.success, first.to_json()
        task = asyncio.create_task(w.session.tap({"id": "pay"}))
        [second] = await asked(w)
        assert first.approval
        assert second.id != first.approval.id
        assert presses(w) == 1
        await w.session.end_actions()
        await task


@on_both_phones
async def test_a_yes_that_came_too_late_is_not_kept_for_the_next_time(tmp_path: Path) -> None:
    """Only the questions of a process that died are gone on with."""
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        first = asyncio.create_task(w.session.tap({"id": "pay"}))
        [unused] = await asked(w)
        await approve_after(w, unused, "another screen")
        assert (await first).failure_code == "ACTION_REJECTED"
        await at_checkout(w)
        second = asyncio.create_task(w.session.tap({"id": "pay"}))
        new = await until(lambda: second.done() or w.runtime.approvals.pending())
        assert not second.done(), "it was done with the yes to the first"
        assert [one.id == unused.id for one in new] == [False]
        assert [one.request.digest for one in new] == [unused.request.digest]
        assert presses(w) == 0
        await w.session.end_actions()
        await second


@on_both_phones
async def test_the_same_action_twice_at_once_is_asked_about_twice(tmp_path: Path) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        taps = [asyncio.create_task(w.session.tap({"id": "pay"})) for _ in range(2)]
        one, two = await asked(w, 2)
        assert one.request.digest == two.request.digest
        await w.runtime.approvals.answer(one.id, True, "lena")
        await w.runtime.approvals.answer(two.id, False, "lena")
        done = await asyncio.gather(*taps)
        assert sorted(one.approval.decision for one in done if one.approval) == ["approved", "denied"]
        assert presses(w) == 1


@on_both_phones
def test_a_yes_from_another_process_counts(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path, policy=PAY_RULE) as w:
            await at_checkout(w)
            task = asyncio.create_task(w.session.tap({"id": "pay"}))
            [one] = await asked(w)
            code, said = await command(tmp_path, "approve", one.id, "--by", "lena")
            assert code == 0, said
            done = await task
            assert done.success, done.to_json()
            assert presses(w) == 1

    play_live(story())


# request_human_auth


@on_both_phones
def test_a_code_from_a_person_is_typed_by_placeholder_and_seen_by_nobody(tmp_path: Path) -> None:
    async def story() -> None:
        async with world(tmp_path) as w:
            await w.open(BANK)
            asking = asyncio.create_task(
                w.session.request_human_auth("Enter the code.", capability="2fa", reason="I sign in")
            )
            [one] = await asked(w)
            assert one.request.reason == "I sign in"
            code, said = await command(tmp_path, "approve", one.id, "--data", "7744112235")
            assert code == 0, said
            done = await asking
            assert done.success, done.to_json()
            assert done.details
            placeholder = done.details["data"]
            assert re.fullmatch(r"\$\{secret:\w+\}", placeholder)
            typed = await w.session.type_text(placeholder, target={"id": "customer"})
            assert typed.success, typed.to_json()
            assert "7744112235" in w.phone.dump()
            assert "7744112235" not in typed.to_json() + done.to_json()
            seen = await w.session.get_ui_tree()
            assert "7744112235" not in seen.to_json()
        assert found_in(tmp_path, "7744112235") == []

    play_live(story())


@on_both_phones
async def test_a_yes_without_data_is_enough(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        done = await answered(w, w.session.request_human_auth("Please answer.", capability="biometric"))
        assert done.success, done.to_json()
        assert done.details == {"approved": True, "data": None}
        assert done.lifecycle_state == "verified"
        assert done.approval
        assert done.approval.by == "lena"


@on_both_phones
async def test_plain_data_comes_as_it_is(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        place = {"lat": 53.54, "lon": 9.98}
        done = await answered(
            w, w.session.request_human_auth("Please answer.", capability="location"), data=place
        )
        assert done.details
        assert done.details["data"] == place


@on_both_phones
@pytest.mark.parametrize("how", ["denied", "expired", "stopped"])
async def test_a_question_that_nobody_says_yes_to_fails_the_action(tmp_path: Path, how: str) -> None:
    clock = FastClock(10)
    async with world(tmp_path, clock=clock) as w:
        task = asyncio.create_task(
            w.session.request_human_auth("Please answer.", capability="sms", timeout_sec=60)
        )
        [one] = await asked(w)
        assert one.expires_ms - one.created_ms == 60_000
        if how == "denied":
            await w.runtime.approvals.answer(one.id, False, "lena")
        elif how == "stopped":
            await w.session.end_actions()
        else:
            clock.speed *= 10_000
        done = await task
        clock.speed = 10
        assert done.failure_code == ("CANCELLED" if how == "stopped" else "ACTION_REJECTED")
        assert done.lifecycle_state == "failed"
        kept = await w.runtime.approvals.get(one.id)
        assert kept.state == {"denied": "denied", "expired": "expired", "stopped": "withdrawn"}[how]
