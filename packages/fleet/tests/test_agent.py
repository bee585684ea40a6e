"""Hosts pull flows, run them on simulated phones, and report; without Ray and without a network."""

import asyncio
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from packages.fleet.tests.lab import lab, unit

from handrail.clock import SystemClock
from handrail.errors import InvalidAction
from handrail.simulator import simulated_phones
from handrail_fleet.client import FleetClient
from handrail_fleet.flow_unit import records_of
from tests.scenario.world import play

SETTINGS = """
name: Look at settings
app: com.android.settings
steps:
  - tap: Network & internet
  - press_key: back
"""
WAITING = """
name: Wait for what never comes
app: com.android.settings
steps:
  - wait_for: {condition: {visible: Never there}, timeout_ms: 60000}
"""


async def run_some(folder: Path) -> None:
    async with lab(folder) as fleet:
        await fleet.add("one")
        await fleet.add("two")
        run = await fleet.submit([unit(SETTINGS, folder, pictures=True)] * 5)
        told = await fleet.done(run)
        units = await fleet.units(run)
        assert told["counts"] == {"done": 5}
        assert {one["result"]["outcome"] for one in units} == {"passed"}
        assert {one["host"] for one in units} == {"one", "two"}
        [record] = records_of(units[0]["result"], fleet.head.artefacts.get, "settings.yaml")
        assert [step.label for step in record.steps] == ["tap Network & internet", "press_key back"]
        assert record.steps[0].before is not None
        assert record.steps[0].before.png is not None
        held = [one for host in await fleet.head.do(lambda ledger: ledger.hosts()) for one in host["held"]]
        assert held == []


def test_units_run_on_the_phones_of_two_hosts_and_their_records_come_back(tmp_path: Path) -> None:
    play(run_some(tmp_path))


class Counting(FleetClient):
    """Keeps what would be sent."""

    def post(self, path: str, data: Mapping[str, Any]) -> Any:
        self.sent = [*getattr(self, "sent", []), dict(data)]
        return {"part": f"p{len(self.sent)}", "run": "r1"}


def test_a_run_larger_than_a_request_is_handed_in_by_several(tmp_path: Path) -> None:
    client = Counting("http://127.0.0.1:1", "token")
    units = [unit(f"{SETTINGS}# {number} {'x' * 30_000}\n", tmp_path) for number in range(300)]
    assert client.submit(units, "large") == "r1"
    assert all(len(json.dumps(data)) < 8_000_000 for data in client.sent)
    assert sum(len(json.dumps(data)) for data in client.sent) > 8_000_000
    assert [one["body"] for data in client.sent for one in data["units"]] == [one.body for one in units]
    assert [data.get("part") for data in client.sent] == [
        None,
        *(f"p{n}" for n in range(1, len(client.sent))),
    ]
    assert [data.get("more", False) for data in client.sent] == [True] * (len(client.sent) - 1) + [False]


async def hand_in_by_parts(folder: Path) -> None:
    async with lab(folder) as fleet:
        await fleet.add("one")
        data = [{"kind": one.kind, "name": one.name, "body": dict(one.body)} for one in [unit(BACK, folder)]]
        part = (await fleet.head.submit({"units": data, "more": True}, "ada"))["part"]
        assert await fleet.head.do(lambda ledger: ledger.runs(9)) == [], "nothing begins before the last part"
        with pytest.raises(InvalidAction, match="not here any more"):
            await fleet.head.submit({"units": data, "part": part}, "somebody else")
        run = (await fleet.head.submit({"units": data, "part": part}, "ada"))["run"]
        assert (await fleet.done(run))["counts"] == {"done": 2}
        with pytest.raises(InvalidAction, match="not here any more"):
            await fleet.head.submit({"units": data, "part": part}, "ada")


def test_the_parts_of_a_run_are_one_run(tmp_path: Path) -> None:
    play(hand_in_by_parts(tmp_path))


async def cut_one_off(folder: Path) -> None:
    async with lab(folder) as fleet:
        host = await fleet.add("one", phones=1)
        run = await fleet.submit([unit(WAITING, folder)])
        while not any(one.used_by for one in host.phones.phones.values()):
            await asyncio.sleep(0.02)
        while not host.phones.phones["sim-1"].session._queue:
            await asyncio.sleep(0.02)
        host.line.is_cut = True
        while any(one.used_by for one in host.phones.phones.values()):
            await asyncio.sleep(0.02)
        assert host.agent.stopped_in_ms is not None
        assert host.agent.stopped_in_ms < 2_400 / 2, "it stopped before half of the lease was over again"
        units = await fleet.units(run)
        assert units[0]["state"] == "running", "the head waits for the whole lease, the host did not"
        await fleet.done(run)
        [told] = await fleet.units(run)
        assert told["state"] == "lost"
        assert "not heard of" in told["why"]
        host.line.is_cut = False
        while not (await fleet.head.do(lambda ledger: ledger.run(run)))["late"]:
            await asyncio.sleep(0.02)
        db = sqlite3.connect(folder / "head" / "fleet" / "fleet.db")
        [(why,)] = db.execute("SELECT why FROM late_results").fetchall()
        db.close()
        assert "cut off" in why
        again = await fleet.submit([unit(SETTINGS, folder)])
        assert (await fleet.done(again))["counts"] == {"done": 1}


def test_a_host_that_is_cut_off_stops_itself_before_the_head_gives_it_up(tmp_path: Path) -> None:
    play(cut_one_off(tmp_path))


HOME, BACK_KEY = 3, 4  # as the phone got them
BACK = "name: Back\nsteps:\n  - press_key: back\n"


async def a_connected_phone(folder: Path) -> None:
    async with simulated_phones(clock=SystemClock()) as [served], lab(folder) as fleet:
        host = await fleet.add("one", connected=[served.address])
        [phone] = host.phones.phones.values()
        assert phone.labels["simulated"] is False, "nobody knows what is behind an address"
        for _ in range(2):
            await fleet.done(await fleet.submit([unit(BACK, folder)]))
        keys = [one["code"] for one in served.phone.input_log]
        assert keys == [HOME, BACK_KEY, BACK_KEY], "the first act on a phone that was taken in is a reset"
        phone.needs_reset = True
        await fleet.done(await fleet.submit([unit(BACK, folder)]))
        keys = [one["code"] for one in served.phone.input_log]
        assert keys[-2:] == [HOME, BACK_KEY]


def test_the_first_act_on_a_phone_that_was_taken_back_is_a_reset(tmp_path: Path) -> None:
    play(a_connected_phone(tmp_path))
