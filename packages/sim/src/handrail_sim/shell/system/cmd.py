"""`cmd SERVICE …` and `service …`: which services there are, and what each says to a shell."""

from __future__ import annotations

import struct
from itertools import pairwise

from handrail_sim.resources import table
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys.run import SERVICES
from handrail_sim.shell.dumpsys.window import info
from handrail_sim.shell.system import (
    am,
    appops,
    ime,
    inputs,
    machine_services,
    pm,
    policy_services,
    props,
    radio,
)
from handrail_sim.shell.system.inputs import key_code
from handrail_sim.shell.system.verbs import Handler, Verbs, does, integer, plain, reads, says, value_of

_USER = "[--user USER_ID]"


# appearance


async def night(call: Call, args: list[str]) -> int:
    modes = {"yes", "no", "auto", "custom_schedule", "custom_bedtime"}
    if args and args[0] not in modes:
        return await call.err("Error: mode must be 'yes', 'no', or 'auto'", 255)
    if args:
        call.phone.set_dark(args[0] == "yes")
    return await call.line(f"Night mode: {'yes' if call.phone.display.dark else 'no'}")


UIMODE = Verbs("UiModeManager service (uimode) commands:", {"night": ("[yes|no|auto]", night)})


# status bar


def _tile(call: Call, args: list[str], *, there: bool) -> None:
    secure, name = call.phone.settings["secure"], f"custom({args[0]})"
    tiles = [word for word in secure.get("sysui_qs_tiles", "").split(",") if word not in {"", name}]
    call.phone.put_setting("secure", "sysui_qs_tiles", ",".join([name, *tiles] if there else tiles))


STATUSBAR = Verbs(
    "Status bar commands:",
    {
        "expand-notifications": ("", does(lambda call, _: call.phone.systemui.open_shade(False))),
        "expand-settings": ("[PANEL]", does(lambda call, _: call.phone.systemui.open_shade(True))),
        "collapse": ("", does(lambda call, _: call.phone.systemui.close_shade())),
        "add-tile": ("COMPONENT", does(lambda call, args: _tile(call, args, there=True))),
        "remove-tile": ("COMPONENT", does(lambda call, args: _tile(call, args, there=False))),
        "check-support": ("", says("true")),
        "get-status-icons": ("", says("rotate\nheadset\nbluetooth\nmobile\nwifi\nbattery\nclock")),
    },
)


# display


async def displays(call: Call, _: list[str]) -> int:
    await call.line("Displays:")
    for panel in call.phone.displays.logical():
        await call.line(f"Display id {panel.number}: {info(call, panel)}, isValid=true")
    return 0


async def brightness(call: Call, args: list[str]) -> int:
    try:
        level = float(args[0])
    except ValueError:
        level = -1.0
    if not 0 <= level <= 1:
        return await call.err("Error: brightness should be a number between 0 and 1")
    call.phone.put_setting("system", "screen_brightness", str(round(level * 255)))
    return 0


DISPLAY = Verbs(
    "Display manager commands:",
    {
        "get-displays": ("[-i|--ids-only] [-t|--type TYPE]", displays),
        "set-brightness": ("BRIGHTNESS", brightness),
        "power-on": ("[DISPLAY_ID]", does(lambda call, _: call.phone.set_awake(True))),
        "power-off": ("[DISPLAY_ID]", does(lambda call, _: call.phone.set_awake(False))),
    },
)


# sound


async def volume(call: Call, args: list[str]) -> int:
    phone, stream = call.phone, value_of(args, "--stream", "3")
    names = {"0": "VOICE_CALL", "1": "SYSTEM", "2": "RING", "3": "MUSIC", "4": "ALARM", "5": "NOTIFICATION"}
    if stream not in names:
        return await call.err("Error: invalid stream")
    await call.line(f"[V] will control stream={stream} (STREAM_{names[stream]})")
    if stream != "3":
        return await call.line("Error: only STREAM_MUSIC has a volume on this phone", 1)
    if "--set" in args:
        phone.volume = max(0, min(15, integer(value_of(args, "--set"))))
        await call.line(f"[V] will set volume to index={phone.volume}")
    step = {"raise": 1, "lower": -1, "same": 0}.get(value_of(args, "--adj", "same"))
    if step is None:
        return await call.err(f"Error: invalid direction {value_of(args, '--adj')}")
    phone.volume = max(0, min(15, phone.volume + step))
    return await call.line(f"[V] will get volume\n[V] volume is {phone.volume} in range [0..15]")


