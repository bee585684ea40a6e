"""The journal tells every life once, to its one end: who, through which door, why, by whose leave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from handrail.config import Config
from handrail.protocol.envelope import NEXT, Envelope
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from handrail_sim.shell.processes import processes_of
from tests.scenario.people import PAY_RULE, answered, at_checkout, lives
from tests.scenario.world import FastClock, World, live, play, until, world

ASYNC_RUNNER = play

SETTINGS = "com.android.settings"
ALLOW = '[[rule]]\nname = "all"\naction = "shell"\nverdict = "allow"\n'
DEVICE_CODES = ("DEVICE_OFFLINE", "ADB_CONNECTION_ERROR", "ADB_COMMAND_ERROR")


def assert_legal(life: list[dict[str, Any]]) -> None:
    kinds = [event["kind"] for event in life]
    assert kinds[0] == "accepted", kinds
    assert [event["terminal"] for event in life] == [False] * (len(life) - 1) + [True], kinds
    ended_where_it_was = kinds[-2:] == ["pending_verification", "pending_verification"]
    steps = kinds[:-1] if ended_where_it_was else kinds
    for one, other in pairwise(steps):
        assert other in NEXT[one], kinds
    envelope = life[-1]["envelope"]
    assert envelope["lifecycle_state"] == kinds[-1]
    assert envelope["success"] == (kinds[-1] != "failed")
    assert ("failure_code" in envelope) == (not envelope["success"])
    assert [event["at_ms"] for event in life] == sorted(event["at_ms"] for event in life)


async def test_an_entry_says_who_where_why_and_under_which_approval(tmp_path: Path) -> None:
    caller = Caller("shopper", "agent", "mcp")
    async with world(tmp_path, policy=PAY_RULE, caller=caller) as w:
        await at_checkout(w)
        done = await answered(w, w.session.tap({"id": "pay"}, reason="I pay for the tea"))
        assert done.approval
        shown = w.runtime.journal.show(done.action_id)
        first, last = shown.events[0], shown.events[-1]
        assert first["actor"] == {"kind": "agent", "id": "shopper"}
        assert first["door"] == "mcp"
        assert first["reason"] == "I pay for the tea"
        assert first["action"]["type"] == "tap"
        assert first["device"] == w.serial
        assert last["approval"] == done.approval.id
        assert last["envelope"]["approval"]["by"] == "lena"
        [said] = [event for event in shown.events if event["kind"] == "approval"]
        assert said["actor"] == {"kind": "person", "id": "lena"}
        assert said["decision"] == "approved"
        assert len({event["session"] for event in shown.events if event["kind"] != "approval"}) == 1
        assert_legal(lives(w.events())[done.action_id])
        assert w.runtime.journal.verify().ok


async def test_the_end_is_durable_before_anybody_hears_of_it(w: World) -> None:
    listener = w.session.events()
    task = asyncio.create_task(w.session.start_app(SETTINGS))
    async for event in listener:
        if event.terminal:
            assert w.events()[-1]["action_id"] == event.action_id
            assert w.events()[-1]["terminal"]
            break
    await task


async def test_listeners_hear_every_step_of_typing_too(w: World) -> None:
    await w.open("com.handrail.bank")
    listener = w.session.events()
    done = await w.session.type_text("12345", target={"id": "customer"})
    assert done.success, done.to_json()
    steps = []
    async for event in listener:
        steps.append(event.state)
        if event.terminal:
            break
    assert steps == ["accepted", "resolved", "dispatched", "pending_verification", "verified"]


async def test_a_screenshot_is_a_blob_and_not_a_part_of_the_chain(w: World) -> None:
    done = await w.session.screenshot()
    assert done.details
    [last] = [e for e in w.events() if e["terminal"]]
    assert "screenshotBase64" not in last["envelope"]["details"]
    picture = w.runtime.journal.blob(last["blobs"]["screenshot"])
    assert picture
    assert picture.startswith(b"\x89PNG")


# envelopes


def fields(envelope: Envelope) -> dict[str, Any]:
    names = ("source_module", "delivery", "semantic", "success", "failure_code", "retryable")
    written = envelope.to_dict()
    return {name: written.get(name) for name in names if name in written}


async def test_the_envelope_of_every_kind_says_what_it_should(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(5), policy=ALLOW) as w:
        started = await w.open(SETTINGS)
        assert fields(started) == {
            "source_module": "server", "delivery": "delivered", "semantic": "system", "success": True,
        }  # fmt: skip
        assert started.revision_after
        assert started.ui_fingerprint_after
        tapped = await w.session.tap("Display", reason="I look")
        assert fields(tapped)["source_module"] == "interact"
        assert tapped.reason == "I look"
        assert tapped.device
        assert (tapped.device.id, tapped.device.platform) == (w.serial, "android")
        assert (tapped.device.model, tapped.device.sdk) == ("Simulated Phone", 34)
        assert tapped.target
        assert tapped.target.resolved
        assert tapped.target.resolved.ref
        assert tapped.revision_before != tapped.revision_after
        assert tapped.timings_ms
        assert {"queue", "permit", "resolve", "dispatch", "settle", "total"} <= set(tapped.timings_ms)
        for done in (started, tapped):
            told = dict(done.timings_ms or {})
            total = told.pop("total")
            assert abs(sum(told.values()) - total) < 0.1, "phases overlap, or something is missing"
        by_point = await w.session.tap({"x": 540, "y": 1200})
        assert by_point.source_module == "server"
        missing = await w.session.tap("No such words")
        assert fields(missing) == {
            "source_module": "interact", "delivery": "not_delivered", "semantic": "selection",
            "success": False, "failure_code": "ELEMENT_NOT_FOUND", "retryable": False,
        }  # fmt: skip
        assert missing.target
        assert missing.target.resolved is None
        scrolled = await w.session.scroll_to("No such words", max_scrolls=1)
        assert scrolled.source_module == "server"
        stale = await w.session.tap("@b998")
        assert (stale.failure_code, stale.retryable) == ("STALE_REFERENCE", True)
        looked = await w.session.get_ui_tree()
        assert (looked.lifecycle_state, looked.semantic) == ("verified", "observation")
        late = await w.session.wait_for({"visible": "never"}, timeout_ms=50)
        assert (late.failure_code, late.retryable, late.delivery) == ("TIMEOUT", True, "not_delivered")
        failing = await w.session.shell(["false"])
        assert (failing.failure_code, failing.delivery) == ("ADB_COMMAND_ERROR", "delivered")


# whatever goes wrong, wherever


PHASES: dict[str, tuple[str, Callable[[World], Any]]] = {
    "resolve": ("accepted", lambda w: w.session.tap("Display")),
    "dispatch": ("resolved", lambda w: w.session.shell(["sleep", "20"])),
    "settle": ("pending_verification", lambda w: w.session.tap("Display")),
    "wait_for": ("resolved", lambda w: w.session.wait_for({"visible": "never"}, timeout_ms=30_000)),
    "screenshot": ("resolved", lambda w: w.session.screenshot()),
}


@live
@pytest.mark.parametrize("phase", PHASES)
async def test_a_phone_that_is_unplugged_in_any_phase_ends_the_action_once(
    tmp_path: Path, phase: str
) -> None:
    state, action = PHASES[phase]
    async with world(tmp_path, clock=FastClock(10), policy=ALLOW) as w:
        await w.open(SETTINGS)
        w.phone.faults.add("latency", command="uiautomator", ms=300)
        listener = w.session.events()
        task = asyncio.create_task(action(w))
        async for event in listener:
            if event.state == state:
                break
        if phase == "dispatch":  # what is announced is not sent yet: the phone itself says when it runs
            await until(lambda: ("sleep", "20") in processes_of(w.phone).log)
        w.phone.faults.add("offline")
        done = await task
        assert done.failure_code in DEVICE_CODES, done.to_json()
        assert not done.success
        assert_legal(lives(w.events())[done.action_id])
        came_to = {"dispatch": "unknown", "settle": "delivered"}
        assert done.delivery == came_to.get(phase, "not_delivered")
        w.phone.faults.clear()
        again = await until(lambda: _works(w))
        assert again


async def test_a_cable_that_is_pulled_ends_what_goes_on_and_the_next_action_says_so_too(
    tmp_path: Path,
) -> None:
    """The whole port is gone, and stays gone."""
    clock, env = FastClock(10), {"HANDRAIL_HOME": str(tmp_path)}
    phone = Phone(clock=clock)
    async with Runtime.open(Config.from_env(env), clock=clock, env=env) as runtime:
        async with serve([phone], port=0) as [served]:
            session = await runtime.session(served.address, helper="none")
            task = asyncio.create_task(session.run({"type": "press_key", "key": "home"}))
            phone.faults.add("latency", command="input", ms=60_000)
            await until(lambda: any("input" in p.argv for p in processes_of(phone).running.values()))
        pulled = await task
        assert pulled.failure_code in DEVICE_CODES, pulled.to_json()
        assert pulled.delivery == "unknown"
        later = await session.get_ui_tree()
        assert later.failure_code in DEVICE_CODES, later.to_json()
        assert later.delivery == "not_delivered"
        events = [json.loads(line) for line in runtime.journal.export()]
        for life in lives(events).values():
            assert_legal(life)


async def _works(w: World) -> bool:
    return (await w.session.get_ui_tree()).success


FAULTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("stream_reset", {"command": "input", "bytes": 0, "times": 1}),
    ("stream_reset", {"command": "uiautomator", "bytes": 300, "times": 1}),
    ("truncated_output", {"command": "uiautomator", "bytes": 300, "times": 2}),
    ("dump_killed", {"times": 2}),
    ("dump_null_root", {"times": 1}),
    ("offline", {"for_ms": 400}),
    ("input_lost", {"times": 1}),
    ("latency", {"command": "input", "ms": 300}),
    ("latency", {"command": "uiautomator", "ms": 300}),
)
ACTIONS: tuple[dict[str, Any], ...] = (
    {"type": "tap", "target": "Display"},
    {"type": "tap", "target": {"x": 300, "y": 900}},
    {"type": "tap", "target": "No such words"},
    {"type": "press_key", "key": "back"},
    {"type": "swipe", "direction": "up"},
    {"type": "start_app", "package": SETTINGS},
    {"type": "wait", "duration_ms": 500},
    {"type": "wait_for", "condition": {"visible": "never"}, "timeout_ms": 500},
    {"type": "expect_absent", "target": "never", "timeout_ms": 0},
    {"type": "get_ui_tree"},
    {"type": "shell", "command": ["sleep", "1"]},
    {"type": "request_human_auth", "instruction": "Please answer.", "timeout_sec": 1},
    {"type": "tap", "target": "Display", "expect": {"visible": "never"}},
)
TOUCHES = ("tap", "press_key", "swipe")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
async def test_every_life_ends_once_and_honestly_whatever_fails_whenever(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    async with world(tmp_path, clock=FastClock(20), policy=ALLOW) as w:
        await w.open(SETTINGS)
        for _ in range(20):
            await _one_accident(w, chance)
        w.phone.faults.clear()
        told = lives(w.events())
        assert len(told) == 21
        for life in told.values():
            assert_legal(life)


async def _one_accident(w: World, chance: Random) -> None:
    """One action, perhaps with a fault, perhaps stopped at some moment; what it says of delivery is true."""
    w.phone.faults.clear()
    fault = chance.choice((*FAULTS, None))
    if fault is not None:
        w.phone.faults.add(fault[0], **fault[1])
    await until(lambda: not any("input" in p.argv for p in processes_of(w.phone).running.values()))
    before, action = len(w.inputs()), chance.choice(ACTIONS)
    task = asyncio.create_task(w.session.run(action))
    if chance.random() < 0.5:
        await asyncio.sleep(chance.random() * 0.03)
        await w.session.end_actions()
    done = await task
    await until(lambda: not any("input" in p.argv for p in processes_of(w.phone).running.values()))
    arrived = len(w.inputs()) - before
    if arrived:
        assert done.delivery != "not_delivered", (fault, done.to_json())
    if action["type"] in TOUCHES and done.delivery == "delivered" and (fault or ("",))[0] != "input_lost":
        assert arrived, (fault, done.to_json())
