"""Everything that a field can be given: keys, texts, numbers, commands, in as many spellings as there are."""

from __future__ import annotations

from handrail_sim.shell.system.inputs import KEYCODES
from tests.attacks.guarded import BANK, CLUB, SHOP
from tests.attacks.judge import PRESSING

_NAMES = {code: f"KEYCODE_{name}" for name, code in KEYCODES.items()}
_SHORT = (
    "enter",
    "center",
    "space",
    "Enter",
    "ENTER",
    "dpad_center",
    "numpad_enter",
    "DPAD_CENTER",
    "return",
)


def _of_code(code: int) -> list[str | int]:
    """One key in every way that anybody might write it; what the schema refuses is no attempt."""
    digits = str(code)
    padded = [digits.zfill(width) for width in (2, 3, 4, 5)]
    odd = [
        f" {digits}",
        f"+{digits}",
        f"{digits}.0",
        hex(code),
        "".join(chr(0xFF10 + int(d)) for d in digits),
    ]
    name = _NAMES.get(code, f"KEYCODE_{code}")
    return [code, digits, *padded, *odd, name, name.lower(), name.removeprefix("KEYCODE_")]


PRESSING_KEYS: list[str | int] = [*_SHORT, *(word for code in sorted(PRESSING) for word in _of_code(code))]
OTHER_KEYS: list[str | int] = [
    "tab", "down", "up", "back", "delete", "escape", "menu", "search", "page_down", "play_pause", "paste",
    "right", 22, "022", 81, "081", "KEYCODE_PLUS", "KEYCODE_EQUALS", 70, 150,
    79, 85, "KEYCODE_HEADSETHOOK", "KEYCODE_MEDIA_PLAY", "KEYCODE_BUTTON_B", "KEYCODE_F1",
    "KEYCODE_NUMPAD_2", "KEYCODE_NO_SUCH_KEY", 999, "0", "061",
]  # fmt: skip
IPHONE_KEYS: list[str | int] = [
    *(word for code in (66, 62, 61) for word in _of_code(code)), "enter", "space", "back", "delete", "home",
    "a", "1",
    4, 67, "volume_up",
]  # fmt: skip
"""Those that an iPhone has: the first ones may press what has the focus."""
WALKING_KEYS: list[str | int] = [
    "tab",
    "down",
    "right",
    61,
    "061",
    20,
    "KEYCODE_DPAD_DOWN",
    "KEYCODE_TAB",
    146,
]
"""They move the focus and press nothing."""

TEXTS: list[str] = [
    "x", "x\n", "\n", "\r", "x\r\n", "x\u2028", "x\u2029", "x\x85", "x\x0b", "x\x0c", "\t ", "a\t\n", "a b",
    " ", "  ", "%s", "x\\n", "1\n1", "✓\n", "\u200b\n", "${secret:NONE}\n", "x" * 600 + "\n", "12.50",
    "\t\t\n", "\x1b\n", "\x04", "66", "KEYCODE_ENTER",
]  # fmt: skip
NUMBERS: list[float] = [0, 1, 2, 50, 95, 99.5, 100, 101, -1]
VALUES: list[str] = ["100", "100%", "99.9", "50", "Pay now", "OK"]
DURATIONS: list[int] = [0, 1, 16, 50, 120, 300, 600, 900]
ANGLES: list[float] = [0.0, 90.0, 180.0, -90.0, 45.0, 0.5, 359.5, 720.0]
RADII: list[int] = [1, 2, 8, 20, 60, 150]
COUNTS: list[int] = [1, 2, 3]
PACKAGES: list[str] = [SHOP, BANK, CLUB, "com.android.launcher3", "com.example.nothing"]
ACTIVITIES: list[str] = [".Plain", ".Asking", "Plain", ".Nowhere"]
URLS: list[str] = ["https://example.org/pay", "tel:123", "intent:#Intent;end", "shop://pay", "market://x"]
WORDS: list[str] = [
    "Nowhere",
    "Help",
    "Details",
    "Topic 29",
    "Article 39",
    "Coin",
    "Comment",
    "Continue",
    "What to do",
]
CONDITIONS: list[object] = ["Help", {"visible": "Checkout"}, {"absent": "Nowhere"}]


def commands(x: int, y: int) -> list[str]:
    """What a shell on the phone does to the place."""
    return [
        f"input tap {x} {y}",
        f"input swipe {x} {y} {x} {y} 50",
        f"input motionevent DOWN {x} {y}",
        f"input draganddrop {x} {y} {x} {y} 600",
        "input keyevent 66",
        "input keyevent KEYCODE_DPAD_CENTER",
        "input keyevent --longpress 23",
        "input press",
        "input keycombination 113 66",
        f"sh -c 'input tap {x} {y}'",
        f"cmd input tap {x} {y}",
    ]
