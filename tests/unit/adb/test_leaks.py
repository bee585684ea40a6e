"""After all kinds of ends nothing is left: no task, no socket or file, no stream, no program on the phone."""

from __future__ import annotations

import asyncio
import io
import os
from pathlib import Path

import pytest

from handrail.adb.device import AdbDevice
from handrail.adb.shell import Script
from handrail.errors import DeviceError, HandrailError
from handrail_sim.adbd.server import Served
from tests.unit.adb.phones import WAYS, reached, running, until


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


async def good_and_bad(device: AdbDevice, served: Served) -> None:
    """Commands that end well, that fail, that are too slow, that are cancelled, that lose their stream."""
    shell, faults = device.shell, served.phone.faults
    await asyncio.gather(*(shell.run(["echo", str(n)]) for n in range(30)))
    cancelled = [asyncio.ensure_future(shell.run(["sleep", "30"])) for _ in range(10)]
    cancelled += [asyncio.ensure_future(shell.run(Script("sleep 30; echo"))) for _ in range(10)]
    await until(lambda: running(served.phone).count("sleep") == 20)
    for task in cancelled:
        task.cancel()
    faults.add("stream_reset", command="getprop", bytes=10)
    broken = [shell.run(["getprop"]), shell.run(["false"]), shell.run(["yes"], timeout_ms=50)]
    broken += [device.files.pull("/nope", io.BytesIO()), device.files.push(b"x", "/nope/x")]
    broken += [device.open("tcp:9"), shell.run(["cat"], stdin=bytes(1 << 20), timeout_ms=30_000, limit=10)]
    ends = await asyncio.gather(*cancelled, *broken, return_exceptions=True)
    assert all(isinstance(end, asyncio.CancelledError) for end in ends[:20])
    assert [isinstance(end, HandrailError) for end in ends[20:]] == [True] * 6 + [False]


async def line_lost(device: AdbDevice, served: Served) -> None:
    work = [asyncio.ensure_future(device.shell.run(["sleep", "30"])) for _ in range(5)]
    await until(lambda: running(served.phone).count("sleep") == 5)
    for connection in list(served.adbd.connections):
        connection.drop()
    for end in await asyncio.gather(*work, return_exceptions=True):
        assert isinstance(end, DeviceError)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left_behind(way: str, server_env: dict[str, str], tmp_path: Path) -> None:
    async def story() -> None:
        async with reached(way, server_env) as (device, served):
            await device.shell.run(["true"])
            tasks, files = len(asyncio.all_tasks()), open_files()
            await good_and_bad(device, served)
            await until(lambda: not running(served.phone))
            await until(lambda: len(asyncio.all_tasks()) <= tasks)
            await until(lambda: open_files() <= files)
            await until(lambda: sum(len(one._channels) for one in served.adbd.connections) == 0)
            await line_lost(device, served)
            await until(lambda: not running(served.phone))

    before = open_files()
    asyncio.run(story())
    assert open_files() == before
