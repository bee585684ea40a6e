"""The device's settings: tables of texts, how the screen stands, and the network. Each is read back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, NamedTuple

from handrail.adb.sending import was_refused
from handrail.adb.shell import TIMEOUT_MS, DeviceShell
from handrail.android.console import console_port, open_console, read_status
from handrail.android.display import read_display
from handrail.android.input import VENDOR_SWITCHES
from handrail.clock import Clock
from handrail.errors import AdbCommandError, InvalidAction, Unsupported, VerificationFailed
from handrail.protocol.target import in_words
from handrail.surface.values import Display, NetworkChange

Table = Literal["system", "secure", "global"]
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]*")


def _check(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InvalidAction(f"{name!r} is not the name of a setting", path="name")
    return name


async def get_setting(shell: DeviceShell, table: Table, name: str) -> str | None:
    """None when it was never set: the device prints `null`."""
    text = (await shell.run(["settings", "get", table, _check(name)])).text.strip("\r\n")
    return None if text == "null" else text


async def put_setting(shell: DeviceShell, table: Table, name: str, value: str) -> None:
    """Write and read back: a vendor's lock is silent about what it ignores."""
    command = ["settings", "put", table, _check(name), value]
    answer = await shell.run(command, check=False)
    if not answer.ok:
        raise AdbCommandError(
            f"{table}/{name} was not set: {answer.stderr.decode('utf-8', 'replace').strip()}",
            hint=VENDOR_SWITCHES,
            command=command,
        )
    found = await get_setting(shell, table, name)
    if found != value:
        raise VerificationFailed(f"{table}/{name} is {in_words(found)}", expected=value, observed=found)


Orientation = Literal["portrait", "landscape", "auto"]
TURN_MS = 3_000.0
"""How long a screen may need to turn."""
_LOOK_AGAIN_MS = 100.0


class Turned(NamedTuple):
    """The screen as it stands now."""

    orientation: Literal["portrait", "landscape"]
    rotation: int
    """Quarter turns, 0 to 3."""
    held: bool
    """False: it turns with the phone."""


def stands(display: Display) -> Literal["portrait", "landscape"]:
    """The word for a screen's shape."""
    return "landscape" if display.width > display.height else "portrait"


async def set_orientation(shell: DeviceShell, orientation: Orientation, clock: Clock) -> Turned:
    """Hold the screen or free it, and wait until it stands so."""
    if orientation not in ("portrait", "landscape", "auto"):
        raise InvalidAction(f"{orientation!r} is not an orientation", path="orientation")
    if orientation == "auto":
        await put_setting(shell, "system", "accelerometer_rotation", "1")
        return await read_orientation(shell)
    rotation = quarter_for(await read_display(shell, TIMEOUT_MS), orientation)
    await put_setting(shell, "system", "accelerometer_rotation", "0")
    await put_setting(shell, "system", "user_rotation", str(rotation))
    return await _until(shell, orientation, clock)


def quarter_for(display: Display, orientation: Orientation) -> int:
    """The turn that gives this shape; a tablet is often wide when it is not turned."""
    wide_by_nature = (display.width > display.height) != bool(display.rotation % 2)
    return int((orientation == "landscape") != wide_by_nature)


async def _until(shell: DeviceShell, orientation: Orientation, clock: Clock) -> Turned:
    deadline = clock.monotonic_ms() + TURN_MS
    while (now := await read_orientation(shell)).orientation != orientation:
        if clock.monotonic_ms() >= deadline:
            raise VerificationFailed(
                f"the screen stays {now.orientation}",
                hint="The app in front fixes its orientation; leave it, or turn the screen before it starts.",
                expected=orientation,
                observed=now.orientation,
            )
        await clock.sleep_ms(_LOOK_AGAIN_MS)
    return now


async def read_orientation(shell: DeviceShell) -> Turned:
    """As it stands at this moment."""
    display = await read_display(shell, TIMEOUT_MS)
    held = await get_setting(shell, "system", "accelerometer_rotation") == "0"
    return Turned(stands(display), display.rotation, held)


