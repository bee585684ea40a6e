"""Devices as they are listed before anybody opens one: what they are called, and why one can't be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from handrail.config import Transport, canonical, transport

USABLE = "device"
STATES = {
    "offline": (
        "it does not answer; it may be booting",
        "Wait for the boot to end, or replug the cable, then run `adb reconnect offline`.",
    ),
    "unauthorized": (
        "the phone has not accepted this computer's key",
        "Unlock the phone and accept the prompt “Allow USB debugging?”.",
    ),
    "no permissions": (
        "this user may not open the USB device",
        "Run `sudo apt install android-sdk-platform-tools-common` for its udev rules, then replug the phone.",
    ),
    "recovery": ("it runs the recovery system, not Android", "Run `adb reboot` to start Android."),
    "sideload": ("it waits for an update to be sideloaded", "Run `adb reboot` to start Android."),
    "rescue": ("it is in rescue mode", "Run `adb reboot` to start Android."),
    "bootloader": ("it is in its boot loader", "Run `fastboot reboot` to start Android."),
    "authorizing": ("keys are being exchanged", "Run `handrail devices` again in a few seconds."),
    "connecting": ("the connection is being made", "Run `handrail devices` again in a few seconds."),
    "host": ("it is a computer in gadget mode, not a phone", "Unplug it, or name another device."),
    "detached": ("another program keeps it", "Run `adb attach` to take it back."),
}
"""States in which a device can't be used, by the adb server's word: what each means, and what to do."""

UNKNOWN = ("adb gives it a state that Handrail does not know", "Replug the cable and look again.")


@dataclass(frozen=True, slots=True)
class DiscoveredDevice:
    """A listed device, usable or not."""

    serial: str
    state: str = USABLE
    via: Literal["server", "direct", "handrail"] = "server"
    """`handrail`: only another running Handrail has it."""
    model: str = ""
    product: str = ""
    reason: str = ""
    """The error message, if it says more than the state."""
    remedy: str = ""
    """What to do, if it differs from the state's own remedy."""

    @property
    def usable(self) -> bool:
        return self.state == USABLE

    @property
    def transport(self) -> Transport:
        return transport(self.serial)

    @property
    def identity(self) -> str:
        return canonical(self.serial)

    @property
    def problem(self) -> str:
        return "" if self.usable else self.reason or STATES.get(self.state, UNKNOWN)[0]

    @property
    def what_to_do(self) -> str:
        return "" if self.usable else self.remedy or STATES.get(self.state, UNKNOWN)[1]

    def __str__(self) -> str:
        model = f" ({self.model})" if self.model else ""
        return f"{self.serial}{model}" + ("" if self.usable else f": {self.state}, {self.problem}")

    def to_dict(self) -> dict[str, Any]:
        """`problem` and `what_to_do` are only present if it can't be used."""
        fields = {"serial": self.serial, "state": self.state, "usable": self.usable, "via": self.via}
        fields |= {"transport": self.transport, "model": self.model, "product": self.product}
        return fields if self.usable else {**fields, "problem": self.problem, "what_to_do": self.what_to_do}


@dataclass(frozen=True, slots=True)
class Listing:
    """Devices, and notes on why some may be missing."""

    devices: tuple[DiscoveredDevice, ...]
    notes: tuple[str, ...] = ()
