"""What a serial tells by its shape alone: how the device is reached, and which two names mean one device.

Pure: opens nothing.
"""

from __future__ import annotations

import re
from typing import Literal

from handrail.config import host_port

Transport = Literal["usb", "tcp", "emulator"]

_EMULATOR = re.compile(r"emulator-(\d+)")
_PAIRED = "._adb-tls-connect._tcp"
"""How adb names a phone that it found on the network by itself."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EMULATED = range(5555, 5586, 2)
"""ADB ports of emulators on this machine; the console is one below and names the emulator."""


def transport(serial: str) -> Transport:
    """How the device is reached; what has no other shape is taken for a cable."""
    if _EMULATOR.fullmatch(serial):
        return "emulator"
    return "tcp" if host_port(serial) or _PAIRED in serial else "usb"


def canonical(serial: str) -> str:
    """One name for one device: `emulator-5554`, `localhost:5555` and `127.0.0.1:5555` are the same."""
    host, port = host_port(serial) or ("", 0)
    if host.lower() not in LOOPBACK:
        return serial
    return f"emulator-{port - 1}" if port in EMULATED else f"127.0.0.1:{port}"
