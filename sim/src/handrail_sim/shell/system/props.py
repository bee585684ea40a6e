"""System properties and settings: getprop, setprop, settings, wm."""

from __future__ import annotations

import re

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage, read_options

SETTABLE = ("debug.", "log.", "persist.log.", "persist.debug.", "service.adb.", "test.")
"""Prefixes the shell may write on a production build."""
TABLES = ("system", "secure", "global")


async def getprop(call: Call) -> int:
    """`getprop [NAME [DEFAULT]]`."""
    options, props = read_options(call.args, "TZ"), call.phone.props
    if options.rest:
        await call.line(props.get(options.rest[0], options.rest[1] if options.rest[1:] else ""))
        return 0
    if props:
        await call.out("".join(f"[{name}]: [{props[name]}]\n" for name in sorted(props)))
    return 0


async def setprop(call: Call) -> int:
    """`setprop NAME VALUE`, for the names a production build leaves open."""
    if len(call.args) < 2:
        raise BadUsage("Need 2 arguments" if not call.args else "Need 1 more argument")
    name, value = call.args[:2]
    if not re.fullmatch(r"[A-Za-z0-9_.@:-]+", name) or (len(value) > 91 and not name.startswith("ro.")):
        return await call.fail(f"setprop failed: Invalid property name or value '{name}'")
    if not name.startswith(SETTABLE):
        return await call.fail(f"failed to set property '{name}' to '{value}'")
    call.phone.props[name] = value
    return 0


async def settings(call: Call) -> int:
    """`settings get|put|delete|list NAMESPACE …`."""
    args = [
        arg for at, arg in enumerate(call.args) if arg != "--user" and call.args[at - 1 : at] != ["--user"]
    ]
    if not args or args[0] == "help":
        await call.out(_USAGE)
        return 0
    verb, table = args[0], args[1] if args[1:] else ""
    if verb not in {"get", "put", "delete", "list", "reset"}:
        await call.err(f"Unknown command: {verb}")
        return 255
    if table not in TABLES:
        await call.err(f"Invalid namespace '{table}'" if table else "No namespace specified")
        return 255
    return await _on_table(call, verb, table, args[2:])


async def _on_table(call: Call, verb: str, table: str, args: list[str]) -> int:
    values = call.phone.settings[table]
    if verb == "list":
        await call.out("".join(f"{name}={values[name]}\n" for name in sorted(values)))
        return 0
    if not args or (verb == "put" and len(args) < 2):
        await call.err("Bad arguments")
        return 255
    name = args[0]
    if verb == "get":
        await call.line(values.get(name, "null"))
    elif verb == "put":
        call.phone.put_setting(table, name, args[1])
    else:
        await call.line(f"Deleted {int(name in values)} rows")
        values.pop(name, None)
    return 0


_USAGE = """Settings provider (settings) commands:
  help
      Print this help text.
  get [--user <USER_ID> | current] NAMESPACE KEY
      Retrieve the current value of KEY.
  put [--user <USER_ID> | current] NAMESPACE KEY VALUE [TAG] [default]
      Change the contents of KEY to VALUE.
  delete [--user <USER_ID> | current] NAMESPACE KEY
      Delete the entry for KEY.
  reset [--user <USER_ID> | current] NAMESPACE {PACKAGE_NAME | RESET_MODE}
      Reset the global/secure table for a package with mode.
  list [--user <USER_ID> | current] NAMESPACE
      Print all defined keys.
      NAMESPACE is one of {system, secure, global}, case-insensitive
"""


async def wm(call: Call) -> int:
    """`wm size|density|user-rotation`."""
    args = [arg for at, arg in enumerate(call.args) if arg != "-d" and call.args[at - 1 : at] != ["-d"]]
    display, verb = call.phone.display, args[0] if args else ""
    if verb == "size":
        return await _size(call, args[1:])
    if verb == "density":
        return await _density(call, args[1:])
    if verb in {"user-rotation", "set-user-rotation"}:
        return await _rotation(call, args[1:])
    if verb in {
        "dismiss-keyguard",
        "set-fix-to-user-rotation",
        "fixed-to-user-rotation",
        "overscan",
        "scaling",
    }:
        return 0
    if verb == "set-ignore-orientation-request":
        return 0
    await call.err(
        f"Unknown command: {verb}" if verb else f"Window manager ({display.width}x{display.height}) commands"
    )
    return 255


async def _size(call: Call, args: list[str]) -> int:
    display = call.phone.display
    if not args:
        await call.line(f"Physical size: {display.physical_width}x{display.physical_height}")
        if (display.natural_width, display.natural_height) != (
            display.physical_width,
            display.physical_height,
        ):
            await call.line(f"Override size: {display.natural_width}x{display.natural_height}")
        return 0
    match = re.fullmatch(r"(\d{2,5})x(\d{2,5})", args[0])
    if args[0] != "reset" and not match:
        await call.err(f"Error: bad size {args[0]}")
        return 255
    if match:
        call.phone.set_size(int(match[1]), int(match[2]))
    else:
        call.phone.set_size(display.physical_width, display.physical_height)
    return 0


async def _density(call: Call, args: list[str]) -> int:
    display = call.phone.display
    if not args:
        await call.line(f"Physical density: {display.physical_density}")
        if display.density != display.physical_density:
            await call.line(f"Override density: {display.density}")
        return 0
    if args[0] != "reset" and not args[0].isdigit():
        await call.err(f"Error: bad number {args[0]}")
        return 255
    density = display.physical_density if args[0] == "reset" else int(args[0])
    if not 72 <= density <= 2000:
        await call.err("Error: density must be >= 72")
        return 255
    call.phone.set_density(density)
    return 0


async def _rotation(call: Call, args: list[str]) -> int:
    """Only a locked rotation turns the screen: a free one follows the sensor, which lies flat here."""
    phone = call.phone
    if not args:
        free = phone.settings["system"].get("accelerometer_rotation", "1") == "1"
        await call.line("free" if free else f"lock {phone.display.rotation}")
        return 0
    if args[0] == "free":
        phone.settings["system"]["accelerometer_rotation"] = "1"
        return 0
    rotation = int(args[1]) if args[1:] and args[1] in "0123" else phone.display.rotation
    phone.settings["system"] |= {"accelerometer_rotation": "0", "user_rotation": str(rotation)}
    phone.set_rotation(rotation)
    return 0


FAMILY: dict[str, Command] = {"getprop": getprop, "setprop": setprop, "settings": settings, "wm": wm}
