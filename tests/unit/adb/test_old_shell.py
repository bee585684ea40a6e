"""Devices without shell v2: no exit code, one output, and commands that still end."""

from __future__ import annotations

import pytest

from handrail.adb.shell import Script
from handrail.errors import Timeout
from handrail_sim.adbd import daemon
from tests.unit.adb.phones import reached, running, until


@pytest.fixture(autouse=True)
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon, "FEATURES", ("cmd",))


async def test_outputs_come_together_and_the_exit_code_is_unknown() -> None:
    async with reached("direct", {}) as (device, _):
        done = await device.shell.run(Script("echo out; echo err >&2; exit 7"))
        assert (done.stdout, done.stderr, done.exit_code, done.ok) == (b"out\nerr\n", b"", None, True)
        assert (await device.shell.run(["echo", "it's"])).text == "it's\n"


async def test_input_arrives() -> None:
    async with reached("direct", {}) as (device, _):
        done = await device.shell.run(["head", "-c", "100000"], stdin=b"x" * 100_000)
        assert done.stdout == b"x" * 100_000


@pytest.mark.parametrize("command", [["sleep", "30"], Script("sleep 30; echo late")], ids=str)
async def test_a_command_past_its_deadline_is_gone(command: list[str] | Script) -> None:
    async with reached("direct", {}) as (device, served):
        with pytest.raises(Timeout):
            await device.shell.run(command, timeout_ms=100)
        await until(lambda: "sleep" not in running(served.phone))
