"""A host or a head that fails in the middle: nothing is told that was not so, and nothing is used up."""

import asyncio
from pathlib import Path

import pytest
from packages.fleet.tests.lab import lab, unit

from handrail.errors import StoreFull
from handrail_fleet.fence import HostFence
from handrail_fleet.ledger import AttemptReport, FleetPhone, HostHello, UnitSpec
from handrail_fleet.sqlite_ledger import SqliteLedger
from handrail_sim.clock import ManualClock
from tests.scenario.world import play

ONE = "name: One\nsteps:\n  - press_key: home\n"
MANY = "name: M\nretry: lost\nsteps:\n" + "  - press_key: home\n" * 40


async def frozen_between_two_actions(folder: Path) -> None:
    """The fence is closed for a moment, as it is for a process that wakes up before its guard does."""
    async with lab(folder) as fleet:
        host = await fleet.add("one", phones=1)
        phone = host.phones.phones["sim-1"].simulated
        assert phone is not None
        run = await fleet.submit([unit(MANY, folder)])
        while not phone.input_log:
            await asyncio.sleep(0.005)
        [work] = host.agent._work.values()
        assert work.fence is not None
        work.fence.host = HostFence(ManualClock(), 0, 0)
        await fleet.done(run)
        rows = await fleet.head.do(lambda ledger: ledger.attempts(f"{run}.1"))
        assert [one["state"] for one in rows] == ["cut_off", "accepted"], "no failure of the flow is told"
        assert rows[1]["result"]["outcome"] == "passed"


def test_an_attempt_that_its_fence_stopped_is_cut_off_and_not_failed(tmp_path: Path) -> None:
    play(frozen_between_two_actions(tmp_path))


async def disk_of_a_host(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with lab(folder) as fleet:
        host = await fleet.add("one", phones=1)
        right = host.agent._book.begin

        async def full(*_: object) -> int:
            raise StoreFull("there is no room")

        monkeypatch.setattr(host.agent._book, "begin", full)
        run = await fleet.submit([unit(f"attempts: 1\n{ONE}", folder)] * 3)
        while not host.agent._pause_until_ms:
            await asyncio.sleep(0.02)
        while (await fleet.head.do(lambda ledger: ledger.run(run)))["counts"] != {"todo": 3}:
            await asyncio.sleep(0.02)
        monkeypatch.setattr(host.agent._book, "begin", right)
        host.agent._pause_until_ms = 0.0
        assert (await fleet.done(run))["counts"] == {"done": 3}
        for one in await fleet.units(run):
            assert one["attempt"] <= 2, "a host that can't write uses no units up"


def test_a_host_whose_disk_is_full_gives_back_what_it_can_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(disk_of_a_host(tmp_path, monkeypatch))


async def disk_of_the_head(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with lab(folder) as fleet:
        await fleet.add("one", phones=1)
        right, failed = fleet.head.ledger.report, 0

        def full(*_: object) -> str:
            nonlocal failed
            failed += 1
            raise StoreFull("there is no room")

        monkeypatch.setattr(fleet.head.ledger, "report", full)
        run = await fleet.submit([unit(ONE, folder)])
        while not failed:
            await asyncio.sleep(0.02)
        monkeypatch.setattr(fleet.head.ledger, "report", right)
        assert (await fleet.done(run))["counts"] == {"done": 1}
        [told] = await fleet.units(run)
        assert (told["attempt"], told["result"]["outcome"]) == (1, "passed")


def test_a_result_that_a_full_head_did_not_take_is_told_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(disk_of_the_head(tmp_path, monkeypatch))


async def lost_on_the_way(folder: Path) -> None:
    async with lab(folder) as fleet:
        host = await fleet.add("one", phones=1)
        host.phones.phones["sim-1"].used_by = "somebody"
        host.line.is_cut = True
        host.agent.outbox.give_back("u", 1, "never begun")
        assert ("u", 1) in host.agent.outbox.waiting
        host.line.is_cut = False
        while host.agent.outbox.waiting:
            await asyncio.sleep(0.02)


def test_what_was_given_back_while_the_line_was_cut_is_told_afterwards(tmp_path: Path) -> None:
    play(lost_on_the_way(tmp_path))


@pytest.mark.parametrize("ended", ["lost", "cut_off"])
def test_a_unit_that_must_not_run_twice_does_not_whatever_else_its_caller_says(
    tmp_path: Path, ended: str
) -> None:
    ledger = SqliteLedger(tmp_path / "fleet.db", ManualClock())
    run = ledger.add_run({}, [UnitSpec("flow", "f", {}, attempts=9, retry_lost=True, once=True)], "me")
    ledger.hello(HostHello("one", "i1", "k1"))
    [given] = ledger.claim("one", "i1", "a", [FleetPhone("p1")], 1)
    ledger.report("one", AttemptReport(given.unit, 1, ended))  # type: ignore[arg-type]
    assert ledger.units(run)[0]["state"] == "unknown"
    assert ledger.claim("one", "i1", "b", [FleetPhone("p1")], 1) == []
    ledger.close()
