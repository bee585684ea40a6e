"""What is left on the phone when a stream ends: adbd hangs up the pid that it started, and nothing else."""

from __future__ import annotations

import asyncio

from handrail_sim.adbd.daemon import Adbd
from handrail_sim.adbd.services import first_word
from handrail_sim.adbd.wire import Command
from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from handrail_sim.shell import capture
from handrail_sim.shell.processes import processes_of
from tests.host import Host, settle


async def after_hang_up(command: str) -> tuple[Phone, list[str]]:
    """Start a v2 shell, close its stream in the middle: what still runs."""
    phone = Phone(clock=ManualClock())
    host = Host(Adbd(phone))
    await host.connect()
    host.send(Command.OPEN, 1, 0, f"shell,v2,raw:{command}".encode() + b"\0")
    (okay, *_) = await host.packets()
    host.send(Command.CLSE, 1, okay.arg0)
    await settle()
    return phone, names(phone)


def names(phone: Phone) -> list[str]:
    return [process.name for process in processes_of(phone).running.values()]


def test_a_program_outlives_the_shell_that_was_hung_up() -> None:
    async def story() -> None:
        phone, left = await after_hang_up("sleep 30; touch /data/local/tmp/late")
        assert left == ["sleep"]
        await phone.clock.advance(40_000)  # type: ignore[attr-defined]
        assert names(phone) == []
        assert not phone.files.exists("/data/local/tmp/late")

    asyncio.run(story())


def test_a_program_that_took_the_shells_place_is_hung_up() -> None:
    assert asyncio.run(after_hang_up("exec sleep 30"))[1] == []


def test_exec_keeps_the_pid_of_the_shell() -> None:
    async def story() -> str:
        return (await capture(Phone(clock=ManualClock()), "echo $$; exec ps -o PID,NAME -A")).text

    pid, *rows = asyncio.run(story()).splitlines()
    assert [row.split()[1] for row in rows if row.split()[0] == pid] == ["ps"]
    assert [row.split()[1] for row in rows].count("sh") == 0


def test_a_pipeline_outlives_its_shell() -> None:
    assert asyncio.run(after_hang_up("sleep 30 | cat; echo done"))[1] == ["sleep", "cat"]


def test_a_loop_of_builtins_dies_with_its_shell() -> None:
    assert asyncio.run(after_hang_up("while :; do :; done"))[1] == []


def test_killing_the_group_ends_a_script_with_all_it_started() -> None:
    async def story() -> None:
        phone = Phone(clock=ManualClock())
        script = "(sleep 50; touch /data/local/tmp/job) & sh -c 'sleep 60; touch /data/local/tmp/inner'; echo"
        work = asyncio.ensure_future(capture(phone, f"# mark-17\n{script}"))
        await settle()
        assert sorted(names(phone)) == ["sh", "sh", "sh", "sleep", "sleep"]
        killed = await capture(phone, "for p in $(pgrep -f 'mark-1[7]'); do kill -9 -$p; done")
        assert killed.errors == ""
        assert (await work).status == 137
        await phone.clock.advance(70_000)  # type: ignore[attr-defined]
        assert names(phone) == []
        assert not phone.files.exists("/data/local/tmp/job")
        assert not phone.files.exists("/data/local/tmp/inner")

    asyncio.run(story())


def test_no_group_is_no_process() -> None:
    async def story() -> str:
        return (await capture(Phone(clock=ManualClock()), "kill -9 -31999")).errors

    assert asyncio.run(story()).endswith("No such process\n")


def test_faults_look_at_the_program_behind_comments_and_exec() -> None:
    assert first_word("# a note\n/system/bin/screencap -p") == "screencap"
    assert first_word("exec uiautomator dump") == "uiautomator"
    assert first_word("exec") == "exec"
    assert first_word("  ") == "sh"