MEDIA_KEYS = {"play": 126, "pause": 127, "play-pause": 85, "mute": 91, "headsethook": 79, "stop": 86}
MEDIA_KEYS |= {"next": 87, "previous": 88, "rewind": 89, "record": 130, "fast-forward": 90}


async def dispatch(call: Call, args: list[str]) -> int:
    if args[0] not in MEDIA_KEYS:
        return await call.err(f"Error: unknown dispatch code '{args[0]}'")
    call.phone.key(key_code(str(MEDIA_KEYS[args[0]])))
    return 0


MEDIA_SESSION = Verbs(
    "usage: media_session [subcommand] [options]",
    {
        "dispatch": ("KEY", dispatch),
        "list-sessions": ("", says("Sessions:")),
        "volume": ("[--show] [--stream STREAM] [--set INDEX] [--adj DIRECTION] [--get]", volume),
    },
)


# overlays: the buttons at the foot

_NAVBARS = {
    "com.android.internal.systemui.navbar.threebutton": "0",
    "com.android.internal.systemui.navbar.gestural": "2",
}


async def overlays(call: Call, _: list[str]) -> int:
    mode = call.phone.settings["secure"].get("navigation_mode", "0")
    rows = [f"[{'x' if mode == value else ' '}] {name}" for name, value in _NAVBARS.items()]
    return await call.line("\n".join(["android", *rows]))


async def overlay(call: Call, args: list[str], verb: str) -> int:
    name = plain(args)[0]
    if name not in _NAVBARS:
        return await call.err(f"Error: Failed to {verb} overlay {name}")
    call.phone.put_setting("secure", "navigation_mode", "0" if verb == "disable" else _NAVBARS[name])
    return 0


OVERLAY = Verbs(
    "Overlay manager (overlay) commands:",
    {
        "list": (f"[-v] {_USER} [PACKAGE]", overlays),
        "enable": (f"{_USER} PACKAGE", lambda call, args: overlay(call, args, "enable")),
        "enable-exclusive": (
            f"{_USER} [--category] PACKAGE",
            lambda call, args: overlay(call, args, "enable"),
        ),
        "disable": (f"{_USER} PACKAGE", lambda call, args: overlay(call, args, "disable")),
    },
)


# locales of apps


async def set_locales(call: Call, args: list[str]) -> int:
    package = plain(args, frozenset({"--user", "--locales", "--delegate"}))[0]
    if package not in call.phone.packages.installed:
        return await call.err(f"Unknown package {package} for userId 0", 255)
    call.phone.service_state("locale")[package] = value_of(args, "--locales")
    return 0


def locales(call: Call, args: list[str]) -> str:
    return f"Locales for {args[0]} for user 0 are [{call.phone.service_state('locale').get(args[0], '')}]"


LOCALE = Verbs(
    "Locale manager (locale) shell commands:",
    {
        "get-app-locales": (f"{_USER} PACKAGE", reads(locales)),
        "set-app-locales": (f"{_USER} [--locales TAGS] [--delegate BOOL] PACKAGE", set_locales),
    },
    "Unknown option: {}",
)

_VALUED = {
    "-t": "title",
    "--title": "title",
    "-i": "icon",
    "--icon": "icon",
    "-I": "large",
    "--large-icon": "large",
}
_VALUED |= {"-S": "style", "--style": "style", "-c": "intent", "--content-intent": "intent"}


async def _post(call: Call, args: list[str]) -> int:
    values, words = dict[str, str](), list[str]()
    while args:
        arg = args.pop(0)
        if arg in _VALUED and args:
            values[_VALUED[arg]] = args.pop(0)
        elif not arg.startswith("-"):
            words.append(arg)
        elif arg not in {"-v", "--verbose"}:
            return await call.err(f"error: unknown option {arg}\n{_USAGE}", 255)
    if len(words) < 2:
        return await call.err(_USAGE, 255)
    tag, text = words[0], " ".join(words[1:])
    notification = call.phone.notify("com.android.shell", values.get("title", tag), text, key=tag)
    return await call.line(
        "posting:\n  Notification(channel=shell_cmd shortcut=null contentView=null flags=0x0 "
        f"id={notification.number})"
    )


_USAGE = "usage: cmd notification post [flags] <tag> <text>"


async def _list(call: Call, _: list[str]) -> int:
    for note in call.phone.notifications.posted:
        package = call.phone.packages.installed.get(note.package)
        await call.line(f"0|{note.package}|{note.number}|null|{package.uid if package else 1000}")
    return 0


def _allowed(call: Call, setting: str, name: str, *, there: bool) -> None:
    held = call.phone.settings["secure"].get(setting, "").split(":")
    names = [word for word in held if word not in {"", name}] + ([name] if there else [])
    call.phone.put_setting("secure", setting, ":".join(names))


