"""From a device to its driver: which channels are opened, and what is said of those that are not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.server import Server
from handrail.adb.shell import Command, Output
from handrail.android.adb_channel import ask_facts
from handrail.android.driver import Driver, connect
from handrail.android.uiautomator2 import release
from handrail.clock import SystemClock
from handrail.config import Helper
from handrail.errors import AdbCommandError, AdbConnectionError
from handrail_sim.adbd.server import serve
from handrail_sim.channels import own_helper
from handrail_sim.channels.attach import OWN_MAIN
from handrail_sim.phone import Phone
from handrail_sim.screen.accessibility import Node
from tests.cases import each

Story = Callable[[Driver], Awaitable[None]]


def with_driver(
    helper: Helper,
    env: dict[str, str],
    story: Story,
    *,
    without: str = "",
    fault: tuple[str, dict[str, Any]] | None = None,
    home: Path | None = None,
) -> None:
    """On a phone that lacks the main class `without`, and has this fault."""

    async def run() -> None:
        phone = Phone(clock=SystemClock())
        phone.helper_mains.pop(without, None)
        if fault is not None:
            phone.faults.add(fault[0], **fault[1])
        async with serve([phone], port=0) as [served]:
            device = AdbDevice(Direct("127.0.0.1", served.port))
            driver = await connect(device, clock=SystemClock(), helper=helper, env=env, home=home)
            try:
                await story(driver)
            finally:
                await driver.close()

    asyncio.run(run())


@pytest.mark.parametrize("name", ["HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER"])
def test_helpers_are_switched_off_by_the_environment_and_it_is_said_once(name: str) -> None:
    async def story(driver: Driver) -> None:
        assert driver.channels()["look"] == "adb"
        assert driver.diagnostics() == [f"helper: not in use: {name}=1"]
        assert driver.diagnostics() == []

    with_driver("auto", {name: "1"}, story)


@each("helper", ["auto", "handrail", "http"])
def test_our_own_helper_is_the_first_choice(helper: Helper) -> None:
    async def story(driver: Driver) -> None:
        table = driver.channels()
        assert {table[name] for name in ("look", "tap", "type_text", "wait_idle")} == {"helper"}
        assert (await driver.look()).package
        assert driver.diagnostics() == []

    with_driver(helper, {}, story)


def test_a_helper_that_is_not_to_be_had_is_one_line_and_no_failure() -> None:
    async def story(driver: Driver) -> None:
        [line] = driver.diagnostics()
        assert line.startswith("helper: not in use: helper: the helper ended: Killed; u2: ")
        assert (await driver.look()).package
        assert driver.channels()["helper"] in line

    with_driver("auto", {}, story, fault=("helper_refused", {"why": "Killed"}))


def test_u2_is_the_second_choice_and_the_reason_is_said() -> None:
    async def story(driver: Driver) -> None:
        assert driver.channels()["look"] == "u2"
        [line] = driver.diagnostics()
        assert line.startswith("helper: u2 serves; not in use: helper: the helper ended: ")
        assert "Didn't find class" in line

    with_driver("auto", {}, story, without=OWN_MAIN)


def test_what_failed_is_remembered_until_a_doctor_or_another_version_tries_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        phone = Phone(clock=SystemClock())
        own = phone.helper_mains.pop(OWN_MAIN)

        async def connected(**options: Any) -> tuple[str, str]:
            device = AdbDevice(Direct("127.0.0.1", served.port))
            driver = await connect(device, clock=SystemClock(), env={}, home=tmp_path, **options)
            looks = driver.channels()["look"]
            await release(device)
            await driver.close()
            return looks, " ".join(driver.diagnostics())

        async with serve([phone], port=0) as [served]:
            assert "remembered" not in (await connected())[1]
            phone.helper_mains[OWN_MAIN] = own
            looks, words = await connected()
            assert looks == "u2"
            assert "Didn't find class" in words
            assert "`handrail doctor` tries again" in words
            with monkeypatch.context() as patched:
                patched.setattr("handrail.android.driver.JAR_SHA256", "another helper")
                assert (await connected())[0] == "helper"
            phone.props["ro.build.fingerprint"] = "another build"
            assert (await connected(try_again=True)) == ("helper", "")

    asyncio.run(run())


def test_a_phone_that_is_still_booting_has_nothing_held_against_it(tmp_path: Path) -> None:
    async def run() -> None:
        phone = Phone(clock=SystemClock())
        own = phone.helper_mains.pop(OWN_MAIN)
        phone.props["sys.boot_completed"] = "0"
        async with serve([phone], port=0) as [served]:
            for helper in ("u2", "helper"):
                device = AdbDevice(Direct("127.0.0.1", served.port))
                driver = await connect(device, clock=SystemClock(), env={}, home=tmp_path)
                assert driver.channels()["look"] == helper
                await release(device)
                await driver.close()
                phone.helper_mains[OWN_MAIN] = own

    asyncio.run(run())


def test_a_u2_server_that_handrail_left_is_ended_and_another_programs_server_is_not() -> None:
    async def run() -> None:
        phone = Phone(clock=SystemClock())
        async with serve([phone], port=0) as [served]:

            async def connected(helper: Helper) -> Driver:
                device = AdbDevice(Direct("127.0.0.1", served.port))
                return await connect(device, clock=SystemClock(), helper=helper, env={})

            await (await connected("u2")).close()
            assert phone.ports
            driver = await connected("auto")
            assert driver.channels()["look"] == "helper"
            await driver.close()
            with phone.held_ui_automation("somebody"):
                driver = await connected("handrail")
                [line] = driver.diagnostics()
                assert "another program on the phone holds UiAutomation" in line
                assert phone.ui_automation == "somebody"
                await driver.close()

    asyncio.run(run())


def test_a_look_that_differs_from_plain_adbs_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    def other_screen(node: Node, parent_package: str) -> dict[str, Any]:
        return describe(node, parent_package) | {"text": "another", "children": []}

    describe = own_helper.describe
    monkeypatch.setattr(own_helper, "describe", other_screen)

    async def story(driver: Driver) -> None:
        assert driver.channels()["look"] == "adb"
        assert "its look differs from plain adb's" in driver.diagnostics()[0]
        assert (await driver.look()).package

    with_driver("handrail", {}, story)


def test_where_plain_adb_can_not_look_nothing_speaks_against_the_helper(tmp_path: Path) -> None:
    async def story(driver: Driver) -> None:
        assert driver.channels()["look"] == "helper"
        assert not (tmp_path / "channels.json").exists()

    with_driver("handrail", {}, story, home=tmp_path, fault=("dump_null_root", {}))


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


async def test_an_adb_server_that_can_not_connect_says_whether_anything_listens_there() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(64)
        text = b"failed to connect to it"
        writer.write(b"OKAY%04x%s" % (len(text), text))
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        for place, words in (
            (f"127.0.0.1:{port}", "another adb server has it"),
            ("127.0.0.1:1", "Check address"),
        ):
            with pytest.raises(AdbConnectionError) as caught:
                await Server(port=port).connect(place)
            assert words in caught.value.hint


async def test_a_phone_that_runs_no_command_yet_is_said_to_be_booting() -> None:
    class Booting:
        serial = "127.0.0.1:20555"
        shell = property(lambda self: self)

        async def run(self, command: Command, **_: object) -> Output:
            raise AdbCommandError("it refused 'exec:': closed", command="exec:# handrail\ngetprop ro.product")

    with pytest.raises(AdbCommandError) as caught:
        await ask_facts(Booting(), SystemClock())  # type: ignore[arg-type]
    assert "runs no command yet" in caught.value.message
    assert "still booting" in caught.value.hint
