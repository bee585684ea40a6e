"""Leases between processes: one wins, a dead one stops nobody, a pid alone proves nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.safety import leases
from handrail.safety.leases import Holder, Leases
from handrail_sim.clock import ManualClock
from tests.unit.safety.lease_scene import FLOW, PHONE, Scene, busy, play

CONTENDER = """
import asyncio, os, sys
from pathlib import Path
from handrail.safety.leases import Holder, Leases
from handrail.clock import SystemClock
from handrail.errors import DeviceBusy
from handrail.store import Store

async def main(path):
    store = Store(Path(path))
    leases = Leases(store, SystemClock())
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        await leases.acquire("phone", Holder(f"p{os.getpid()}", "agent", pid=os.getpid()), ttl_ms=600_000)
        print("won", flush=True)
    except DeviceBusy as error:
        print("lost", error.details["holder"]["pid"], flush=True)
    sys.stdin.readline()
    store.close()

asyncio.run(main(sys.argv[1]))
"""


class Contender:
    """Another process that wants the device."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-c", CONTENDER, str(path / "handrail.db")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout

    def hear(self) -> list[str]:
        return self._out.readline().split()

    def go(self) -> None:
        self._in.write("\n")
        self._in.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.wait(10)
        self._in.close()
        self._out.close()


def test_of_several_processes_exactly_one_wins_and_the_others_learn_who(tmp_path: Path) -> None:
    racers = [Contender(tmp_path) for _ in range(6)]
    try:
        assert all(racer.hear() == ["ready"] for racer in racers)
        for racer in racers:
            racer.go()
        heard = [racer.hear() for racer in racers]
        winners = [racer for racer, said in zip(racers, heard, strict=True) if said == ["won"]]
        assert len(winners) == 1
        assert heard.count(["lost", str(winners[0].process.pid)]) == 5
    finally:
        for racer in racers:
            racer.end()


def test_a_killed_holder_stops_nobody_even_before_its_parent_has_noticed(tmp_path: Path) -> None:
    holder = Contender(tmp_path)
    try:
        assert holder.hear() == ["ready"]
        holder.go()
        assert holder.hear() == ["won"]

        async def living(scene: Scene) -> None:
            clock = ManualClock(now_ms=0)
            error = await busy(Leases(scene.store, clock).acquire("phone", FLOW))
            assert error.details["holder"]["pid"] == holder.process.pid

        play(tmp_path, living)

        async def dead(scene: Scene) -> None:
            holder.process.kill()
            os.waitid(os.P_PID, holder.process.pid, os.WEXITED | os.WNOWAIT)  # dead, and still a zombie
            leases = Leases(scene.store, ManualClock(now_ms=0))
            assert await leases.holder("phone") is None
            await leases.acquire("phone", FLOW)

        play(tmp_path, dead)
    finally:
        holder.end()


def test_a_process_that_got_the_pid_of_a_dead_one_is_not_taken_for_it(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        await scene.leases.acquire(PHONE, Holder("me", "agent", pid=os.getpid()))
        await busy(scene.leases.acquire(PHONE, FLOW))
        await scene.store.write(lambda db: db.execute("UPDATE leases SET process = 'an earlier start'"))
        await scene.leases.acquire(PHONE, FLOW)

    play(tmp_path, story)


def test_without_a_process_table_a_pid_is_only_there_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(30)
    monkeypatch.setattr(leases, "PROC", tmp_path / "none")
    assert leases.process_start(os.getpid()) is not None
    assert leases.process_start(ended.pid) is None


def test_a_pid_of_another_machine_or_container_says_nothing_here(tmp_path: Path) -> None:
    async def story(scene: Scene) -> None:
        await scene.leases.acquire(PHONE, Holder("me", "agent", pid=2**22 + 1))
        await scene.store.write(lambda db: db.execute("UPDATE leases SET place = 'elsewhere'"))
        await busy(scene.leases.acquire(PHONE, FLOW))

    play(tmp_path, story)
