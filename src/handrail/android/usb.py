"""Phones on a cable as the kernel lists them, and the steps to enable USB debugging, by vendor.

adb does not list a phone whose USB debugging is off, nor one that this user may not open.
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
    """Where a vendor's settings have what USB debugging needs."""

    name: str
    build_number: str = "Settings → About phone → Build number"
    developer: str = "Settings → System → Developer options"
    more: str = ""
    """Another obstacle on these phones; one sentence."""


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
"""By USB vendor id. Not verified on phones or help pages."""


@dataclass(frozen=True, slots=True)
class UsbPhone:
    """A phone on a cable."""

    name: str
    node: Path
    """The file that adb opens."""
    permitted: bool
    debugging: bool = True
    vendor: Vendor = ANY


def usb_phones(sysfs: Path = SYSFS, bus: Path = BUS) -> list[UsbPhone] | None:
    """Phones with USB debugging, and others of known vendors; None if the system has no such list."""
    if not sysfs.is_dir():
        return None
    names = ("bInterfaceClass", "bInterfaceSubClass", "bInterfaceProtocol")
    debugging = {
        path.name.split(":")[0]
        for path in sysfs.glob("*:*")
        if tuple(_word(path / name) for name in names) == ADB_INTERFACE
    }
    devices = [path for path in sorted(sysfs.iterdir()) if ":" not in path.name]
    phones = []
    for device in devices:
        vendor = VENDORS.get(_word(device / "idVendor"))
        if device.name in debugging or vendor:
            node = bus / _word(device / "busnum").zfill(3) / _word(device / "devnum").zfill(3)
            name, permitted = _word(device / "product") or device.name, os.access(node, os.R_OK | os.W_OK)
            phones.append(UsbPhone(name, node, permitted, device.name in debugging, vendor or ANY))
    return phones


def _word(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def switch_on(vendor: Vendor = ANY) -> list[str]:
    """Steps on the phone, in order."""
    steps = [
        f"{vendor.build_number}: tap it seven times.",
        f"{vendor.developer}: switch “USB debugging” on.",
        "Plug the phone in with a cable that carries data, unlock it, and accept “Allow USB debugging?”.",
    ]
    return [*steps[:2], *([vendor.more] if vendor.more else []), steps[2]]