def _allow(setting: str, *, there: bool) -> Handler:
    return does(lambda call, args: _allowed(call, setting, args[0], there=there))


_DND = {"off": "0", "all": "0", "on": "1", "priority": "1", "none": "2", "alarms": "3"}


async def _set_dnd(call: Call, args: list[str]) -> int:
    if args[0] not in _DND:
        return await call.err(f"Unknown option: {args[0]}", 255)
    call.phone.put_setting("global", "zen_mode", _DND[args[0]])
    return 0


_LISTENERS, _ASSISTANT = "enabled_notification_listeners", "enabled_notification_assistant"
_POLICY = "enabled_notification_policy_access_packages"
NOTIFICATION_VERBS = Verbs(
    "usage: cmd notification SUBCMD [args]",
    {
        "allow_listener": ("COMPONENT [USER_ID]", _allow(_LISTENERS, there=True)),
        "disallow_listener": ("COMPONENT [USER_ID]", _allow(_LISTENERS, there=False)),
        "allow_assistant": ("COMPONENT [USER_ID]", _allow(_ASSISTANT, there=True)),
        "disallow_assistant": ("COMPONENT [USER_ID]", _allow(_ASSISTANT, there=False)),
        "allow_dnd": ("PACKAGE [USER_ID]", _allow(_POLICY, there=True)),
        "disallow_dnd": ("PACKAGE [USER_ID]", _allow(_POLICY, there=False)),
        "set_dnd": ("on|none|priority|alarms|all|off", _set_dnd),
        "list": ("", _list),
        "post": ("[FLAGS]... TAG TEXT", _post),
        "notify": ("[FLAGS]... TAG TEXT", _post),
    },
)


NOT_FOUND = 20
NATIVE_REFUSAL = 218  # INVALID_OPERATION, -38, as an exit code


async def clipboard(call: Call, args: list[str]) -> int:
    """`cmd clipboard get|set|clear` of some vendors' builds; Android's own service has no shell side.

    `setprop debug.sim.cmd_clipboard 1` makes the phone one of those builds.
    """
    verb = args[0] if args else ""
    if call.phone.props.get("debug.sim.cmd_clipboard") != "1":
        return await no_shell(call, args)
    if verb in {"get", "get-primary-clip", "get-text"}:
        await call.line(call.phone.read_clipboard("com.android.shell"))
    elif verb in {"set", "set-primary-clip", "set-text"} and args[1:]:
        call.phone.clipboard = " ".join(args[1:])
    elif verb in {"clear", "clear-primary-clip"}:
        call.phone.clipboard = ""
    else:
        return await call.line(f"Unknown command: {verb}", 255)
    return 0


async def no_shell(call: Call, _: list[str]) -> int:
    """What Binder says for a Java service without a shell command."""
    return await call.err("No shell command implementation.", 0)


async def native(_: Call, __: list[str]) -> int:
    """A native service without a shell command says nothing and fails."""
    return NATIVE_REFUSAL


def _command(run: Command) -> Handler:
    async def handler(call: Call, args: list[str]) -> int:
        call.argv = [call.argv[1], *args]
        return await run(call)

    return handler


VERBS: dict[str, Verbs] = {
    "activity": am.VERBS,
    "alarm": machine_services.ALARM,
    "appops": appops.VERBS,
    "battery": machine_services.BATTERY,
    "bluetooth_manager": radio.BLUETOOTH,
    "connectivity": radio.CONNECTIVITY,
    "device_config": policy_services.DEVICE_CONFIG,
    "device_policy": policy_services.DEVICE_POLICY,
    "deviceidle": machine_services.DEVICEIDLE,
    "display": DISPLAY,
    "input_method": ime.VERBS,
    "locale": LOCALE,
    "location": machine_services.LOCATION,
    "lock_settings": policy_services.LOCK_SETTINGS,
    "media_session": MEDIA_SESSION,
    "netpolicy": policy_services.NETPOLICY,
    "notification": NOTIFICATION_VERBS,
    "overlay": OVERLAY,
    "package": pm.VERBS,
    "power": machine_services.POWER,
    "role": policy_services.ROLE,
    "settings": props.SETTINGS_VERBS,
    "statusbar": STATUSBAR,
    "thermalservice": machine_services.THERMAL,
    "uimode": UIMODE,
    "user": policy_services.USERS,
    "wifi": radio.WIFI,
    "window": props.WM,
}
OTHERS: dict[str, Handler] = {"SurfaceFlinger": native, "clipboard": clipboard, "input": _command(inputs.run)}


