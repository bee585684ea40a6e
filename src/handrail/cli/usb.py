"""Phones on a USB port, as the kernel lists them: whether one is there, and whether this user may open it.

adb says nothing about a phone that it may not open and little about why; these files do.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

SYSFS = Path("/sys/bus/usb/devices")
BUS = Path("/dev/bus/usb")
ADB_INTERFACE = ("ff", "42", "01")
"""Class, subclass and protocol of the interface that USB debugging adds to a phone."""


@dataclass(frozen=True, slots=True)
class UsbPhone:
    """A phone with USB debugging on."""

    name: str
    node: Path
    """The file that adb opens."""
    permitted: bool


def phones(sysfs: Path = SYSFS, bus: Path = BUS) -> list[UsbPhone] | None:
    """None where the system keeps no such list."""
    if not sysfs.is_dir():
        return None
    interfaces = (path for path in sorted(sysfs.glob("*:*")) if _is_adb(path))
    devices = dict.fromkeys(sysfs / path.name.split(":")[0] for path in interfaces)
    return [_phone(path, bus) for path in devices]


def _is_adb(interface: Path) -> bool:
    names = ("bInterfaceClass", "bInterfaceSubClass", "bInterfaceProtocol")
    return tuple(_word(interface / name) for name in names) == ADB_INTERFACE


def _phone(device: Path, bus: Path) -> UsbPhone:
    node = bus / _word(device / "busnum").zfill(3) / _word(device / "devnum").zfill(3)
    name = _word(device / "product") or device.name
    return UsbPhone(name, node, os.access(node, os.R_OK | os.W_OK))


def _word(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""
