"""Wi-Fi, mobile data and airplane mode by command, each read back. Knows no presets and no emulator."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from handrail.adb.shell import Shell
from handrail.android.settings import get_setting
from handrail.clock import Clock
from handrail.errors import AdbCommandError, Unsupported, VerificationFailed

SWITCH_MS = 5_000.0
"""A radio may need as long to say that it is on or off."""
_LOOK_AGAIN_MS = 100.0
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


async def is_on(shell: Shell, radio: str) -> bool:
    """wifi_on is 3 while airplane mode keeps Wi-Fi off."""
    value = await get_setting(shell, "global", _SETTINGS[radio])
    return value not in (None, "", "0") and not (radio == "wifi" and value == "3")


async def switch_radio(shell: Shell, radio: str, on: bool, clock: Clock, done: Applied) -> None:
    """`wifi` or `data`."""
    command = ["svc", radio, "enable" if on else "disable"]
    answer = await shell.run(command, check=False)
    if not answer.ok:
        said = answer.stderr.decode("utf-8", "replace").strip()
        raise AdbCommandError(f"{radio} was not switched: {said}", command=command)
    await _until(shell, radio, on, clock)
    done.applied[radio] = on


async def set_airplane_mode(shell: Shell, on: bool, clock: Clock, done: Applied) -> None:
    """By command from Android 11 on; before, both radios are turned off in its place."""
    command = ["cmd", "connectivity", "airplane-mode", "enable" if on else "disable"]
    answer = await shell.run(command, check=False)
    known = answer.ok and b"Unknown command" not in answer.stderr + answer.stdout
    if known:
        await _until(shell, "airplane_mode", on, clock)
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


async def _until(shell: Shell, radio: str, on: bool, clock: Clock) -> None:
    deadline = clock.monotonic_ms() + SWITCH_MS
    while await is_on(shell, radio) != on:
        if clock.monotonic_ms() >= deadline:
            raise VerificationFailed(
                f"{radio} is still {_said(not on)}",
                hint="A device's owner can forbid it.",
                expected=on,
                observed=not on,
            )
        await clock.sleep_ms(_LOOK_AGAIN_MS)
