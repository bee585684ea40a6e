"""The device's network: radios on and off on any device, speed and delay on emulators. All read back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from handrail.adb.shell import Shell
from handrail.android.console import console_port, open_console, read_status
from handrail.android.radios import Applied, over_the_air, set_airplane_mode, switch_radio
from handrail.clock import Clock
from handrail.errors import InvalidAction, Unsupported, VerificationFailed

Preset = Literal["gsm", "gprs", "edge", "umts", "3g", "hsdpa", "lte", "full", "offline"]
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
SPEEDS = frozenset({"gsm", "gprs", "edge", "umts", "hsdpa", "lte", "full"})
DELAYS = frozenset({"none", "gprs", "edge", "umts"})
UNLIMITED = frozenset({"full", "none"})


@dataclass(frozen=True, slots=True)
class Change:
    """What was asked for; None leaves a thing as it is."""

    preset: Preset | None = None
    speed: str | None = None
    """kbit/s "up:down"."""
    delay: str | None = None
    """A name of DELAYS, or "min:max" in ms."""
    wifi: bool | None = None
    data: bool | None = None
    airplane_mode: bool | None = None

    def spelt_out(self) -> Change:
        """The preset as its parts; what is said beside it wins."""
        if self.preset is None:
            return self
        if self.preset == "offline":
            return Change(None, self.speed, self.delay, self.wifi, self.data, _or(self.airplane_mode, True))
        if self.preset not in LIKE:
            raise InvalidAction(f"{self.preset!r} is not a kind of network", path="preset")
        speed, delay = LIKE[self.preset]
        on = True if self.preset == "full" else None
        return Change(
            None, self.speed or speed, self.delay or delay, _or(self.wifi, on), _or(self.data, on),
            _or(self.airplane_mode, False),
        )  # fmt: skip


def _or(value: bool | None, otherwise: bool | None) -> bool | None:
    return otherwise if value is None else value


async def set_network(
    shell: Shell, serial: str, change: Change, clock: Clock, *, home: Path | None = None
) -> Applied:
    """Apply everything that was asked for, or raise before anything is changed where it can't be."""
    wanted = change.spelt_out()
    port = console_port(serial)
    shaping = wanted.speed is not None or wanted.delay is not None
    unlimited = change.preset == "full" and port is None and change.speed is None and change.delay is None
    shaping = shaping and not unlimited
    _check(wanted, serial, shaping, port)
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


def _check(wanted: Change, serial: str, shaping: bool, port: int | None) -> None:
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


async def _shape(port: int, wanted: Change, clock: Clock, done: Applied, home: Path | None) -> None:
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
        raise VerificationFailed(f"the emulator's {what} is {found}", expected=wanted, observed=list(found))
    done.applied[what] = wanted
