"""System properties and settings: getprop, setprop, settings, wm."""

from __future__ import annotations

import re

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage
from handrail_sim.shell.system.verbs import Handler, JavaError, Verbs, does, plain, reads
from handrail_sim.system.properties import SETTINGS

SETTABLE = ("debug.", "log.", "persist.log.", "persist.debug.", "service.adb.", "test.")
"""Prefixes the shell may write on a production build."""
TABLES = ("system", "secure", "global")


async def getprop(call: Call) -> int:
    options, props = call.options, call.phone.props
    if options.rest:
        return await call.line(props.get(options.rest[0], options.rest[1] if options.rest[1:] else ""))
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


def _words(args: list[str]) -> list[str]:
    """All but `--user ID`: a value may begin with a dash."""
    at = args.index("--user") if "--user" in args else len(args)
    return args[:at] + args[at + 2 :]


async def _table(call: Call, args: list[str], verb: str) -> int:
    words = _words(args)
    table = words[0].lower()
    if table not in TABLES:
        return await call.err(f"Invalid namespace '{words[0]}'", 255)
    values = call.phone.settings[table]
    before = values.get(words[1]) if words[1:] else None
    if verb == "list":
        await call.out("".join(f"{name}={values[name]}\n" for name in sorted(values)))
    elif verb == "get":
        await call.line(values.get(words[1], "null"))
    elif call.phone.faults.get("settings_refused") is not None:
        raise JavaError(
            "java.lang.SecurityException",
            "Permission denial: writing to settings requires:android.permission.WRITE_SECURE_SETTINGS",
            "com.android.providers.settings.SettingsProvider"
            ".enforceWritePermission(SettingsProvider.java:2377)",
        )
    elif verb == "put":
        try:
            call.phone.put_setting(table, words[1], words[2])
        except ValueError:
            values.pop(words[1])
            values |= {} if before is None else {words[1]: before}
            text = f"Invalid value: {words[2]} for setting: {words[1]}"
            raise JavaError("java.lang.IllegalArgumentException", text) from None
    else:
        await call.line(f"Deleted {int(words[1] in values)} rows")
        values.pop(words[1], None)
    return 0


def _on_table(verb: str) -> Handler:
    async def run(call: Call, args: list[str]) -> int:
        return await _table(call, args, verb)

    return run


async def _reset(call: Call, args: list[str]) -> int:
    """What a package or a mode wrote goes back; nothing here was written with a default."""
    table, mode = _words(args)[:2]
    if table not in TABLES or table == "system":
        raise JavaError("java.lang.IllegalArgumentException", f"Invalid namespace: {table}")
    if mode not in {"untrusted_defaults", "untrusted_clear", "trusted_defaults"} and "." not in mode:
        raise JavaError("java.lang.IllegalArgumentException", f"Invalid reset mode: {mode}")
    own = SETTINGS[table]
    for name in [word for word in call.phone.settings[table] if word not in own]:
        call.phone.settings[table].pop(name)
    return 0


_USER = "[--user USER_ID]"
SETTINGS_VERBS = Verbs(
    "Settings provider (settings) commands:",
    {
        "get": (f"{_USER} NAMESPACE KEY", _on_table("get")),
        "put": (f"{_USER} NAMESPACE KEY VALUE [TAG] [default]", _on_table("put")),
        "delete": (f"{_USER} NAMESPACE KEY", _on_table("delete")),
        "reset": (f"{_USER} NAMESPACE PACKAGE_NAME|RESET_MODE", _reset),
        "list": (f"{_USER} NAMESPACE", _on_table("list")),
    },
    has_options=False,
)


async def _fixed(call: Call, args: list[str]) -> int:
    return await _stored(call, args, "fixed_to_user_rotation", ("default", "enabled", "disabled"))


async def _ignore(call: Call, args: list[str]) -> int:
    words = [{"1": "true", "0": "false"}.get(word, word) for word in plain(args)]
    return await _stored(call, words, "ignore_orientation_request", ("false", "true"))


