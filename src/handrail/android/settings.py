"""Device settings, orientation, network, appearance, location and media. Every change is read back."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, TypeVar

from handrail.adb.device import AdbDevice
from handrail.adb.sending import sending, was_refused
from handrail.adb.shell import TIMEOUT_MS, DeviceShell
from handrail.android.dumpsys import orientation_of, read_display
from handrail.android.emulator_console import console_port, open_console, read_status
from handrail.android.input import VENDOR_SWITCHES
from handrail.clock import Clock
from handrail.errors import AdbCommandError, InvalidAction, Unsupported, VerificationFailed
from handrail.protocol.target import value_in_words
from handrail.surface.values import Display, NetworkChange

Table = Literal["system", "secure", "global"]
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]*")


def _check(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidAction(f"{name!r} is not the name of a setting", path="name")
    return name


async def get_setting(shell: DeviceShell, table: Table, name: str) -> str | None:
    """Returns None if it was never set: the device prints `null`."""
    text = (await shell.run(["settings", "get", table, _check(name)])).text.strip("\r\n")
    return None if text == "null" else text


async def put_setting(shell: DeviceShell, table: Table, name: str, value: str) -> None:
    """Reads back, because a vendor's lock ignores writes silently."""
    command = ["settings", "put", table, _check(name), value]
    await _run_checked(shell, command, f"{table}/{name} was not set", hint=VENDOR_SWITCHES)
    current = await get_setting(shell, table, name)
    if current != value:
        raise VerificationFailed(
            f"{table}/{name} is {value_in_words(current)}", expected=value, observed=current
        )


Orientation = Literal["portrait", "landscape", "auto"]
TURN_MS = 3_000.0
"""Time that a screen may need to rotate."""
_READ_AGAIN_MS = 100.0
T = TypeVar("T")


async def set_orientation(
    shell: DeviceShell, orientation: Orientation, clock: Clock
) -> Literal["portrait", "landscape"]:
    """Locks or unlocks the rotation and waits until the screen has rotated."""
    if orientation not in ("portrait", "landscape", "auto"):
        raise InvalidAction(f"{orientation!r} is not an orientation", path="orientation")
    if orientation == "auto":
        await put_setting(shell, "system", "accelerometer_rotation", "1")
        return orientation_of(await read_display(shell, TIMEOUT_MS))
    rotation = quarter_for(await read_display(shell, TIMEOUT_MS), orientation)
    await put_setting(shell, "system", "accelerometer_rotation", "0")
    await put_setting(shell, "system", "user_rotation", str(rotation))

    async def current() -> Literal["portrait", "landscape"]:
        return orientation_of(await read_display(shell, TIMEOUT_MS))

    hint = "The app in front fixes its orientation; leave it, or turn the screen before it starts."
    await _until(current, orientation, TURN_MS, clock, "the screen stays", hint)
    return orientation


def quarter_for(display: Display, orientation: Orientation) -> int:
    """Rotation for this orientation; a tablet is often landscape by default."""
    wide_by_nature = (display.width > display.height) != bool(display.rotation % 2)
    return int((orientation == "landscape") != wide_by_nature)


NETWORK_PRESETS: dict[str, tuple[str, str]] = {
    "gsm": ("gsm", "gprs"),
    "gprs": ("gprs", "gprs"),
    "edge": ("edge", "edge"),
    "umts": ("umts", "umts"),
    "3g": ("umts", "umts"),
    "hsdpa": ("hsdpa", "none"),
    "lte": ("lte", "none"),
    "full": ("full", "none"),
}
"""Speed and delay of each preset, in the console's words."""
SPEEDS = frozenset({"gsm", "hscsd", "gprs", "edge", "umts", "hsdpa", "lte", "evdo", "full"})
DELAYS = frozenset({"none", "gprs", "edge", "umts"})
UNLIMITED = frozenset({"full", "none"})


def expand_preset(change: NetworkChange) -> NetworkChange:
    """Expands a preset; explicit parts win."""

    def either(explicit: bool | None, otherwise: bool | None) -> bool | None:
        return otherwise if explicit is None else explicit

    if change.preset is None:
        return change
    if change.preset == "offline":
        return replace(change, preset=None, airplane_mode=either(change.airplane_mode, True))
    if change.preset not in NETWORK_PRESETS:
        raise InvalidAction(f"{change.preset!r} is not a kind of network", path="preset")
    speed, delay = NETWORK_PRESETS[change.preset]
    on = True if change.preset == "full" else None
    return NetworkChange(
        None, change.speed or speed, change.delay or delay, either(change.wifi, on), either(change.data, on),
        either(change.airplane_mode, False),
    )  # fmt: skip


