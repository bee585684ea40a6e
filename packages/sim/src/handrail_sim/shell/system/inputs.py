"""`input`: touches and keys as InputShellCommand injects them. The phone decides on faults."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal
from weakref import WeakKeyDictionary

from handrail_sim import resources
from handrail_sim.handset import Handset
from handrail_sim.input.keys import NoKeyFor
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage, Options, read_getopt
from handrail_sim.shell.system.verbs import SECURITY, JavaError, integer, number, show
from handrail_sim.system.releases import release_of

KEYCODES = {name: int(code) for code, name in resources.rows("shell/system/keycodes.txt")}

META = {57: 0x12, 58: 0x22, 59: 0x41, 60: 0x81, 113: 0x3000, 114: 0x5000, 117: 0x30000, 118: 0x50000}
"""Meta state bits of the modifier keys."""


def key_code(text: str) -> int:
    """A number, `KEYCODE_BACK` or `BACK`; what Android does not know is key 0."""
    if text.isdigit():
        return int(text[:6])
    return KEYCODES.get(text.upper().removeprefix("KEYCODE_"), 0)


_SOURCES = """
dpad keyboard mouse touchpad gamepad touchnavigation joystick touchscreen stylus trackball
rotaryencoder
"""
SOURCES = frozenset(_SOURCES.split())
USAGE = resources.text("shell/usage/input.txt")
INJECTED_AT = (
    "com.android.server.input.InputManagerService.injectInputEventToTarget(InputManagerService.java:694)"
)
PROGRAM_TRACE = """\tat android.os.Parcel.createException(Parcel.java:2075)
\tat android.os.Parcel.readException(Parcel.java:2043)
\tat android.hardware.input.IInputManager$Stub$Proxy.injectInputEvent(IInputManager.java:925)
\tat com.android.commands.input.Input.injectMotionEvent(Input.java:397)"""
SWIPE_MS = 300
LONG_PRESS_MS = 500


async def tap(call: Call, args: list[str]) -> None:
    x, y = _points(args, 2)
    await call.phone.tap(x, y)


async def swipe(call: Call, args: list[str]) -> None:
    """`input swipe X1 Y1 X2 Y2 [MS]`; a swipe to the same place is a long press."""
    x1, y1, x2, y2 = _points(args, 4)
    duration = max(0, integer(args[4])) if len(args) > 4 else SWIPE_MS
    if (x1, y1) == (x2, y2):
        await call.phone.long_press(x1, y1, duration)
    else:
        await call.phone.swipe(x1, y1, x2, y2, duration)


async def drag(call: Call, args: list[str]) -> None:
    """As a swipe after a long press, which picks the thing up; the hold is part of the duration."""
    x1, y1, x2, y2 = _points(args, 4)
    duration = integer(args[4]) if len(args) > 4 else SWIPE_MS
    await call.phone.drag(x1, y1, x2, y2, max(0, duration - LONG_PRESS_MS))


async def text(call: Call, args: list[str]) -> None:
    """`input text WORDS`: `%s` is a space; what no key types is a NullPointerException, as on Android."""
    try:
        call.phone.type_ascii(args[0].replace("%s", " "))
    except NoKeyFor:
        raise JavaError(
            "java.lang.NullPointerException",
            "Attempt to get length of null array",
            "com.android.server.input.InputShellCommand.sendText(InputShellCommand.java:340)",
        ) from None


async def keyevent(call: Call, args: list[str]) -> None:
    long_press = double = False
    while args and args[0] in {"--longpress", "--doubletap", "--async", "--delay"}:
        option = args.pop(0)
        long_press |= option == "--longpress"
        double |= option == "--doubletap"
        if option == "--delay" and args:
            args.pop(0)
    if not args:
        raise JavaError("java.lang.IllegalArgumentException", 'Argument expected after "keyevent"')
    for name in args:
        for _ in range(2 if double else 1):
            call.phone.key(key_code(name), long_press=long_press)


async def press(call: Call, _: list[str]) -> None:
    call.phone.key(key_code("DPAD_CENTER"))


async def roll(call: Call, args: list[str]) -> None:
    dx, dy = _points(args, 2)
    across, down = ("RIGHT" if dx > 0 else "LEFT"), ("DOWN" if dy > 0 else "UP")
    for name, count in ((across, abs(dx)), (down, abs(dy))):
        for _ in range(min(int(count), 100)):
            call.phone.key(key_code(f"DPAD_{name}"))


async def motionevent(call: Call, args: list[str]) -> None:
    if not args:
        raise JavaError("java.lang.IllegalArgumentException", 'Argument expected after "motionevent"')
    x, y = _points(args[1:], 2)
    match args[0].upper():
        case "DOWN":
            call.phone.pointer("down", x, y)
        case "MOVE":
            call.phone.pointer("move", x, y)
        case "UP":
            call.phone.pointer("up", x, y)
        case "CANCEL":
            call.phone.pointer("cancel", x, y)
        case other:
            raise JavaError("java.lang.IllegalArgumentException", f"Unknown action: {other}")


async def keycombination(call: Call, args: list[str]) -> None:
    """`input keycombination KEY KEY…`: modifiers first."""
    if args[:1] == ["-t"]:
        await call.phone.clock.sleep_ms(float(integer(args[1])))
        args = args[2:]
    if len(args) < 2:
        raise JavaError("java.lang.IllegalArgumentException", "keycombination requires at least 2 keycodes")
    codes = [key_code(name) for name in args]
    meta = 0
    for code in codes:
        meta |= META.get(code, 0)
    for code in codes:
        if code not in META:
            call.phone.key(code, meta=meta)


async def scroll(call: Call, args: list[str]) -> None:
    x, y = _points(args, 2)
    axes = dict(word.split(",", 1) for word in args if "," in word)
    step = number(axes.get("VSCROLL", "0")) * 64 * call.phone.display.density / 160
    if step:
        await call.phone.swipe(x, y, x, y + step, 100)


def _points(args: list[str], count: int) -> list[float]:
    if len(args) < count:
        raise IndexError
    return [number(arg) for arg in args[:count]]


Handler = Callable[[Call, list[str]], Awaitable[None]]
HANDLERS: dict[str, Handler] = {
    "tap": tap,
    "swipe": swipe,
    "draganddrop": drag,
    "text": text,
    "keyevent": keyevent,
    "press": press,
    "roll": roll,
    "motionevent": motionevent,
    "keycombination": keycombination,
    "scroll": scroll,
}


async def run(call: Call) -> int:
    args = call.args
    if args and args[0] in SOURCES:
        args = args[1:]
    display = "0"
    if args[:1] == ["-d"]:
        display, args = [*args[1:2], "0"][0], args[2:]
    if not args or args[0] in {"help", "-h", "--help"}:
        await call.out(USAGE)
        return 0 if args else 255
    handler = HANDLERS.get(args[0])
    if handler is None:
        return await call.err(f"Error: Unknown command: {args[0]}\n{USAGE}", 255)
    if call.phone.faults.get("input_refused", args[0]) is not None:
        return await _refused(call, args[0])
    if display not in {"0", "-1"}:
        call.phone.record_input(action=args[0], args=args[1:], display=display)
        return 0
    return await _inject(call, args[0], handler, args[1:])


async def _refused(call: Call, name: str) -> int:
    """Without INJECT_EVENTS; a program of its own, as it was, dies of what the service threw."""
    release = release_of(call.phone)
    error = JavaError(SECURITY, release.input_refused, INJECTED_AT)
    if not release.input_is_a_program:
        return await show(call, name, error)
    return await call.err(f"{error}\n{PROGRAM_TRACE}")


async def _inject(call: Call, name: str, handler: Handler, args: list[str]) -> int:
    try:
        await handler(call, args)
    except IndexError:
        return await call.err(f"Error: Invalid arguments for command: {name}\n{USAGE}", 255)
    except JavaError as error:
        return await show(call, name, error)
    return 0


FAMILY: dict[str, Command] = {"input": run}


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
        existing = next((entry for entry in DEVICES if entry.path == device), None)
        if existing is None:
            return
        if existing.touch:
            self._touch(kind, code, value)
        elif kind == EV_KEY and code in existing.keys and value == 1:
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


_ALL: WeakKeyDictionary[Handset, Evdev] = WeakKeyDictionary()
_USAGE = resources.text("shell/usage/getevent.txt")


def evdev_of(phone: Handset) -> Evdev:
    evdev = _ALL.get(phone)
    if evdev is None:
        evdev = _ALL[phone] = Evdev(phone)
    return evdev


def _most(call: Call, axis: int) -> int:
    display = call.phone.display
    return {X: display.physical_width - 1, Y: display.physical_height - 1, SLOT: SLOTS - 1}.get(
        axis, 65535 if axis == TRACKING_ID else 255
    )


def _possible(call: Call, device: Device, *, labels: bool) -> str:
    names = [KEYS[key][0] if key in KEYS else "BTN_TOUCH" for key in device.keys]
    shown = [f"{name:<21}" for name in names] if labels else [f"{key:04x}" for key in device.keys]
    size, text = (4 if labels else 8), ""
    for at in range(0, len(shown), size):
        text += ("    KEY (0001): " if not at else " " * 16) + " ".join(shown[at : at + size]) + "\n"
    for at, axis in enumerate(sorted(AXES) if device.touch else []):
        name = f"{AXES[axis]:<21}" if labels else f"{axis:04x} "
        head = "    ABS (0003): " if not at else " " * 16
        text += f"{head}{name} : value 0, min 0, max {_most(call, axis)}, fuzz 0, flat 0, resolution 0\n"
    return text


async def _list(call: Call, chosen: list[Device], options: Options) -> None:
    for position, device in reversed(list(enumerate(DEVICES, 1))):
        if device not in chosen:
            continue
        text = f"add device {position}: {device.path}\n"
        if "i" in options:
            text += "  bus:      0018\n  vendor    0000\n  product   0000\n  version   0000\n"
        text += f'  name:     "{device.name}"\n'
        if "i" in options:
            text += '  location: ""\n  id:       ""\n  version:  1.0.1\n'
        if options.flags & {"p", "i"}:
            text += f"  events:\n{_possible(call, device, labels='l' in options)}  input props:\n"
            text += f"    {'INPUT_PROP_DIRECT' if device.touch else '<none>'}\n"
        await call.out(text)


def _shown(event: Event, options: Options, *, alone: bool) -> str:
    ms, path, kind, code, value = event
    words = f"{kind:04x} {code:04x} {value:08x}"
    if "l" in options:
        name = AXES.get(code, "") if kind == EV_ABS else KEYS.get(code, ("BTN_TOUCH",))[0]
        name = name if kind in {EV_ABS, EV_KEY} else "SYN_REPORT"
        says = {0: "UP", 1: "DOWN"}.get(value, f"{value:08x}") if kind == EV_KEY else f"{value:08x}"
        words = f"{TYPES.get(kind, f'{kind:04x}'):<12} {name:<20} {says:<20}".rstrip()
    stamp = f"[{ms / 1000:15.6f}] " if "t" in options else ""
    return stamp + ("" if alone else f"{path}: ") + words + ("" if "n" in options else "\n")


async def getevent(call: Call) -> int:
    """`getevent [-tlpiq] [-c COUNT] [DEVICE]`: lists with -p and -i, watches otherwise."""
    options = read_getopt(call.args, "tnpilqdhc:")
    if "h" in options:
        return await call.err(_USAGE)
    chosen = [device for device in DEVICES if not options.rest or device.path == options.rest[0]]
    if not chosen:
        return await call.err(f"could not open {options.rest[0]}, No such file or directory")
    if (not options.rest and "q" not in options) or options.flags & {"p", "i"}:
        await _list(call, chosen, options)
    if not options.flags & {"p", "i"}:
        await _watch(call, chosen, options)
    return 0


async def _watch(call: Call, chosen: list[Device], options: Options) -> None:
    waiting: deque[Event] = deque(maxlen=4096)
    came, paths = asyncio.Event(), {device.path for device in chosen}

    def take(event: Event) -> None:
        if event[1] in paths:
            waiting.append(event)
            came.set()

    devices, left = evdev_of(call.phone), options.number("c", -1)
    devices.listeners.append(take)
    try:
        while left:
            await came.wait()
            came.clear()
            while waiting and left:
                left -= 1
                await call.out(_shown(waiting.popleft(), options, alone=bool(options.rest)))
    finally:
        devices.listeners.remove(take)


async def sendevent(call: Call) -> int:
    if len(call.args) != 4:
        return await call.err("use: sendevent DEVICE TYPE CODE VALUE")
    path, *numbers = call.args
    if not call.session.files.exists(call.path(path)):
        return await call.fail(f"{path}: No such file or directory")
    if call.path(path) not in {device.path for device in DEVICES}:
        return await call.fail("EVIOCGVERSION failed: Inappropriate ioctl for device")
    try:
        kind, code, value = (int(number, 0) for number in numbers)
    except ValueError:
        raise BadUsage(f"not integer: {' '.join(numbers)}") from None
    call.phone.catch_up()
    evdev_of(call.phone).write(call.path(path), kind, code, value)
    return 0


FAMILY |= {"getevent": getevent, "sendevent": sendevent}
