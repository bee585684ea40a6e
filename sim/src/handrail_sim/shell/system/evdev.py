"""`getevent` and `sendevent`: the kernel's input devices, listed, watched and written to."""

from __future__ import annotations

import asyncio
from collections import deque
from weakref import WeakKeyDictionary

from handrail_sim.handset import Handset
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.kernel_input import (
    AXES,
    DEVICES,
    EV_ABS,
    EV_KEY,
    KEYS,
    SLOT,
    SLOTS,
    TRACKING_ID,
    TYPES,
    Device,
    Evdev,
    Event,
    X,
    Y,
)
from handrail_sim.shell.options import BadUsage, Options, read_getopt

_ALL: WeakKeyDictionary[Handset, Evdev] = WeakKeyDictionary()
_USAGE = """Usage: getevent [-t] [-n] [-d] [-p] [-i] [-l] [-q] [-c count] [device]
    -t: show time stamps
    -n: don't print newlines
    -p: show possible events (errs, dev, name, pos. events)
    -i: show all device info and possible events
    -l: label event types and names in plain text
    -q: quiet (clear verbosity mask)
    -c: print given number of events then exit
"""


def evdev_of(phone: Handset) -> Evdev:
    """The input devices of a phone, with their files."""
    known = _ALL.get(phone)
    if known is None:
        known = _ALL[phone] = Evdev(phone)
    return known


def _most(call: Call, axis: int) -> int:
    display = call.phone.display
    return {X: display.physical_width - 1, Y: display.physical_height - 1, SLOT: SLOTS - 1}.get(
        axis, 65535 if axis == TRACKING_ID else 255
    )


def _possible(call: Call, device: Device, *, labels: bool) -> str:
    """The keys and axes a device can send, in getevent's columns."""
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
    for number, device in reversed(list(enumerate(DEVICES, 1))):
        if device not in chosen:
            continue
        text = f"add device {number}: {device.path}\n"
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
        await call.err(_USAGE)
        return 1
    chosen = [device for device in DEVICES if not options.rest or device.path == options.rest[0]]
    if not chosen:
        await call.err(f"could not open {options.rest[0]}, No such file or directory")
        return 1
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
    """`sendevent DEVICE TYPE CODE VALUE`."""
    if len(call.args) != 4:
        await call.err("use: sendevent DEVICE TYPE CODE VALUE")
        return 1
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


FAMILY: dict[str, Command] = {"getevent": getevent, "sendevent": sendevent}
