"""Phones on a cable as the kernel lists them, and what has to be tapped on them, by vendor.

adb says nothing of a phone whose USB debugging is off, nor of one that this user may not open.
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
class Vendor:
    """Where a vendor's settings have what a first contact needs, as its phones of the last years name it."""

    name: str
    build_number: str = "Settings → About phone → Build number"
    developer: str = "Settings → System → Developer options"
    more: str = ""
    """What else stands in the way on these phones; one sentence."""


ANY = Vendor("Android")
VENDORS = {
    "18d1": Vendor("Google"),
    "04e8": Vendor(
        "Samsung",
        "Settings → About phone → Software information → Build number",
        "Settings → Developer options",
        "Switch Settings → Security and privacy → Auto Blocker off: it forbids commands by USB.",
    ),
    "2717": Vendor(
        "Xiaomi",
        "Settings → About phone → OS version (MIUI version)",
        "Settings → Additional settings → Developer options",
        "Switch on “USB debugging (Security settings)” as well: without it taps are refused.",
    ),
    "22d9": Vendor(
        "Oppo, Realme",
        "Settings → About device → Version → Build number",
        "Settings → System settings → Developer options",
        "Switch on “Disable permission monitoring”: without it taps are refused.",
    ),
    "2a70": Vendor("OnePlus", "Settings → About device → Version → Build number"),
    "12d1": Vendor(
        "Huawei, Honor",
        developer="Settings → System & updates → Developer options",
        more="Switch on “Allow ADB debugging in charge only mode”, or choose file transfer.",
    ),
    "2d95": Vendor(
        "Vivo",
        "Settings → About phone → Software information → Software version",
        more="Switch on “USB security operations”: without it taps are refused.",
    ),
    "22b8": Vendor("Motorola"),
    "0fce": Vendor("Sony"),
    "0b05": Vendor("Asus"),
    "1004": Vendor("LG", "Settings → System → About phone → Software info → Build number"),
}
"""By the USB vendor number. Written from memory, checked against no phone and no help page."""


@dataclass(frozen=True, slots=True)
class UsbPhone:
    """A phone on a cable."""

    name: str
    node: Path
    """The file that adb opens."""
    permitted: bool
    debugging: bool = True
    """Whether its USB debugging is on."""
    vendor: Vendor = ANY


def usb_phones(sysfs: Path = SYSFS, bus: Path = BUS) -> list[UsbPhone] | None:
    """Those with USB debugging on, and others of known vendors; None where the system keeps no such list."""
    if not sysfs.is_dir():
        return None
    debugging = {path.name.split(":")[0] for path in sysfs.glob("*:*") if _is_adb(path)}
    devices = [path for path in sorted(sysfs.iterdir()) if ":" not in path.name]
    return [
        _phone(path, bus, path.name in debugging)
        for path in devices
        if path.name in debugging or _word(path / "idVendor") in VENDORS
    ]


def _is_adb(interface: Path) -> bool:
    names = ("bInterfaceClass", "bInterfaceSubClass", "bInterfaceProtocol")
    return tuple(_word(interface / name) for name in names) == ADB_INTERFACE


def _phone(device: Path, bus: Path, debugging: bool) -> UsbPhone:
    node = bus / _word(device / "busnum").zfill(3) / _word(device / "devnum").zfill(3)
    name = _word(device / "product") or device.name
    vendor = VENDORS.get(_word(device / "idVendor"), ANY)
    return UsbPhone(name, node, os.access(node, os.R_OK | os.W_OK), debugging, vendor)


def _word(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def switch_on(vendor: Vendor = ANY) -> list[str]:
    """What to do on the phone, in order."""
    steps = [
        f"{vendor.build_number}: tap it seven times.",
        f"{vendor.developer}: switch “USB debugging” on.",
        "Plug the phone in with a cable that carries data, unlock it, and accept “Allow USB debugging?”.",
    ]
    return [*steps[:2], *([vendor.more] if vendor.more else []), steps[2]]
