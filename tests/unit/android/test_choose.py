"""Which device is meant, and what is said when nobody can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.android.choose import choose
from handrail.android.discovery import state_of
from handrail.config import canonical, transport
from handrail.errors import AdbConnectionError, DeviceOffline, HandrailError, InvalidAction
from handrail.surface.listing import STATES, DiscoveredDevice
from tests.cases import each

PIXEL = DiscoveredDevice("R58M12ABC", model="Pixel_8")
OTHER_PIXEL = DiscoveredDevice("R58M99XYZ", model="Pixel_8")
TABLET = DiscoveredDevice("HA1TABLET", model="Lenovo TB-X606F")
OFFLINE = DiscoveredDevice("GHOST1", "offline", model="Nexus 5")
LOCKED = DiscoveredDevice("LOCKED1", "unauthorized")


def refused(*found: DiscoveredDevice, wanted: str | None = None, default: str | None = None) -> HandrailError:
    with pytest.raises(HandrailError) as caught:
        choose(found, wanted, default)
    return caught.value


def test_the_only_usable_device_needs_no_name() -> None:
    assert choose([PIXEL]) is PIXEL
    assert choose([OFFLINE, PIXEL, LOCKED]) is PIXEL


@each("state", [*STATES, "something new"])
def test_check_16_a_device_that_is_not_ready_is_never_chosen(state: str) -> None:
    """Not as the only one, not by its name, not as the default, not by its model."""
    one = DiscoveredDevice("GHOST1", state, model="Nexus 5")
    for attempt in (
        {},
        {"wanted": "GHOST1"},
        {"default": "GHOST1"},
        {"wanted": "ghost"},
        {"wanted": "nexus5"},
    ):
        error = refused(one, **attempt)
        assert isinstance(error, DeviceOffline)
        assert one.problem in error.message
        assert error.hint == one.what_to_do
        assert error.hint


def test_several_that_are_not_ready_are_all_explained() -> None:
    error = refused(OFFLINE, LOCKED)
    assert "GHOST1 (Nexus 5): offline" in error.message
    assert "LOCKED1: unauthorized, the phone has not accepted this computer's key" in error.message


def test_several_usable_devices_are_listed_and_the_option_is_named() -> None:
    error = refused(PIXEL, TABLET, OFFLINE)
    assert isinstance(error, InvalidAction)
    assert error.details["path"] == "device"
    assert (
        error.message
        == "2 devices are ready, and none was named: R58M12ABC (Pixel_8); HA1TABLET (Lenovo TB-X606F)"
    )
    assert error.hint == "Name one: --device R58M12ABC, or set HANDRAIL_DEVICE."


def test_without_any_device_the_error_says_how_to_get_one() -> None:
    error = refused()
    assert isinstance(error, AdbConnectionError)
    for way in ("Plug in", "`handrail sim`", "--sim"):
        assert way in error.hint


def test_a_whole_serial_beats_the_start_of_another() -> None:
    short, long = DiscoveredDevice("ABC"), DiscoveredDevice("ABCDEF")
    assert choose([long, short], "ABC") is short


@pytest.mark.parametrize("wanted", ["R58M", "pixel 8"])
def test_a_name_that_fits_two_devices_is_refused_with_both(wanted: str) -> None:
    error = refused(PIXEL, OTHER_PIXEL, wanted=wanted)
    assert isinstance(error, InvalidAction)
    assert "R58M12ABC" in error.message
    assert "R58M99XYZ" in error.message


def test_a_name_that_fits_a_usable_and_an_offline_device_is_not_guessed_at() -> None:
    assert isinstance(refused(PIXEL, DiscoveredDevice("R58M99XYZ", "offline"), wanted="R58M"), InvalidAction)


def test_an_unknown_name_is_answered_with_the_nearest_and_the_list() -> None:
    error = refused(PIXEL, TABLET, wanted="R58M12ABD")
    assert isinstance(error, AdbConnectionError)
    assert "no device 'R58M12ABD' (--device); connected: R58M12ABC (Pixel_8)" in error.message
    assert error.hint == "Did you mean R58M12ABC?"


def test_the_error_says_where_a_wrong_name_came_from() -> None:
    assert "(HANDRAIL_DEVICE)" in refused(PIXEL, default="nope").message
    assert choose([PIXEL, TABLET], wanted="HA1", default="nope") is TABLET


@each(
    ("words", "state"),
    [
        ("device", "device"),
        (
            "no permissions (user in plugdev group; are your udev rules wrong?); see [http://x]",
            "no permissions",
        ),
        ("unauthorized", "unauthorized"),
        ("devices", "devices"),
        ("strange new", "strange new"),
    ],
)
def test_states_are_read_from_the_servers_words(words: str, state: str) -> None:
    assert state_of(words) == state


@each("state", STATES)
def test_every_state_is_explained_and_has_one_thing_to_do(state: str) -> None:
    data = DiscoveredDevice("X", state).to_dict()
    assert data["usable"] is False
    assert data["problem"]
    assert data["what_to_do"].count(". ") == 0


def test_every_state_stands_in_the_docs() -> None:
    page = (Path(__file__).parents[3] / "docs" / "devices.md").read_text()
    assert [state for state in STATES if f"`{state}`" not in page] == []


@each(
    ("serial", "kind", "name"),
    [
        ("R58M12ABC", "usb", "R58M12ABC"),
        ("emulator-5554", "emulator", "emulator-5554"),
        ("127.0.0.1:5555", "tcp", "emulator-5554"),
        ("127.0.0.1:5556", "tcp", "127.0.0.1:5556"),
        ("LOCALHOST:6555", "tcp", "127.0.0.1:6555"),
        ("[::1]:6555", "tcp", "127.0.0.1:6555"),
        ("192.168.1.20:5555", "tcp", "192.168.1.20:5555"),
        ("adb-R58M-abc._adb-tls-connect._tcp", "tcp", "adb-R58M-abc._adb-tls-connect._tcp"),
        ("1234:99999", "usb", "1234:99999"),
    ],
)
def test_a_serials_shape_tells_the_way_and_the_name(serial: str, kind: str, name: str) -> None:
    assert transport(serial) == kind
    assert canonical(serial) == name