async def set_network(shell: DeviceShell, serial: str, change: NetworkChange, clock: Clock) -> Applied:
    """Applies all changes, or raises before the first one if any is impossible."""
    wanted = expand_preset(change)
    port = console_port(serial)
    unlimited = change.preset == "full" and port is None and change.speed is None and change.delay is None
    shaping = (wanted.speed is not None or wanted.delay is not None) and not unlimited
    for limit, names, path in ((wanted.speed, SPEEDS, "speed"), (wanted.delay, DELAYS, "delay")):
        if limit is not None and limit not in names and not re.fullmatch(r"[0-9]{1,9}:[0-9]{1,9}", limit):
            raise InvalidAction(f"{limit!r} is not a network {path}", path=path)
    if shaping and port is None:
        raise Unsupported(
            f"{serial} is not an emulator of this machine: only an emulator's console sets speed and delay",
            hint="On a phone use wifi, airplane_mode, or the presets full and offline.",
        )
    if over_the_air(serial) and (wanted.wifi is False or wanted.airplane_mode):
        raise Unsupported(
            f"{serial} is reached through the network that this would turn off",
            hint="Connect the phone by cable first.",
        )
    done = Applied()
    # Airplane mode first: leaving it brings radios back, entering it takes them away.
    if wanted.airplane_mode is not None:
        await set_airplane_mode(shell, wanted.airplane_mode, clock, done)
    for name, on in (("wifi", wanted.wifi), ("data", wanted.data)):
        if on is not None:
            await switch_radio(shell, name, on, clock, done)
    if shaping and port is not None:
        async with open_console(port, clock) as console:
            for name, value in (("speed", wanted.speed), ("delay", wanted.delay)):
                if value is not None:
                    await console.say(f"network {name} {value}")
            speed_bps, delay_ms = read_status(await console.say("network status"))
        _compare("speed", wanted.speed, 1_000, speed_bps, done)
        _compare("delay", wanted.delay, 1, delay_ms, done)
    elif unlimited:
        done.notes.append("a phone's speed is not limited")
    return done


def _compare(what: str, wanted: str | None, unit: int, actual: tuple[int, int], done: Applied) -> None:
    """Numbers are compared exactly; the meaning of names differs between emulators."""
    if wanted is None:
        return
    first, colon, second = wanted.partition(":")
    is_named = (actual == (0, 0)) == (wanted in UNLIMITED)
    if not (actual == (int(first) * unit, int(second) * unit) if colon else is_named):
        reason = f"the emulator's {what} is {value_in_words(actual)}"
        raise VerificationFailed(reason, expected=wanted, observed=list(actual))
    done.applied[what] = wanted


SWITCH_MS = 5_000.0
"""Time that a radio may need to report its state."""
_SETTINGS = {"wifi": "wifi_on", "data": "mobile_data", "airplane_mode": "airplane_mode_on"}
"""The global setting that holds a radio's state."""


@dataclass(slots=True)
class Applied:
    """Changes that were confirmed by reading back."""

    applied: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def message(self) -> str:
        words = [f"{name} {_on_or_off(value)}" for name, value in self.applied.items()]
        return "; ".join([", ".join(words) or "nothing changed", *self.notes])

    def to_dict(self) -> dict[str, Any]:
        return {"applied": self.applied, "message": self.message}


def _on_or_off(value: object) -> object:
    return ("on" if value else "off") if isinstance(value, bool) else value


def over_the_air(serial: str) -> bool:
    """Whether adb depends on the device's network: wireless debugging or the address of another machine."""
    if "_adb-tls-connect._tcp" in serial:
        return True
    host, colon, _ = serial.rpartition(":")
    try:
        return bool(colon) and not ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return bool(colon) and host != "localhost"


async def is_on(shell: DeviceShell, radio: str) -> bool:
    """wifi_on is 3 while airplane mode keeps Wi-Fi off."""
    value = await get_setting(shell, "global", _SETTINGS[radio])
    return value not in (None, "", "0") and not (radio == "wifi" and value == "3")


async def switch_radio(shell: DeviceShell, radio: str, on: bool, clock: Clock, done: Applied) -> None:
    """Switches `wifi` or `data`."""
    command = ["svc", radio, "enable" if on else "disable"]
    await _run_checked(shell, command, f"{radio} was not switched")
    await _until_radio(shell, radio, on, clock)
    done.applied[radio] = on


async def set_airplane_mode(shell: DeviceShell, on: bool, clock: Clock, done: Applied) -> None:
    """By command from Android 11 on; before, both radios are turned off in its place."""
    command = ["cmd", "connectivity", "airplane-mode", "enable" if on else "disable"]
    answer = await shell.run(command, check=False)
    if answer.ok and b"Unknown command" not in answer.stderr + answer.stdout:
        await _until_radio(shell, "airplane_mode", on, clock)
        done.applied["airplane_mode"] = on
        return
    was_refused()
    if on:
        done.notes.append("this Android can't set airplane mode by command: Wi-Fi and data are off instead")
        await switch_radio(shell, "wifi", False, clock, done)
        await switch_radio(shell, "data", False, clock, done)
    elif await is_on(shell, "airplane_mode"):
        raise Unsupported(
            "this Android does not leave airplane mode by command",
            hint="Leave it on the phone, in the quick settings.",
        )
    else:
        done.applied["airplane_mode"] = on


