"""Radios, presets, and the emulator's console."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from handrail.adb.shell import Output
from handrail.android.emulator_console import console_port, open_console
from handrail.android.settings import Applied, over_the_air, set_airplane_mode, set_network
from handrail.clock import SystemClock
from handrail.errors import (
    AdbCommandError,
    AdbConnectionError,
    InvalidAction,
    Unsupported,
    VerificationFailed,
)
from handrail.surface.values import NetworkChange as Change
from handrail_sim.channels.emulator import open_console as serve_console
from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell
from tests.unit.android.sim_phone import Bench, play

PHONE = "R58M123456"


def test_offline_and_full_work_on_a_phone() -> None:
    async def story(bench: Bench) -> None:
        shell, settings = bench.device.shell, bench.phone.settings["global"]
        assert (await set_network(shell, PHONE, Change("offline"), bench.clock)).applied == {
            "airplane_mode": True
        }
        assert settings["airplane_mode_on"] == "1"
        done = await set_network(shell, PHONE, Change("full"), bench.clock)
        assert done.applied == {"airplane_mode": False, "wifi": True, "data": True}
        assert "not limited" in done.message
        assert settings["airplane_mode_on"] == "0"

    play(story)


@each(
    "change",
    [
        Change("edge"),
        Change(speed="1:2"),
        Change(delay="none"),
        Change("full", "1:2"),
    ],
)
def test_a_phone_has_no_speed_to_set_and_nothing_is_changed(change: Change) -> None:
    said = ScriptedShell()
    with pytest.raises(Unsupported, match="not an emulator"):
        asyncio.run(set_network(said, PHONE, change, ManualClock()))
    assert said.asked == []


@each("serial", ["192.168.1.5:5555", "phone.lan:5555", "adb-R58-x._adb-tls-connect._tcp"])
def test_the_branch_one_sits_on_is_not_cut(serial: str) -> None:
    for change in (Change("offline"), Change(wifi=False)):
        with pytest.raises(Unsupported, match="would turn off"):
            asyncio.run(set_network(ScriptedShell(), serial, change, ManualClock()))
    assert not over_the_air("127.0.0.1:6555")
    assert not over_the_air("localhost:6555")
    assert not over_the_air(PHONE)


@each("change", [Change("5g"), Change(speed="fast"), Change(delay="1:2\nkill")])  # type: ignore[arg-type]
def test_words_that_the_console_would_misread_are_refused(change: Change) -> None:
    with pytest.raises(InvalidAction):
        asyncio.run(set_network(ScriptedShell(), "emulator-5554", change, ManualClock()))


def test_an_android_without_the_command_loses_both_radios_instead() -> None:
    unknown = Output(b"", b"Unknown command: airplane-mode", 255)
    said = ScriptedShell(unknown, "", "0\n", "", "0\n")
    done = Applied()
    asyncio.run(set_airplane_mode(said, True, ManualClock(), done))
    assert done.applied == {"wifi": False, "data": False}
    assert "instead" in done.message
    with pytest.raises(Unsupported):
        asyncio.run(set_airplane_mode(ScriptedShell(unknown, "1\n"), False, ManualClock(), Applied()))


async def test_a_radio_that_stays_as_it_is_is_a_failure() -> None:
    clock = ManualClock()
    switching = asyncio.ensure_future(
        set_network(ScriptedShell("", *["1"] * 99), PHONE, Change(wifi=False), clock)
    )
    while not switching.done():
        await asyncio.sleep(0)
        await clock.advance(100)
    with pytest.raises(VerificationFailed, match="wifi is still on"):
        switching.result()


# the console


@each(
    ("serial", "port"),
    [
        ("emulator-5556", 5556),
        ("127.0.0.1:5555", 5554),
        ("127.0.0.1:6555", None),
        (PHONE, None),
        ("1.2.3.4:5555", None),
    ],
)
def test_only_emulators_of_this_machine_have_a_console(serial: str, port: int | None) -> None:
    assert console_port(serial) == port


async def test_presets_reach_the_emulator_and_are_read_back() -> None:
    phone, clock = Phone(clock=SystemClock()), SystemClock()
    off = Output(b"", b"", 0)
    async with serve_console(phone, 0) as port:
        serial = f"emulator-{port}"
        done = await set_network(ScriptedShell(off, "0"), serial, Change("3g"), clock)
        assert done.applied == {"airplane_mode": False, "speed": "umts", "delay": "umts"}
        done = await set_network(ScriptedShell(), serial, Change(speed="10:2000", delay="30:90"), clock)
        assert done.applied == {"speed": "10:2000", "delay": "30:90"}
    assert phone.props["sim.network.speed"] == "10:2000"


def test_an_emulator_that_does_not_take_it_is_found_out(tmp_path: Path) -> None:
    (tmp_path / ".emulator_console_auth_token").write_text("a1b2")
    status = "  download speed:   0 bits/s (0.0 KB/s)\r\n  upload speed:   0 bits/s (0.0 KB/s)\r\n"
    status += "  minimum latency:  0 ms\r\n  maximum latency:  0 ms\r\nOK\r\n"
    console = Guarded("OK\r\n", "OK\r\n", status)

    async def story() -> None:
        server = await asyncio.start_server(console.serve, "127.0.0.1", 0)
        async with server:
            serial = f"emulator-{server.sockets[0].getsockname()[1]}"
            try:
                await set_network(ScriptedShell(), serial, Change(speed="edge"), SystemClock())
            finally:
                await console.left.wait()

    with pytest.raises(VerificationFailed, match="speed is"):
        asyncio.run(story())


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


class Guarded:
    """A console that asks for a token, as those of real emulators do, and does what it likes afterwards."""

    def __init__(self, *answers: str) -> None:
        self.heard: list[str] = []
        self.left = asyncio.Event()
        self._answers = list(answers)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"Android Console: Authentication required\r\nAndroid Console: type 'auth <token>'\r\nOK\r\n"
        )
        while line := await reader.readline():
            self.heard.append(line.decode().strip())
            writer.write(self._answers.pop(0).encode() if self._answers else b"")
        writer.close()
        await writer.wait_closed()
        self.left.set()


async def talk(console: Guarded) -> None:
    server = await asyncio.start_server(console.serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        try:
            async with open_console(port, SystemClock()) as one:
                await one.say("network status")
        finally:
            await console.left.wait()


def test_a_refused_token_is_an_error_with_the_consoles_words() -> None:
    with pytest.raises(AdbCommandError, match="KO: authentication token does not match"):
        asyncio.run(talk(Guarded("KO: authentication token does not match\r\n")))


def test_nobody_on_the_port_is_said_so() -> None:
    async def story() -> None:
        server = await asyncio.start_server(Guarded().serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        async with open_console(port, SystemClock()):
            pass

    with pytest.raises(AdbConnectionError, match="no emulator console"):
        asyncio.run(story())
