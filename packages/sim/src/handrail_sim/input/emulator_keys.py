"""Key codes of other worlds as Android's: Linux evdev, USB HID, X11, and the names of web browsers."""

from __future__ import annotations

from handrail_sim.resources import table

_TABLE = table("input/emulator_keys.toml")

EVDEV: dict[int, int] = {int(code): key for code, key in _TABLE["evdev"].items()}
"""As the emulator's own keyboard layout has them."""

USB: dict[int, int] = {int(code, 16): key for code, key in _TABLE["usb"].items()}

NAMES: dict[str, int] = _TABLE["names"]
"""KeyboardEvent.key values that are no characters."""

X11_OFFSET = 8


def android_code(kind: int, code: int) -> int | None:
    """`kind` is KeyboardEvent.KeyCodeType: 0 USB, 1 evdev, 2 X11; Windows' and Apple's are not known."""
    if kind == 0:
        return USB.get(code & 0xFFFF)
    if kind == 1:
        return EVDEV.get(code)
    return EVDEV.get(code - X11_OFFSET) if kind == 2 else None