async def _stored(call: Call, args: list[str], name: str, allowed: tuple[str, ...]) -> int:
    held, words = call.phone.service_state("window"), plain(args)
    if not words:
        return await call.line(held.get(name, allowed[0]))
    if words[0] not in allowed:
        return await call.err(f"Error: expecting {', '.join(allowed)}, but we get {words[0]}", 255)
    held[name] = words[0]
    return 0


def _ignored(call: Call, _: list[str]) -> str:
    held = call.phone.service_state("window").get("ignore_orientation_request", "false")
    return f"ignoreOrientationRequest {held} for displayId=0"


def _shown(handler: Handler) -> Handler:
    """Without `-d DISPLAY`, which names another one rarely."""
    return lambda call, args: handler(call, plain(args, frozenset({"-d"})))


def _measured(verb: str, handler: Handler) -> Handler:
    own = _shown(handler)

    async def run(call: Call, args: list[str]) -> int:
        # The display that `-d ID` names, unless it is the phone's own.
        named = call.args[call.args.index("-d") + 1 :][:1] if "-d" in call.args else []
        panels = [entry for entry in call.phone.displays.logical() if entry.number != 0]
        other = next((panel for panel in panels if [str(panel.number)] == named), None)
        if other is None or plain(args, frozenset({"-d"})):
            return await own(call, args)
        value = f"{other.width}x{other.height}" if verb == "size" else str(other.density)
        return await call.line(f"Physical {verb}: {value}")

    return run


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
        return await call.err(f"Error: bad size {args[0]}", 255)
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
        return await call.err(f"Error: bad number {args[0]}", 255)
    density = display.physical_density if args[0] == "reset" else int(args[0])
    if not 72 <= density <= 2000:
        return await call.err("Error: density must be >= 72", 255)
    call.phone.set_density(density)
    return 0


async def _rotation(call: Call, args: list[str]) -> int:
    """Only a locked rotation turns the screen: a free one follows the sensor, which lies flat here."""
    phone = call.phone
    if not args:
        free = phone.settings["system"].get("accelerometer_rotation", "1") == "1"
        return await call.line("free" if free else f"lock {phone.display.rotation}")
    if args[0] == "free":
        phone.settings["system"]["accelerometer_rotation"] = "1"
        return 0
    if args[0] != "lock" or (args[1:] and args[1] not in {"0", "1", "2", "3"}):
        return await call.err(f"Error: expecting rotation lock 0-3 or free, but we get {' '.join(args)}", 255)
    rotation = int(args[1]) if args[1:] else phone.display.rotation
    phone.settings["system"] |= {"accelerometer_rotation": "0", "user_rotation": str(rotation)}
    phone.set_rotation(rotation)
    return 0


WM = Verbs(
    "Window manager (window) commands:",
    {
        "size": ("[-d DISPLAY_ID] [reset|WxH]", _measured("size", _size)),
        "density": ("[-d DISPLAY_ID] [reset|DENSITY]", _measured("density", _density)),
        "user-rotation": ("[-d DISPLAY_ID] [free|lock] [ROTATION]", _shown(_rotation)),
        "set-user-rotation": ("[-d DISPLAY_ID] free|lock [ROTATION]", _shown(_rotation)),
        "dismiss-keyguard": ("", does(lambda call, _: call.phone.set_awake(True))),
        "fixed-to-user-rotation": ("[enabled|disabled|default]", _fixed),
        "set-fix-to-user-rotation": ("[enabled|disabled|default]", _fixed),
        "set-ignore-orientation-request": ("true|false", _ignore),
        "get-ignore-orientation-request": ("", reads(_ignored)),
    },
)


FAMILY: dict[str, Command] = {"getprop": getprop, "setprop": setprop}
FAMILY |= {"settings": SETTINGS_VERBS.command, "wm": WM.command}
