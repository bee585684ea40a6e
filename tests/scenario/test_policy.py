"""A rule on a label sees the element under the finger, however an action names it, before the dispatch."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from handrail.config import Config
from handrail.protocol.device import Drag, PressKey, Swipe
from handrail.protocol.target import Point
from tests.scenario.people import PAY_RULE, answered, asked, at_checkout
from tests.scenario.world import FastClock, World, play, until, world

ASYNC_RUNNER = play

DENY_RULE = PAY_RULE.replace('"ask"', '"deny"').replace('remember = "always"', "")
WAYS = ("text", "ref", "point", "double_tap", "long_press", "swipe", "drag", "press_key")


async def pay_by(w: World, way: str) -> Any:
    """One action that would press the button that pays."""
    node = next(n for n in w.session.screens.last.screen.nodes if n.resource_id.endswith("/pay"))  # type: ignore[union-attr]
    x, y = node.bounds.center
    session = w.session
    match way:
        case "text":
            return await session.tap({"text_contains": "Pay"})
        case "ref":
            return await session.tap(await w.ref("Pay"))
        case "point":
            return await session.tap({"x": x, "y": y})
        case "double_tap":
            return await session.double_tap({"id": "pay"})
        case "long_press":
            return await session.long_press({"x": x, "y": y})
        case "swipe":
            return await session.run(Swipe(from_=Point(x=x, y=y), to=Point(x=x + 4, y=y), duration_ms=20))
        case "drag":
            return await session.run(Drag(from_=Point(x=x, y=y), to=Point(x=x, y=y - 400)))
        case _:
            return await session.run(PressKey(key="enter"))


async def focus_pay(w: World) -> None:
    """By keys, as a keyboard does it."""
    await w.session.tap({"id": "gift"})
    for _ in range(8):
        seen = await w.session.get_ui_tree()
        assert seen.success
        screen = w.session.screens.last.screen  # type: ignore[union-attr]
        if any(n.focused and n.resource_id.endswith("/pay") for n in screen.nodes):
            return
        await w.session.press_key("tab")
    raise AssertionError("the button never got the focus")


@pytest.mark.parametrize("way", WAYS)
async def test_a_rule_on_a_label_catches_every_way_to_press_it(tmp_path: Path, way: str) -> None:
    async with world(tmp_path, clock=FastClock(10), policy=DENY_RULE) as w:
        await at_checkout(w)
        if way == "press_key":
            await focus_pay(w)
        touched = len(w.inputs())
        done = await pay_by(w, way)
        assert done.failure_code == "ACTION_REJECTED", done.to_json()
        assert done.delivery == "not_delivered"
        assert done.details["rule"] == "payments"
        assert len(w.inputs()) == touched


@pytest.mark.parametrize("key", ["066", "023", "062", "0160", 160, "KEYCODE_BUTTON_A", "KEYCODE_NUMPAD_5"])
async def test_no_spelling_of_a_key_presses_what_a_rule_denies(tmp_path: Path, key: str | int) -> None:
    """Keys were compared as strings, and the phone reads numbers."""
    async with world(tmp_path, clock=FastClock(10), policy=DENY_RULE) as w:
        await at_checkout(w)
        await focus_pay(w)
        touched = len(w.inputs())
        done = await w.session.run({"type": "press_key", "key": key})
        assert done.failure_code == "ACTION_REJECTED", done.to_json()
        assert len(w.inputs()) == touched


@pytest.mark.parametrize("within", ["id", "point"])
async def test_a_scroll_within_a_button_does_not_press_it(tmp_path: Path, within: str) -> None:
    async with world(tmp_path, clock=FastClock(10), policy=DENY_RULE) as w:
        await at_checkout(w)
        screen = w.session.screens.last.screen  # type: ignore[union-attr]
        pay = next(n for n in screen.nodes if n.resource_id.endswith("/pay"))
        x, y = pay.bounds.center
        for direction in ("left", "right", "up", "down"):
            where = {"id": "pay"} if within == "id" else {"x": x, "y": y}
            await w.session.scroll_to("No such row", within=where, direction=direction)
        assert not [
            i for i in w.inputs() if i["action"] in ("down", "up") and pay.bounds.holds(i["x"], i["y"])
        ]


@pytest.mark.parametrize("way", ["swipe", "drag", "press_key"])
async def test_what_only_a_finger_or_a_key_finds_is_asked_about_before_it_moves(
    tmp_path: Path, way: str
) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        if way == "press_key":
            await focus_pay(w)
        touched = len(w.inputs())
        task = asyncio.create_task(pay_by(w, way))
        [one] = await asked(w)
        assert one.request.label.startswith("Pay")
        assert len(w.inputs()) == touched
        await w.runtime.approvals.answer(one.id, True, "lena")
        done = await task
        assert done.success, done.to_json()
        assert done.approval.id == one.id


@pytest.mark.parametrize("way", ["text", "ref", "point"])
async def test_ask_blocks_before_the_dispatch_and_a_yes_runs_it_once(tmp_path: Path, way: str) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        task = asyncio.create_task(pay_by(w, way))
        [one] = await asked(w)
        assert one.request.label.startswith("Pay")
        assert one.request.why == "it costs money"
        assert w.runtime.journal.blob(one.request.screenshot or "")
        assert w.inputs() == []
        assert not task.done()
        await w.runtime.approvals.answer(one.id, True, "lena")
        done = await task
        assert done.success, done.to_json()
        assert done.approval.id == one.id
        assert (done.approval.decision, done.approval.by) == ("approved", "lena")
        assert [i["action"] for i in w.inputs()].count("down") == 1


async def test_a_tap_beside_the_button_is_nobodys_business(tmp_path: Path) -> None:
    async with world(tmp_path, policy=DENY_RULE) as w:
        await at_checkout(w)
        assert (await w.session.tap({"id": "gift"})).success


async def test_a_remembered_yes_lands_in_the_permissions_file_and_counts_in_the_next_process(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        done = await answered(w, w.session.tap({"id": "pay"}), remember="always")
        assert done.success, done.to_json()
        assert done.approval
        assert done.approval.remembered
        permissions = Config.from_env({"HANDRAIL_HOME": str(tmp_path)}).permissions
        [(key, word)] = json.loads(permissions.read_text()).items()
        assert key.startswith("tap:com.handrail.shop/Pay")
        assert word == "allow"
    async with world(tmp_path) as w:
        await at_checkout(w)
        again = await w.session.tap({"id": "pay"})
        assert again.success, again.to_json()
        assert again.approval is None


async def test_an_agents_own_dialog_writes_nothing_that_policy_reads(tmp_path: Path) -> None:
    async with world(tmp_path, policy=PAY_RULE) as w:
        await at_checkout(w)
        label = (await asked_label(w)).request.label
        w.runtime.permissions.remember_for_agent("agent", "tap", f"com.handrail.shop/{label}", True)
        w.runtime.permissions.remember_for_agent("x", "tap", None, True)
        touched = len(w.inputs())
        task = asyncio.create_task(w.session.tap({"id": "pay"}))
        await asked(w)
        assert len(w.inputs()) == touched
        await w.session.end_actions()
        await task


async def asked_label(w: World) -> Any:
    """What policy calls the button: asked for once, and withdrawn."""
    task = asyncio.create_task(w.session.tap({"id": "pay"}))
    [one] = await asked(w)
    await w.session.end_actions()
    await task
    return one


async def test_policy_sees_the_focus_of_now_on_a_slow_channel_too(tmp_path: Path) -> None:
    """A screen that is old enough to compare with is too old to decide on."""
    async with world(tmp_path, clock=FastClock(20), policy=DENY_RULE) as w:
        await at_checkout(w)
        await focus_pay(w)
        focused = w.phone.dump()
        w.phone.start_activity(package="com.android.settings")
        w.phone.faults.add("latency", command="uiautomator", ms=400)
        assert (await w.session.get_ui_tree()).success
        w.phone.start_activity("com.handrail.shop/.CheckoutActivity")
        await until(lambda: w.phone.dump() == focused)
        touched = len(w.inputs())
        done = await w.session.press_key("enter")
        assert done.failure_code == "ACTION_REJECTED", done.to_json()
        assert len(w.inputs()) == touched
