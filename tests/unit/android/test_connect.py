"""From a device to its driver: which channels are opened, and what is said of those that are not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.android.driver import Driver, connect
from handrail.clock import SystemClock
from handrail.config import Helper
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone

Story = Callable[[Driver], Awaitable[None]]


def with_driver(helper: Helper, env: dict[str, str], story: Story) -> None:
    async def run() -> None:
        async with serve([Phone(clock=SystemClock())], port=0) as [served]:
            device = AdbDevice(Direct("127.0.0.1", served.port))
            driver = await connect(device, clock=SystemClock(), helper=helper, env=env)
            try:
                await story(driver)
            finally:
                await driver.close()

    asyncio.run(run())


def test_without_a_helper_everything_goes_by_adb_and_nothing_is_said() -> None:
    async def story(driver: Driver) -> None:
        assert driver.channels()["look"] == "adb"
        assert driver.diagnostics() == []

    with_driver("none", {}, story)


@pytest.mark.parametrize("name", ["HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER"])
def test_helpers_are_switched_off_by_the_environment_and_it_is_said_once(name: str) -> None:
    async def story(driver: Driver) -> None:
        assert driver.channels()["look"] == "adb"
        assert driver.diagnostics() == [f"helper: not in use: {name}=1"]
        assert driver.diagnostics() == []

    with_driver("auto", {name: "1"}, story)


def test_auto_takes_u2_where_the_helpers_apks_are_not_given() -> None:
    async def story(driver: Driver) -> None:
        assert driver.channels()["look"] == "u2"
        assert (await driver.look()).package

    with_driver("auto", {}, story)


def test_a_helper_that_is_not_to_be_had_is_one_line_and_no_failure() -> None:
    async def story(driver: Driver) -> None:
        [line] = driver.diagnostics()
        assert line.startswith("helper: not in use: ")
        assert "HANDRAIL_HELPER_DIR" in line
        assert (await driver.look()).package
        assert driver.channels()["helper"] in line

    with_driver("http", {}, story)


async def test_a_connect_that_is_cancelled_leaves_nothing_open() -> None:
    phone = Phone(clock=SystemClock())
    async with serve([phone], port=0) as [served]:
        device = AdbDevice(Direct("127.0.0.1", served.port))
        phone.faults.add("latency", command="app_process", ms=60_000)
        work = asyncio.ensure_future(connect(device, clock=SystemClock(), helper="u2", env={}))
        while "app_process" not in (await device.shell.run(["ps", "-A", "-o", "ARGS"])).text:
            await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        async with asyncio.timeout(60):
            while "app_process" in (await device.shell.run(["ps", "-A", "-o", "ARGS"])).text:
                await asyncio.sleep(0)
        await device.close()