LIKE: dict[str, tuple[str, str]] = {
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


def spelt_out(change: NetworkChange) -> NetworkChange:
    """A preset as its parts; what is said beside it wins."""
    if change.preset is None:
        return change
    if change.preset == "offline":
        return replace(change, preset=None, airplane_mode=_or(change.airplane_mode, True))
    if change.preset not in LIKE:
        raise InvalidAction(f"{change.preset!r} is not a kind of network", path="preset")
    speed, delay = LIKE[change.preset]
    on = True if change.preset == "full" else None
    return NetworkChange(
        None, change.speed or speed, change.delay or delay, _or(change.wifi, on), _or(change.data, on),
        _or(change.airplane_mode, False),
    )  # fmt: skip


def _or(value: bool | None, otherwise: bool | None) -> bool | None:
    return otherwise if value is None else value


async def set_network(
    shell: DeviceShell, serial: str, change: NetworkChange, clock: Clock, *, home: Path | None = None
) -> Applied:
    """Apply everything that was asked for, or raise before anything is changed where it can't be."""
    wanted = spelt_out(change)
    port = console_port(serial)
    shaping = wanted.speed is not None or wanted.delay is not None
    unlimited = change.preset == "full" and port is None and change.speed is None and change.delay is None
    shaping = shaping and not unlimited
    _check_network(wanted, serial, shaping, port)
    done = Applied()
    # Airplane mode first: leaving it brings radios back, entering it takes them away.
    if wanted.airplane_mode is not None:
        await set_airplane_mode(shell, wanted.airplane_mode, clock, done)
    for name, on in (("wifi", wanted.wifi), ("data", wanted.data)):
        if on is not None:
            await switch_radio(shell, name, on, clock, done)
    if shaping and port is not None:
        await _shape(port, wanted, clock, done, home)
    elif unlimited:
        done.notes.append("a phone's speed is not limited")
    return done


def _check_network(wanted: NetworkChange, serial: str, shaping: bool, port: int | None) -> None:
    for value, names, path in ((wanted.speed, SPEEDS, "speed"), (wanted.delay, DELAYS, "delay")):
        if value is not None and value not in names and not re.fullmatch(r"[0-9]{1,9}:[0-9]{1,9}", value):
            raise InvalidAction(f"{value!r} is not a network {path}", path=path)
    if shaping and port is None:
        raise Unsupported(
            f"{serial} is no emulator of this machine: speed and delay are set at an emulator's console",
            hint="On a phone use wifi, airplane_mode, or the presets full and offline.",
        )
    if over_the_air(serial) and (wanted.wifi is False or wanted.airplane_mode):
        raise Unsupported(
            f"{serial} is reached through the network that this would turn off",
            hint="Connect the phone by cable first.",
        )


async def _shape(port: int, wanted: NetworkChange, clock: Clock, done: Applied, home: Path | None) -> None:
    async with open_console(port, clock, home) as console:
        if wanted.speed is not None:
            await console.say(f"network speed {wanted.speed}")
        if wanted.delay is not None:
            await console.say(f"network delay {wanted.delay}")
        now = read_status(await console.say("network status"))
    _compare("speed", wanted.speed, 1_000, (now.up_bps, now.down_bps), done)
    _compare("delay", wanted.delay, 1, (now.least_ms, now.most_ms), done)


def _compare(what: str, wanted: str | None, unit: int, found: tuple[int, int], done: Applied) -> None:
    """Figures are compared exactly; what a name means differs from one emulator to the next."""
    if wanted is None:
        return
    first, colon, second = wanted.partition(":")
    if colon:
        holds = found == (int(first) * unit, int(second) * unit)
    else:
        holds = (found == (0, 0)) == (wanted in UNLIMITED)
    if not holds:
        raise VerificationFailed(
            f"the emulator's {what} is {in_words(found)}", expected=wanted, observed=list(found)
        )
    done.applied[what] = wanted


SWITCH_MS = 5_000.0
"""A radio may need as long to say that it is on or off."""
_RADIO_AGAIN_MS = 100.0
_SETTINGS = {"wifi": "wifi_on", "data": "mobile_data", "airplane_mode": "airplane_mode_on"}
"""The global setting that tells how a radio stands."""


@dataclass(slots=True)
class Applied:
    """What holds now, as it was read back."""

    applied: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def message(self) -> str:
        words = [f"{name} {_said(value)}" for name, value in self.applied.items()]
        return "; ".join([", ".join(words) or "nothing changed", *self.notes])

    def to_dict(self) -> dict[str, Any]:
        return {"applied": self.applied, "message": self.message}


def _said(value: object) -> object:
    return ("on" if value else "off") if isinstance(value, bool) else value


def over_the_air(serial: str) -> bool:
    """Whether adb itself needs the device's network: wireless debugging, an address of another machine."""
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
    """`wifi` or `data`."""
    command = ["svc", radio, "enable" if on else "disable"]
    answer = await shell.run(command, check=False)
    if not answer.ok:
        said = answer.stderr.decode("utf-8", "replace").strip()
        raise AdbCommandError(f"{radio} was not switched: {said}", command=command)
    await _until_radio(shell, radio, on, clock)
    done.applied[radio] = on


async def set_airplane_mode(shell: DeviceShell, on: bool, clock: Clock, done: Applied) -> None:
    """By command from Android 11 on; before, both radios are turned off in its place."""
    command = ["cmd", "connectivity", "airplane-mode", "enable" if on else "disable"]
    answer = await shell.run(command, check=False)
    known = answer.ok and b"Unknown command" not in answer.stderr + answer.stdout
    if not known:
        was_refused()
    if known:
        await _until_radio(shell, "airplane_mode", on, clock)
    elif on:
        done.notes.append("this Android sets no airplane mode by command: Wi-Fi and data are off instead")
        await switch_radio(shell, "wifi", False, clock, done)
        await switch_radio(shell, "data", False, clock, done)
        return
    elif await is_on(shell, "airplane_mode"):
        raise Unsupported(
            "this Android does not leave airplane mode by command",
            hint="Leave it on the phone, in the quick settings.",
        )
    done.applied["airplane_mode"] = on


async def _until_radio(shell: DeviceShell, radio: str, on: bool, clock: Clock) -> None:
    deadline = clock.monotonic_ms() + SWITCH_MS
    while await is_on(shell, radio) != on:
        if clock.monotonic_ms() >= deadline:
            raise VerificationFailed(
                f"{radio} is still {_said(not on)}",
                hint="A device's owner can forbid it.",
                expected=on,
                observed=not on,
            )
        await clock.sleep_ms(_RADIO_AGAIN_MS)
