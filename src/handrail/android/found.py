"""A device as it was found: its state, what that state means, and the one thing to do about it.

Pure: who looks for devices is `discovery`, who decides between them is `choose`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from handrail.android.serial import Transport, canonical, transport

USABLE = "device"


@dataclass(frozen=True, slots=True)
class Trouble:
    """A state in which a device can't be used."""

    meaning: str
    remedy: str


STATES: dict[str, Trouble] = {
    "offline": Trouble(
        "it is known and does not answer; it may be booting",
        "Wait for the boot to end, or replug the cable, then run `adb reconnect offline`.",
    ),
    "unauthorized": Trouble(
        "the phone has not accepted this computer's key",
        "Unlock the phone and accept the prompt “Allow USB debugging?”.",
    ),
    "no permissions": Trouble(
        "this user may not open the USB device",
        "Run `sudo apt install android-sdk-platform-tools-common` for its udev rules, then replug the phone.",
    ),
    "recovery": Trouble("it runs the recovery system, not Android", "Run `adb reboot` to start Android."),
    "sideload": Trouble("it waits for an update to be sideloaded", "Run `adb reboot` to start Android."),
    "rescue": Trouble("it is in rescue mode", "Run `adb reboot` to start Android."),
    "bootloader": Trouble("it is in its boot loader", "Run `fastboot reboot` to start Android."),
    "authorizing": Trouble("keys are being exchanged", "Run `handrail devices` again in a few seconds."),
    "connecting": Trouble("the connection is being made", "Run `handrail devices` again in a few seconds."),
    "host": Trouble("it is a computer in gadget mode, not a phone", "Unplug it, or name another device."),
    "detached": Trouble("another program keeps it", "Run `adb attach` to take it back."),
}
"""The adb server's words for a device that is not ready."""

UNKNOWN = Trouble("adb gives it a state that Handrail does not know", "Replug the cable and look again.")


@dataclass(frozen=True, slots=True)
class Found:
    """One device of a list."""

    serial: str
    state: str = USABLE
    via: Literal["server", "direct"] = "server"
    model: str = ""
    product: str = ""
    reason: str = ""
    """What the device or the way to it said, where a state alone tells too little."""
    remedy: str = ""
    """The one thing to do, where it is another than the state's own; empty for a usable device."""

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
        """Why it can't be used; empty when it can."""
        if self.usable:
            return ""
        return self.reason or STATES.get(self.state, UNKNOWN).meaning

    @property
    def what_to_do(self) -> str:
        if self.usable:
            return ""
        return self.remedy or STATES.get(self.state, UNKNOWN).remedy

    def __str__(self) -> str:
        model = f" ({self.model})" if self.model else ""
        return f"{self.serial}{model}" + ("" if self.usable else f": {self.state}, {self.problem}")

    def to_dict(self) -> dict[str, Any]:
        """As JSON at every door; the last two only where there is a problem."""
        known = {"serial": self.serial, "state": self.state, "usable": self.usable, "via": self.via}
        known |= {"transport": self.transport, "model": self.model, "product": self.product}
        return known if self.usable else {**known, "problem": self.problem, "what_to_do": self.what_to_do}


def state_of(words: str) -> str:
    """The server's state column: some versions explain themselves behind the word."""
    return next(
        (state for state in (USABLE, *STATES) if words == state or words.startswith(f"{state} ")), words
    )
