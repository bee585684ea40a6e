"""Each trouble that somebody with an iPhone can have, in the words and with the remedy of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import HandrailError
from handrail.ios.discovery import discover_iphones
from handrail.ios.examine import check_iphones, iphones_on_usb
from handrail.ios.surface import open_iphone
from handrail.surface.listing import DiscoveredDevice
from handrail_sim.iphone import IPhone, ServedIPhone, doors, serve_iphone, simulated_iphone
from tests.scenario.world import play, usual_clock
from tests.unit.android.private_adb import free_port

TROUBLES = {
    "no runner": (["wda_gone"], "", "no WebDriverAgent runs on it", "signature"),
    "not trusted": (["untrusted", "wda_gone"], "", "does not trust this computer", "tap Trust"),
    "developer mode": (["developer_mode_off", "wda_gone"], "", "Developer Mode is off", "Privacy & Security"),
    "iOS 17.2": (["wda_gone"], "17.2", "iOS 17.2", "17.4"),
    "iOS 17.3.1": (["wda_gone"], "17.3.1", "needs root", "Update"),
    "iOS 17.4": (["wda_gone"], "17.4", "no WebDriverAgent runs on it", "docs/quickstart/iphone.md"),
    "it hangs": (["wda_hangs"], "", "answers nothing", "Unlock"),
}


def listed(
    faults: list[str], version: str = "", env: Mapping[str, str] | None = None
) -> tuple[list[DiscoveredDevice], tuple[str, ...]]:
    async def run() -> tuple[list[DiscoveredDevice], tuple[str, ...]]:
        async with simulated_iphone(clock=usual_clock(), faults=faults) as iphone:
            iphone.phone.ios_version = version or iphone.phone.ios_version
            places = {"USBMUXD_SOCKET_ADDRESS": iphone.usbmux, "PATH": "", **(env or {})}
            listing = await discover_iphones(usual_clock(), places)
            return list(listing.devices), listing.notes

    return play(run())


@pytest.mark.parametrize("name", TROUBLES)
def test_an_iphone_that_can_not_be_used_says_why_and_what_mends_it(name: str) -> None:
    faults, version, problem, remedy = TROUBLES[name]
    [phone], notes = listed(faults, version)
    assert not phone.usable
    assert problem in phone.problem
    assert remedy in phone.what_to_do
    assert any("experimental" in note for note in notes)


def test_an_iphone_that_works_has_no_trouble() -> None:
    [phone], notes = listed([])
    assert (phone.usable, phone.problem, phone.model) == (True, "", "iPhone, iOS 17.5.1")
    assert any("experimental" in note for note in notes)


def test_no_iphone_is_no_trouble_and_no_note() -> None:
    assert listed(["phone_gone"]) == ([], ())


def checked(story: Callable[[ServedIPhone], Any], faults: list[str]) -> list[tuple[str, str, str]]:
    async def run() -> list[tuple[str, str, str]]:
        async with simulated_iphone(clock=usual_clock(), faults=faults) as iphone:
            story(iphone)
            env = {"USBMUXD_SOCKET_ADDRESS": iphone.usbmux, "PATH": "", "HANDRAIL_WDA_PORT": "8100"}
            return [tuple(line) for line in await check_iphones(usual_clock(), env)]

    return play(run())


def test_a_missing_usbmuxd_is_a_note_and_a_warning_where_an_iphone_is_on_the_cable(tmp_path: Path) -> None:
    async def run() -> list[tuple[str, str, str]]:
        env = {"USBMUXD_SOCKET_ADDRESS": f"{tmp_path}/none", "PATH": ""}
        return [tuple(line) for line in await check_iphones(usual_clock(), env)]

    [(state, what, remedy)] = play(run())
    assert (state, "usbmuxd" in what, bool(remedy)) == ("note", True, True)
    device = tmp_path / "1-2"
    device.mkdir()
    (device / "idVendor").write_text("05ac\n")
    (device / "product").write_text("iPhone\n")
    other = tmp_path / "1-3"
    other.mkdir()
    (other / "idVendor").write_text("05ac\n")
    (other / "product").write_text("Keyboard\n")
    assert iphones_on_usb(tmp_path) == ["iPhone"]


def test_doctor_says_that_go_ios_is_missing_and_that_all_of_it_is_experimental() -> None:
    lines = checked(lambda _: None, [])
    assert [state for state, _, _ in lines][:2] == ["ok", "note"]
    assert "experimental" in lines[0][1]
    assert "go-ios" in lines[1][1]


@pytest.mark.parametrize("is_reachable", [True, False])
def test_a_runner_that_the_whole_network_reaches_is_warned_of(
    is_reachable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WebDriverAgent tells the iPhone's address in the network: here this machine's own, or nobody's."""
    port = free_port()
    monkeypatch.setattr(doors, "WDA_PORT", port)

    async def run() -> list[tuple[str, str, str]]:
        phone = IPhone(clock=usual_clock())
        phone.wifi_address = "127.0.0.1" if is_reachable else "127.0.0.1.invalid"
        async with serve_iphone(phone, port=port) as iphone:
            env = {"USBMUXD_SOCKET_ADDRESS": iphone.usbmux, "PATH": "", "HANDRAIL_WDA_PORT": str(port)}
            return [tuple(line) for line in await check_iphones(usual_clock(), env)]

    warnings = [what for state, what, _ in play(run()) if state == "warning"]
    assert ["no password" in what for what in warnings] == [True] * is_reachable


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", b"220 ftp ready\r\n", b""]
)
def test_another_program_on_the_port_is_not_taken_for_a_runner(answer: bytes) -> None:
    async def run() -> str:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1000)
            writer.write(answer)
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(HandrailError) as refused:
                await open_iphone(f"ios:http://127.0.0.1:{port}", usual_clock(), {"PATH": ""})
            return f"{refused.value.code} {refused.value.hint}"

    assert play(run()).startswith("IOS_CONNECTION_ERROR")