async def _until_radio(shell: DeviceShell, radio: str, on: bool, clock: Clock) -> None:
    hint = "A device's owner can forbid it."
    await _until(lambda: is_on(shell, radio), on, SWITCH_MS, clock, f"{radio} is still", hint)


async def _until(
    read: Callable[[], Awaitable[T]], expected: T, within_ms: float, clock: Clock, message: str, hint: str
) -> None:
    """Reads again and again; raises `VerificationFailed` if it is not as expected in time."""
    deadline = clock.monotonic_ms() + within_ms
    while (now := await read()) != expected:
        if clock.monotonic_ms() >= deadline:
            reason = f"{message} {_on_or_off(now)}"
            raise VerificationFailed(reason, hint=hint, expected=expected, observed=now)
        await clock.sleep_ms(_READ_AGAIN_MS)


_NIGHT = re.compile(r"Night mode:\s*(\w+)")
_FOLDERS = {
    ".png": "Pictures", ".jpg": "Pictures", ".jpeg": "Pictures", ".gif": "Pictures", ".webp": "Pictures",
    ".mp4": "Movies",
}  # fmt: skip
_SHARED = "/sdcard"
_UNSAFE = re.compile(r"[^A-Za-z0-9._ -]")
_PROVIDER = "gps"
MOCKED_BY = "com.android.shell"
"""The package whose mock locations the phone must accept."""


async def set_appearance(shell: DeviceShell, appearance: Literal["dark", "light"]) -> str:
    """Returns the appearance that the phone reports afterwards."""
    word = "yes" if appearance == "dark" else "no"
    await _run_checked(shell, ["cmd", "uimode", "night", word])
    night = _NIGHT.search(await _run_checked(shell, ["cmd", "uimode", "night"]))
    now = "" if night is None else "dark" if night[1] == "yes" else "light"
    if now != appearance:
        raise VerificationFailed(
            f"the phone stays {now or 'as it is'}",
            hint="Battery saver and schedules of night mode decide before this does.",
            expected=appearance,
            observed=now,
        )
    return now


async def set_location(shell: DeviceShell, latitude: float, longitude: float) -> str:
    """Uses a test provider, which needs Android 12."""
    place = f"{latitude:.6f},{longitude:.6f}"
    await shell.run(["appops", "set", MOCKED_BY, "android:mock_location", "allow"], check=False)
    start = ["cmd", "location", "providers"]
    added = await shell.run([*start, "add-test-provider", _PROVIDER], check=False)
    if not added.ok or "Unknown command" in added.text:
        raise Unsupported(
            "this Android does not accept mock locations by command",
            hint="It needs Android 12; on an emulator use its own location panel.",
        )
    await _run_checked(shell, [*start, "set-test-provider-enabled", _PROVIDER, "true"])
    await _run_checked(shell, [*start, "set-test-provider-location", _PROVIDER, "--location", place])
    if place not in (await shell.run(["dumpsys", "location"], check=False)).text:
        raise VerificationFailed("the phone does not say that it is there", expected=place, observed=None)
    return place


async def add_media(device: AdbDevice, shell: DeviceShell, path: Path) -> str:
    """Copies into the shared folder that galleries show, and registers it with the media store."""
    folder = _FOLDERS.get(path.suffix.lower())
    if folder is None:
        raise InvalidAction(
            f"{path.name} is neither an image nor a video",
            path="path",
            hint=f"Give one of {', '.join(_FOLDERS)}.",
        )
    if not path.is_file():
        raise InvalidAction(f"{path} is not a file", path="path", hint="Give a file that exists.")
    remote = posixpath.join(_SHARED, folder, _UNSAFE.sub("_", path.name))
    with sending(["push", remote]) as answered:
        size = await device.files.push(path, remote)
        answered(True)
    scan = ["content", "call", "--uri", "content://media/", "--method", "scan_file", "--arg", remote]
    await shell.run(scan, check=False)  # old versions scan by themselves
    copied = (await device.files.stat(remote)).size
    if copied != size:
        raise VerificationFailed(f"{remote} has {copied} bytes", expected=size, observed=copied)
    return remote


async def _run_checked(
    shell: DeviceShell, command: list[str], failure: str | None = None, hint: str | None = None
) -> str:
    answer = await shell.run(command, check=False)
    if not answer.ok:
        complaint = (answer.complaint.strip() or answer.text.strip())[:300]
        reason = f"{failure or ' '.join(command[:3])}: {complaint}"
        raise AdbCommandError(reason, hint=hint, command=command)
    return answer.text
