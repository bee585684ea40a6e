"""Shells of the services around the screen: appearance, status bar, display, sound, overlays, locales.

Each verb does what it says to the phone's own state, or is not in the table.
"""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.dumpsys.window import info
from handrail_sim.shell.system.inputs import key_code
from handrail_sim.shell.system.verbs import Verbs, does, integer, plain, reads, says, value_of

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
