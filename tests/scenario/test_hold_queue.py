"""While a person has the phone agents wait in line up to their own time-out; all are told by name."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail.cli.doctor import DeviceRow
from handrail.flow.document import load
from handrail.flow.run import FlowRunner
from handrail.safety.caller import Caller
from handrail.safety.leases import Holder
from handrail.surface.listing import DiscoveredDevice
from tests.scenario.world import World, live, play, until, world
from tests.unit.web_server.door import KEY, door

pytestmark = pytest.mark.usefixtures("both_phones")

ASYNC_RUNNER = play

SETTINGS = "com.android.settings"
SHOPPER = Caller("shopper", "agent", "mcp", patience_ms=30_000)
MAILER = Caller("mailer", "agent", "http", patience_ms=30_000)
LENA = Caller("lena", "person", "desk")


async def taken(w: World) -> None:
    await w.runtime.leases.take_over(w.serial, Holder(LENA.holder_id, "person", label="lena", door="desk"))


async def in_line(w: World, count: int) -> list[str]:
    async def names() -> list[str]:
        found = [one.label for one in await w.runtime.hold_queue.line(w.serial)]
        return found if len(found) == count else []

    line: list[str] = await until(names)
    return line


def begin(w: World, action: Any, caller: Caller) -> asyncio.Task[Any]:
    return asyncio.create_task(w.session.run(action, caller=caller))


async def test_yours_agents_wait_means_that_they_wait_and_go_on_in_turn(w: World) -> None:
    await w.open(SETTINGS)
    await taken(w)
    touched = len(w.inputs())
    heard = w.session.events()
    first = begin(w, {"type": "tap", "target": "Display"}, SHOPPER)
    assert await in_line(w, 1) == ["shopper"]
    second = begin(w, {"type": "press_key", "key": "back"}, replace(MAILER, patience_ms=500))
    assert await in_line(w, 2) == ["shopper", "mailer"]
    told: set[str] = set()
    async for event in heard:
        told.add(event.waits_for)
        if "number 2" in event.waits_for:
            break
    assert {"", "waiting: lena has the device, you are number 1 in line"} < told
    assert (await w.session.get_ui_tree()).success  # looking is free
    given_up = await second
    assert given_up.failure_code == "DEVICE_BUSY"
    assert given_up.details["position"] == 2
    assert given_up.details["waited_ms"] >= 500
    assert given_up.retryable
    assert len(w.inputs()) == touched
    await w.runtime.leases.hand_back(w.serial)
    done = await first
    assert done.success, done.to_json()
    assert done.timings_ms["queue"] >= 500
    assert await w.runtime.hold_queue.line(w.serial) == []


async def test_what_was_meant_for_a_place_is_not_done_on_the_screen_that_a_person_left(w: World) -> None:
    await w.open(SETTINGS)
    await taken(w)
    blind = begin(w, {"type": "tap", "target": {"x": 540, "y": 800}}, SHOPPER)
    typing = begin(w, {"type": "press_key", "key": "enter"}, MAILER)
    await in_line(w, 2)
    opened = await w.session.run({"type": "tap", "target": "Display"}, caller=LENA)
    assert opened.success, opened.to_json()
    touched = len(w.inputs())
    await w.runtime.leases.hand_back(w.serial)
    for one in await asyncio.gather(blind, typing):
        assert (one.failure_code, one.delivery) == ("DEVICE_BUSY", "not_delivered"), one.to_json()
        assert "another" in one.message
    assert len(w.inputs()) == touched


async def test_a_flow_waits_too_and_goes_on_where_it_was(w: World, tmp_path: Path) -> None:
    await w.open(SETTINGS)
    await taken(w)
    file = tmp_path / "look.yaml"
    file.write_text("name: Look\nsteps:\n  - tap: Display\n")
    running = asyncio.create_task(FlowRunner({"device": w.session}, w.runtime.clock).run(load(file)))
    assert await in_line(w, 1) == ["Look"]
    await w.runtime.leases.hand_back(w.serial)
    assert (await running).outcome == "passed"


async def test_a_waiter_whose_process_died_holds_nobody_up(w: World) -> None:
    await w.open(SETTINGS)
    await taken(w)
    waiting = begin(w, {"type": "tap", "target": "Display"}, SHOPPER)
    await in_line(w, 1)
    await w.runtime.store.write(
        lambda db: db.execute("UPDATE hold_queue SET seq = seq + 10 WHERE label = 'shopper'")
    )
    row = "1, device, 'ghost', kind, 999999, 'x', place, since_ms"
    dead = f"INSERT INTO hold_queue SELECT {row} FROM hold_queue"
    await w.runtime.store.write(lambda db: db.execute(dead))
    assert await in_line(w, 1) == ["shopper"]
    waiting.cancel()
    await asyncio.wait({waiting})


@live
async def test_the_holder_is_the_agent_that_acts_and_not_the_server(tmp_path: Path) -> None:
    """`handrail serve` opens the phone under its own name; the agent is `shopper`."""
    async with (
        world(tmp_path, caller=Caller("desk", "agent", "http")) as w,
        door(tmp_path, runtime=w.runtime) as served,
    ):
        for caller in (SHOPPER, MAILER):
            done = await w.session.run({"type": "start_app", "package": SETTINGS}, caller=caller)
            assert done.success, done.to_json()
            held = await w.runtime.leases.holder(w.serial)
            assert held
            assert str(held.holder) == f"agent {caller.id}"
        state = (await served.get(f"/api/phone/{w.serial}/state", token=KEY)).json
        assert state["holder"]["holder"]["label"] == "mailer"
        row = DeviceRow(DiscoveredDevice(w.serial), held=held)
        assert row.cells(held.since_ms + 180_000)[-1] == "agent mailer, 3 minutes ago"


async def test_a_busy_phone_is_told_by_name_and_minutes(w: World) -> None:
    await taken(w)
    back = "UPDATE leases SET since_ms = since_ms - 125000"
    await w.runtime.store.write(lambda db: db.execute(back))
    busy = await w.session.press_key("back")
    assert busy.failure_code == "DEVICE_BUSY"
    assert "person lena, who took it 2 minutes ago" in (busy.message or "")
    assert "pid" not in (busy.message or "")
    assert "T" not in (busy.message or "").replace("The", "")
