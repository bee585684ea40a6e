"""Which devices are found, each once, and how one is opened: simulated phones, the stock adb server."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from handrail.adb.server import Listed
from handrail.android.choose import open_chosen, open_device
from handrail.android.discovery import PROBE_MS, from_server, merge, probe
from handrail.config import Config
from handrail.errors import AdbConnectionError, DeviceOffline, InvalidAction
from handrail.surface.listing import DiscoveredDevice
from handrail_sim.adbd.server import serve
from handrail_sim.clock import ManualClock
from tests.unit.android.discovery_setup import CLOCK, a_phone, find, no_adb, run, seen, server_of
from tests.unit.android.private_adb import adb_env, private_env

__all__ = ["adb_env"]


def test_a_phone_that_has_not_accepted_our_key_is_listed_as_unauthorised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in private_env(tmp_path).items():
        monkeypatch.setenv(name, value)

    async def story() -> None:
        async with serve([a_phone()], port=0, auth=True) as [served]:
            clock, asked = ManualClock(), asyncio.Event()
            assert served.adbd.keys is not None
            served.adbd.keys.on_ask(lambda key: asked.set())
            looking = asyncio.create_task(probe(served.address, clock))
            await asked.wait()
            await clock.advance(PROBE_MS)
            one = await looking
            assert one.state == "unauthorized"
            assert "accept the debugging prompt" in one.what_to_do

    run(story)


def test_a_silent_phone_is_offline_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    async def story() -> None:
        taken = asyncio.Event()

        async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            taken.set()
            await reader.read()
            writer.close()

        server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
        async with server:
            clock = ManualClock()
            port = server.sockets[0].getsockname()[1]
            looking = asyncio.create_task(probe(f"127.0.0.1:{port}", clock))
            await taken.wait()
            while not looking.done():
                await clock.advance(PROBE_MS)
                await asyncio.sleep(0)
            assert looking.result().state == "offline"

    run(story)


def test_only_addresses_can_be_asked_directly() -> None:
    with pytest.raises(InvalidAction):
        asyncio.run(probe("R58M", CLOCK))


@pytest.mark.slow
def test_a_phone_that_is_seen_directly_and_by_the_server_is_listed_once(adb_env: dict[str, str]) -> None:
    async def story() -> None:
        async with serve([a_phone()], port=0) as [served]:
            env = {**adb_env, "HANDRAIL_DEVICES": f"localhost:{served.port}"}
            await find(env)
            await server_of(env).connect(served.address)
            mine = [one for one in (await find(env)).values() if str(served.port) in one.serial]
            assert [(one.serial, one.via) for one in mine] == [(f"localhost:{served.port}", "direct")]

    run(story)


def test_the_best_of_two_names_stays() -> None:
    emulator = DiscoveredDevice("emulator-5554")
    by_address = DiscoveredDevice("127.0.0.1:5555")
    direct = DiscoveredDevice("localhost:5555", via="direct")
    dead = DiscoveredDevice("127.0.0.1:5555", "offline", via="direct")
    assert merge([by_address, emulator]) == [emulator]
    assert merge([emulator, by_address, direct]) == [direct]
    assert merge([dead, emulator]) == [emulator]
    assert merge([dead, DiscoveredDevice("emulator-5554", "offline")]) == [dead]


def test_usable_phones_are_listed_first() -> None:
    found = [
        DiscoveredDevice("A", "offline"),
        DiscoveredDevice("C"),
        DiscoveredDevice("B"),
        DiscoveredDevice("D", "unauthorized"),
    ]
    assert [one.serial for one in merge(found)] == ["B", "C", "A", "D"]


def test_a_line_of_the_server_becomes_a_device() -> None:
    line = Listed("R58M", "device", {"model": "Pixel_8", "product": "shiba", "transport_id": "1"})
    assert from_server(line) == DiscoveredDevice("R58M", model="Pixel_8", product="shiba")
    assert from_server(Listed("X", "no permissions (user in plugdev group)", {})).state == "no permissions"


# choosing and opening


def test_of_two_phones_none_is_chosen_silently(tmp_path: Path) -> None:
    async def story() -> None:
        async with serve([a_phone(), a_phone()], port=0) as [first, second]:
            env = no_adb(tmp_path, HANDRAIL_DEVICES=f"{first.address},{second.address}")
            with pytest.raises(InvalidAction) as caught:
                await open_chosen(None, Config.from_env(env), CLOCK, env)
            assert first.address in caught.value.message
            assert second.address in caught.value.message
            device = await open_chosen(f":{second.port}", Config.from_env(env), CLOCK, env)
            assert device.serial == second.address
            await device.close()

    run(story)


@pytest.mark.slow
def test_check_16_an_offline_phone_of_the_server_is_listed_and_not_opened(adb_env: dict[str, str]) -> None:
    async def story() -> None:
        async with serve([a_phone()], port=0) as [served]:
            await find(adb_env)
            await server_of(adb_env).connect(served.address)
            served.phone.faults.add("offline")
            one = await seen(adb_env, served.address, "offline")
            with pytest.raises(DeviceOffline) as caught:
                await open_chosen(f":{served.port}", Config.from_env(adb_env), CLOCK, adb_env)
            assert one.problem in caught.value.message
            assert caught.value.hint == one.what_to_do

    run(story)


def test_a_serial_that_is_no_address_is_opened_by_the_server(adb_env: dict[str, str]) -> None:
    async def story() -> None:
        with pytest.raises(AdbConnectionError) as caught:
            await open_chosen("NOBODY-HAS-THIS", Config.from_env(adb_env), CLOCK, adb_env)
        assert "no device 'NOBODY-HAS-THIS'" in caught.value.message
        device = await open_device("NOBODY-HAS-THIS", Config.from_env(adb_env), CLOCK, adb_env)
        with pytest.raises(AdbConnectionError):
            await device.shell.run(["true"])
        await device.close()

    run(story)


@pytest.mark.slow
def test_an_address_that_only_the_server_can_open_is_opened_by_the_server(
    adb_env: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The phone has accepted the server's key and no other, as wireless debugging does."""
    other = tmp_path / "other"
    other.mkdir()
    for name, value in private_env(other).items():
        monkeypatch.setenv(name, value)

    async def story() -> None:
        async with serve([a_phone()], port=0, auth=True) as [served]:
            keys = served.adbd.keys
            assert keys is not None
            await find(adb_env)
            asked = asyncio.Event()
            keys.on_ask(lambda key: asked.set())
            with suppress(DeviceOffline):
                await server_of(adb_env).connect(served.address)
            await asked.wait()
            keys.accept()
            await seen(adb_env, served.address, "device")
            asked.clear()
            clock = ManualClock()
            opening = asyncio.create_task(
                open_device(served.address, Config.from_env(adb_env), clock, adb_env)
            )
            await asked.wait()
            await clock.advance(20_000)
            device = await opening
            assert (await device.shell.run(["echo", "by the server"])).text == "by the server\n"
            await device.close()

    run(story)
