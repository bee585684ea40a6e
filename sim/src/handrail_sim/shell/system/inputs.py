"""`input`: touches and keys as InputShellCommand injects them. The phone decides on faults."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from handrail_sim.input.keys import NoKeyFor
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.system.java import SECURITY, JavaError, integer, number, show
from handrail_sim.shell.system.keycodes import META, key_code
from handrail_sim.system.releases import release_of

_SOURCES = """
dpad keyboard mouse touchpad gamepad touchnavigation joystick touchscreen stylus trackball
rotaryencoder
"""
SOURCES = frozenset(_SOURCES.split())
USAGE = """Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]

The sources are:
      touchnavigation
      touchscreen
      joystick
      stylus
      touchpad
      gamepad
      dpad
      mouse
      keyboard
      trackball
      rotaryencoder

[-d DISPLAY_ID]: specify the display ID.
      (Default: -1 for key event, 0 for motion event if not specified.)
The commands and default sources are:
      text <string> (Default: keyboard)
      keyevent [--longpress|--doubletap|--async|--delay <duration between keycodes in ms>]\
 <key code number or name> ... (Default: keyboard)
      tap <x> <y> (Default: touchscreen)
      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      draganddrop <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      press (Default: trackball)
      roll <dx> <dy> (Default: trackball)
      motionevent <DOWN|UP|MOVE|CANCEL> <x> <y> (Default: touchscreen)
      keycombination [-t duration(ms)] <key code 1> <key code 2> ...\
 (Default: keyboard, the key order is important here.)
      scroll <x> <y> [--axis <axis>,<value>] (Default: rotaryencoder)
"""
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
    """`input tap X Y`."""
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
    """`input keyevent [--longpress|--doubletap] KEY…`."""
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
    """The trackball's button is the centre of a D-pad."""
    call.phone.key(key_code("DPAD_CENTER"))


async def roll(call: Call, args: list[str]) -> None:
    """A trackball moves the focus."""
    dx, dy = _points(args, 2)
    across, down = ("RIGHT" if dx > 0 else "LEFT"), ("DOWN" if dy > 0 else "UP")
    for name, count in ((across, abs(dx)), (down, abs(dy))):
        for _ in range(min(int(count), 100)):
            call.phone.key(key_code(f"DPAD_{name}"))


async def motionevent(call: Call, args: list[str]) -> None:
    """`input motionevent DOWN|MOVE|UP|CANCEL X Y`."""
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
    """A wheel turn is a short swipe where the pointer stands."""
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
    """`input [SOURCE] [-d DISPLAY] COMMAND …`."""
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
        await call.err(f"Error: Unknown command: {args[0]}\n{USAGE}")
        return 255
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
    await call.err(f"{error}\n{PROGRAM_TRACE}")
    return 1


async def _inject(call: Call, name: str, handler: Handler, args: list[str]) -> int:
    try:
        await handler(call, args)
    except IndexError:
        await call.err(f"Error: Invalid arguments for command: {name}\n{USAGE}")
        return 255
    except JavaError as error:
        return await show(call, name, error)
    return 0


FAMILY: dict[str, Command] = {"input": run}
