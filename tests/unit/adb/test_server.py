"""The adb server: started when nobody answers, asked for devices and for services on them."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from handrail.adb.device import AdbDevice
from handrail.adb.server import Listed, Server, find_adb, parse_devices
from handrail.clock import SystemClock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceOffline
from handrail_sim.adbd.server import Served, serve
from handrail_sim.phone import Phone
from tests.cases import each
from tests.driver.conftest import free_port


@pytest.fixture
def server(server_env: dict[str, str]) -> Server:
    return Server.from_env(server_env)


@pytest.fixture(autouse=True)
def served(server: Server, options: dict[str, bool]) -> AbstractAsyncContextManager[Served]:
    return phone_beside(server, **options)


@asynccontextmanager
async def phone_beside(server: Server, **options: bool) -> AsyncIterator[Served]:
    async with serve([Phone(clock=SystemClock())], port=0, **options) as (served,):
        await server.start()
        try:
            yield served
        finally:
            await server.disconnect(served.address)


def states(devices: list[Listed], address: str) -> list[str]:
    return [device.state for device in devices if device.serial == address]


async def test_changes_are_told(server: Server, served: Served) -> None:
    changes = server.track()
    assert states(await anext(changes), served.address) == []
    await server.connect(served.address)
    while states(await anext(changes), served.address) != ["device"]:
        pass
    await server.disconnect(served.address)
    while states(await anext(changes), served.address):
        pass
    await changes.aclose()


async def test_nobody_to_connect_to_is_an_error_although_the_server_says_okay(server: Server) -> None:
    with pytest.raises(AdbConnectionError, match="could not connect to "):
        await server.connect(f"127.0.0.1:{free_port()}")


@pytest.mark.options(auth=True)
async def test_a_phone_that_does_not_know_this_host_is_unauthorised(server: Server, served: Served) -> None:
    with pytest.raises(DeviceOffline) as caught:
        await server.connect(served.address)
    assert "accept the debugging prompt" in caught.value.hint
    assert states(await server.devices(), served.address) == ["unauthorized"]
    with pytest.raises(DeviceOffline) as caught:
        await server.link(served.address).open("shell:echo")
    assert "accept the debugging prompt" in caught.value.hint
    assert caught.value.details["delivery"] == "not_delivered"


async def test_a_phone_that_nobody_plugged_in_is_not_found(server: Server) -> None:
    device = AdbDevice(server.link("nobody"))
    with pytest.raises(AdbConnectionError, match="'nobody' not found") as caught:
        await device.shell.run(["echo"])
    assert caught.value.details["delivery"] == "not_delivered"


async def test_what_nobody_serves_is_refused(server: Server, served: Served) -> None:
    await server.connect(served.address)
    with pytest.raises(AdbCommandError, match="closed"):
        await server.link(served.address).open("tcp:9")


@each("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"FAILFAIL", b"OKAYwhat", b"FAIL00"])
def test_something_else_at_the_port_is_no_adb_server(said: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        writer.close()

    async def story() -> None:
        stranger = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with stranger:
            server = Server(port=stranger.sockets[0].getsockname()[1])
            with pytest.raises(AdbConnectionError, match=r"not an adb server|closed the connection|hung up"):
                await server.version()

    asyncio.run(story())


@each(
    ("env", "where"),
    [
        ({}, ("127.0.0.1", 5037)),
        ({"ANDROID_ADB_SERVER_PORT": "15999"}, ("127.0.0.1", 15999)),
        ({"ADB_SERVER_SOCKET": "tcp:15998"}, ("127.0.0.1", 15998)),
        ({"ADB_SERVER_SOCKET": "tcp:localhost:15998"}, ("127.0.0.1", 15998)),
        ({"ADB_SERVER_SOCKET": "tcp:10.0.0.9:15998", "ANDROID_ADB_SERVER_PORT": "1"}, ("10.0.0.9", 15998)),
    ],
)
def test_the_environment_says_where_the_server_is(env: dict[str, str], where: tuple[str, int]) -> None:
    server = Server.from_env(env)
    assert (server.host, server.port) == where


@pytest.mark.parametrize(
    "env", [{"ADB_SERVER_SOCKET": "localfilesystem:/x"}, {"ANDROID_ADB_SERVER_PORT": "many"}]
)
def test_an_environment_that_makes_no_sense_is_refused(env: dict[str, str]) -> None:
    with pytest.raises(AdbConnectionError, match="TCP"):
        Server.from_env(env)


def test_lists_of_devices_are_read_with_every_state() -> None:
    text = (
        "emulator-5554          device product:sdk model:Pixel device:emu transport_id:1\n"
        "R58M                   unauthorized usb:1-1 transport_id:2\n"
        "10.0.0.3:5555          offline transport_id:3\n"
        "????????????           no permissions (user in plugdev group; are your udev rules wrong?); "
        "see [http://developer.android.com/tools/device.html] usb:1-4 transport_id:4\n"
    )
    found = parse_devices(text)
    assert [one.state for one in found] == ["device", "unauthorized", "offline", "no permissions"]
    assert found[0].props == {"product": "sdk", "model": "Pixel", "device": "emu", "transport_id": "1"}
    assert found[3] == Listed("????????????", "no permissions", {"usb": "1-4", "transport_id": "4"})
    assert parse_devices("") == []


def test_adb_is_found_where_the_environment_says(tmp_path: Path) -> None:
    tools = tmp_path / "platform-tools"
    tools.mkdir()
    adb = tools / "adb"
    adb.write_text("#!/bin/sh\n")
    env = {"ANDROID_HOME": str(tmp_path), "PATH": ""}
    before = find_adb(env)
    assert before != adb
    adb.chmod(0o755)
    assert find_adb(env) == adb
    assert find_adb({"PATH": str(tools)}) == adb
    assert find_adb({**env, "HANDRAIL_ADB": str(tmp_path / "nothing")}) is None


def test_the_wheels_binary_runs() -> None:
    pytest.importorskip("adbutils")
    adb = find_adb({"PATH": ""})
    assert adb is not None
    done = subprocess.run([adb, "version"], capture_output=True, env={"HOME": os.devnull})
    assert b"Android Debug Bridge" in done.stdout