def services() -> list[str]:
    return sorted({*VERBS, *OTHERS, *SERVICES}, key=str.lower)


async def run(call: Call) -> int:
    """`cmd -l` or `cmd SERVICE …`."""
    args = call.args
    if args[:1] == ["-w"]:
        args = args[1:]
    if args[:1] == ["-l"]:
        return await call.out("Currently running services:\n" + "".join(f"  {name}\n" for name in services()))
    if not args:
        await call.err(
            "cmd: No service specified; use -l to list all running services. Use -w to start and wait."
        )
        return NOT_FOUND
    call.argv = ["cmd", *args]
    if args[0] in VERBS:
        return await VERBS[args[0]].run(call, args[1:])
    if args[0] in OTHERS:
        return await OTHERS[args[0]](call, args[1:])
    if args[0] in SERVICES:
        return await no_shell(call, args[1:])
    await call.err(f"cmd: Can't find service: {args[0]}")
    return NOT_FOUND


_INTERFACES: dict[str, str] = table("shell/system/interfaces.toml")
SERVICE_USAGE = """Usage: service [-h|-?]
       service list
       service check SERVICE
       service call SERVICE CODE [i32 N | i64 N | f N | d N | s16 STR | null | fd f | nfd n | afd f ] ...
Options:
   i32: Write the 32-bit integer N into the send parcel.
   i64: Write the 64-bit integer N into the send parcel.
   f:   Write the 32-bit single-precision number N into the send parcel.
   d:   Write the 64-bit double-precision number N into the send parcel.
   s16: Write the UTF-16 string STR into the send parcel."""


async def service(call: Call) -> int:
    """`service list|check|call`: the bare binder."""
    verb, name, code = [*call.args, "", "", ""][:3]
    names = services()
    if verb == "list":
        await call.line(f"Found {len(names)} services:")
        rows = [f"{at}\t{word}: [{_INTERFACES.get(word, '')}]\n" for at, word in enumerate(names)]
        return await call.out("".join(rows))
    if verb == "check" and name:
        return await call.line(f"Service {name}: {'found' if name in names else 'not found'}")
    if verb == "call" and name:
        return await _call(call, name, code)
    if verb in {"-h", "-?"}:
        return await call.line(SERVICE_USAGE)
    label = (
        f"service: Unknown command {verb}"
        if verb not in {"", "check", "call"}
        else "service: No service specified"
    )
    await call.err(label if verb else "service: No action specified")
    return await call.line(SERVICE_USAGE, 10)


async def _call(call: Call, name: str, code: str) -> int:
    """A transaction: the few that shells use are known, the others answer as Binder does when none is."""
    if not code:
        return await call.err(f"service: No code specified for {name}", 10)
    if name not in services():
        return await call.err(f"service: Service {name} does not exist", 10)
    act = _TRANSACTIONS.get((name, code))
    if act is None:
        return await call.line('Result: Parcel(Error: 0xffffffffffffffb6 "Not a data message")')
    strings = [text for kind, text in pairwise(call.args[3:]) if kind == "s16"]
    wrong = act(call, strings)
    return await call.line("Result: Parcel(00000000    '....')" if not wrong else thrown(wrong))


def _expand(call: Call, _: list[str]) -> str:
    call.phone.systemui.open_shade(False)
    return ""


def _collapse(call: Call, _: list[str]) -> str:
    call.phone.systemui.close_shade()
    return ""


def _set_zone(call: Call, strings: list[str]) -> str:
    name = strings[0] if strings else ""
    return "" if not name or call.phone.set_zone(name) else f"not a valid zone ID: {name}"


_TRANSACTIONS = {("statusbar", "1"): _expand, ("statusbar", "2"): _collapse, ("alarm", "3"): _set_zone}


def thrown(words: str) -> str:
    """An exception in the reply: its kind, then its words in UTF-16, by lines of 16 bytes."""
    data = struct.pack("<ii", -3, len(words)) + (words + "\0").encode("utf-16-le")
    data += bytes(-len(data) % 4) + bytes(4)
    lines = []
    for at in range(0, len(data), 16):
        piece = data[at : at + 16]
        numbers = " ".join(f"{number:08x}" for (number,) in struct.iter_unpack("<I", piece))
        shown = "".join(chr(index) if 32 <= index < 127 else "." for index in piece)
        lines.append(f"  0x{at:08x}: {numbers:<35} '{shown}'")
    return "Result: Parcel(\n" + "\n".join(lines) + ")"


FAMILY: dict[str, Command] = {"cmd": run, "service": service}
