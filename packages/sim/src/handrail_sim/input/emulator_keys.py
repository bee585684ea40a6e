"""Key codes of other worlds as Android's: Linux evdev, USB HID, X11, and the names of web browsers."""

from __future__ import annotations

_LETTERS = {30: "a", 48: "b", 46: "c", 32: "d", 18: "e", 33: "f", 34: "g", 35: "h", 23: "i", 36: "j", 37: "k"}
_LETTERS |= {
    38: "l",
    50: "m",
    49: "n",
    24: "o",
    25: "p",
    16: "q",
    19: "r",
    31: "s",
    20: "t",
    22: "u",
    47: "v",
}
_LETTERS |= {17: "w", 45: "x", 21: "y", 44: "z"}

EVDEV: dict[int, int] = {code: 29 + ord(letter) - ord("a") for code, letter in _LETTERS.items()}
EVDEV |= {code: 8 + code - 2 for code in range(2, 11)} | {11: 7}  # 1 … 9, 0
EVDEV |= {1: 111, 12: 69, 13: 70, 14: 67, 15: 61, 26: 71, 27: 72, 28: 66, 39: 74, 40: 75, 41: 68, 43: 73}
EVDEV |= {51: 55, 52: 56, 53: 76, 57: 62, 102: 3, 103: 19, 104: 92, 105: 21, 106: 22, 107: 123, 108: 20}
EVDEV |= {109: 93, 111: 112, 114: 25, 115: 24, 116: 26, 139: 82, 142: 223, 143: 224, 158: 4, 172: 3, 217: 84}
EVDEV |= {232: 23, 580: 187}
"""As the emulator's own keyboard layout has them."""

USB: dict[int, int] = {0x04 + number: 29 + number for number in range(26)}
USB |= {0x1E + number: 8 + number for number in range(9)} | {0x27: 7}
USB |= {
    0x28: 66,
    0x29: 111,
    0x2A: 67,
    0x2B: 61,
    0x2C: 62,
    0x4A: 122,
    0x4B: 92,
    0x4C: 112,
    0x4D: 123,
    0x4E: 93,
}
USB |= {0x4F: 22, 0x50: 21, 0x51: 20, 0x52: 19, 0x66: 26, 0x80: 24, 0x81: 25}

NAMES: dict[str, int] = {
    "AppSwitch": 187,
    "ArrowDown": 20,
    "ArrowLeft": 21,
    "ArrowRight": 22,
    "ArrowUp": 19,
    "AudioVolumeDown": 25,
    "AudioVolumeMute": 164,
    "AudioVolumeUp": 24,
    "Backspace": 67,
    "BrowserSearch": 84,
    "Delete": 112,
    "End": 123,
    "Enter": 66,
    "Escape": 111,
    "GoBack": 4,
    "GoHome": 3,
    "Home": 122,
    "Menu": 82,
    "PageDown": 93,
    "PageUp": 92,
    "Power": 26,
    "Tab": 61,
}
"""KeyboardEvent.key values that are no characters."""

X11_OFFSET = 8


def android_code(kind: int, code: int) -> int | None:
    """`kind` is KeyboardEvent.KeyCodeType: 0 USB, 1 evdev, 2 X11; Windows' and Apple's are not known."""
    if kind == 0:
        return USB.get(code & 0xFFFF)
    if kind == 1:
        return EVDEV.get(code)
    return EVDEV.get(code - X11_OFFSET) if kind == 2 else None
