"""Hosts pull flows, run them on simulated phones, and report; without Ray and without a network."""

import asyncio
import sqlite3
from pathlib import Path

from handrail.fleet.flow_unit import records_of
from tests.fleet.lab import lab, unit

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
    asyncio.run(run_some(tmp_path))


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
    asyncio.run(cut_one_off(tmp_path))
