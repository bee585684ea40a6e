"""The kernel's side of touch and keys: /dev/input, what is written to it, and who listens.

Events that come from `input` or an accessibility service are made above the kernel and are not seen here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

EV_SYN, EV_KEY, EV_ABS = 0, 1, 3
SYN_REPORT = 0
SLOT, TOUCH_MAJOR, X, Y, TRACKING_ID, PRESSURE = 0x2F, 0x30, 0x35, 0x36, 0x39, 0x3A
BTN_TOUCH = 0x14A
UP = 0xFFFFFFFF
SLOTS = 10
TYPES = {EV_SYN: "EV_SYN", EV_KEY: "EV_KEY", EV_ABS: "EV_ABS"}
AXES = {SLOT: "ABS_MT_SLOT", TOUCH_MAJOR: "ABS_MT_TOUCH_MAJOR", X: "ABS_MT_POSITION_X"}
AXES |= {Y: "ABS_MT_POSITION_Y", TRACKING_ID: "ABS_MT_TRACKING_ID", PRESSURE: "ABS_MT_PRESSURE"}
KEYS = {
    1: ("KEY_ESC", 111), 14: ("KEY_BACKSPACE", 67), 15: ("KEY_TAB", 61), 28: ("KEY_ENTER", 66),
    57: ("KEY_SPACE", 62), 102: ("KEY_HOME", 3), 103: ("KEY_UP", 19), 105: ("KEY_LEFT", 21),
    106: ("KEY_RIGHT", 22), 108: ("KEY_DOWN", 20), 113: ("KEY_MUTE", 164), 114: ("KEY_VOLUMEDOWN", 25),
    115: ("KEY_VOLUMEUP", 24), 116: ("KEY_POWER", 26), 139: ("KEY_MENU", 82), 142: ("KEY_SLEEP", 223),
    143: ("KEY_WAKEUP", 224), 158: ("KEY_BACK", 4), 172: ("KEY_HOMEPAGE", 3), 217: ("KEY_SEARCH", 84),
    580: ("KEY_APPSELECT", 187),
}  # fmt: skip
"""Linux's number, its name, and Android's key, as Generic.kl has them."""
_LETTERS = ("qwertyuiop", 16), ("asdfghjkl", 30), ("zxcvbnm", 44)
for _row, _first in _LETTERS:
    for _at, _letter in enumerate(_row):
        KEYS[_first + _at] = (f"KEY_{_letter.upper()}", 29 + ord(_letter) - ord("a"))
for _at, _digit in enumerate("1234567890"):
    KEYS[2 + _at] = (f"KEY_{_digit}", 7 + int(_digit))


@dataclass(frozen=True, slots=True)
class Device:
    """One file in /dev/input."""

    path: str
    name: str
    keys: tuple[int, ...]
    touch: bool = False


DEVICES = (
    Device("/dev/input/event0", "gpio-keys", (114, 115, 116)),
    Device("/dev/input/event1", "sim_touchscreen", (BTN_TOUCH,), touch=True),
    Device("/dev/input/event2", "sim_keyboard", tuple(sorted(KEYS))),
)
Event = tuple[float, str, int, int, int]  # monotonic ms, device, type, code, value


@dataclass(slots=True)
class Evdev:
    """What the kernel keeps between events: fingers by slot, and what the next report brings."""

    phone: Handset
    listeners: list[Callable[[Event], object]] = field(default_factory=list)
    slot: int = 0
    down: set[int] = field(default_factory=set)
    place: dict[int, dict[int, int]] = field(default_factory=dict)
    changed: dict[int, Literal["down", "move", "up"]] = field(default_factory=dict)

    def write(self, device: str, kind: int, code: int, value: int) -> None:
        """One event, as `sendevent` writes it."""
        event = (self.phone.now_ms(), device, kind, code, value & 0xFFFFFFFF)
        for listener in list(self.listeners):
            listener(event)
        known = next((one for one in DEVICES if one.path == device), None)
        if known is None:
            return
        if known.touch:
            self._touch(kind, code, value)
        elif kind == EV_KEY and code in known.keys and value == 1:
            self.phone.key(KEYS[code][1])

    def _touch(self, kind: int, code: int, value: int) -> None:
        if kind == EV_SYN and code == SYN_REPORT:
            self._report()
        elif kind == EV_ABS and code == SLOT:
            self.slot = max(0, min(SLOTS - 1, value))
        elif kind == EV_ABS and code == TRACKING_ID:
            self.changed[self.slot] = "up" if value & 0xFFFFFFFF == UP else "down"
        elif kind == EV_ABS and code in {X, Y}:
            self.place.setdefault(self.slot, {})[code] = value
            self.changed.setdefault(self.slot, "move")

    def _report(self) -> None:
        """The panel's coordinates are those of the screen as it was built, not as it is turned."""
        for slot, action in self.changed.items():
            if action in {"move", "up"} and slot not in self.down:
                continue
            at = self.place.get(slot, {})
            self.phone.pointer(action, *self._turned(at.get(X, 0), at.get(Y, 0)), slot)
            if action == "down":
                self.down.add(slot)
            elif action == "up":
                self.down.discard(slot)
        self.changed.clear()

    def _turned(self, x: int, y: int) -> tuple[float, float]:
        screen = self.phone.display
        match screen.rotation:
            case 1:
                return y, screen.height - 1 - x
            case 2:
                return screen.width - 1 - x, screen.height - 1 - y
            case 3:
                return screen.width - 1 - y, x
        return x, y
