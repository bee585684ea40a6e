"""`cmd SERVICE …`: the shell side of system services; the large ones are commands of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys.run import MUTE, SERVICES
from handrail_sim.shell.dumpsys.screen import DISPLAY_ID
from handrail_sim.shell.system import am, appops, inputs, notify, pm, props, radio

ALIASES: dict[str, Command] = {
    "package": pm.run,
    "activity": am.run,
    "input": inputs.run,
    "settings": props.settings,
    "window": props.wm,
    "appops": appops.run,
}


async def clipboard(call: Call, args: list[str]) -> int:
    """`cmd clipboard get|set|clear` of some vendors' builds; Android's own service has no shell side.

    `setprop debug.sim.cmd_clipboard 1` makes the phone one of those builds.
    """
    verb = args[0] if args else ""
    if call.phone.props.get("debug.sim.cmd_clipboard") != "1":
        await call.err("No shell command implementation.")
    elif verb in {"get", "get-primary-clip", "get-text"}:
        await call.line(call.phone.clipboard)
    elif verb in {"set", "set-primary-clip", "set-text"} and args[1:]:
        call.phone.clipboard = " ".join(args[1:])
    elif verb in {"clear", "clear-primary-clip"}:
        call.phone.clipboard = ""
    else:
        await call.err(f"Unknown command: {verb}")
        return 255
    return 0


async def uimode(call: Call, args: list[str]) -> int:
    """`cmd uimode night [yes|no|auto]`."""
    if args[:1] != ["night"]:
        await call.err(f"Unknown command: {args[0] if args else ''}")
        return 255
    if args[1:] and args[1] not in {"yes", "no", "auto", "custom_schedule", "custom_bedtime"}:
        await call.err("Error: mode must be 'yes', 'no', or 'auto'")
        return 255
    if args[1:]:
        call.phone.set_dark(args[1] == "yes")
    await call.line(f"Night mode: {'yes' if call.phone.display.dark else 'no'}")
    return 0


async def statusbar(call: Call, args: list[str]) -> int:
    """`cmd statusbar expand-notifications|expand-settings|collapse`."""
    verb, ui = args[0] if args else "", call.phone.systemui
    if verb in {"expand-notifications", "expand-settings"}:
        ui.open_shade(verb == "expand-settings")
    elif verb == "collapse":
        ui.close_shade()
    elif verb == "get-status-icons":
        await call.line("rotate\nheadset\nbluetooth\nmobile\nwifi\nbattery\nclock")
    elif verb == "click-tile" or verb.endswith("-tile") or verb == "send-disable-flag":
        return 0
    else:
        await call.err(f"Unknown command: {verb}")
        return 255
    return 0


async def display(call: Call, args: list[str]) -> int:
    """`cmd display get-displays|set-brightness|power-on|power-off`."""
    screen = call.phone.display
    if args[:1] == ["get-displays"]:
        state = "ON" if call.phone.awake else "OFF"
        size = f"{screen.width} x {screen.height}"
        await call.line(
            f'Displays:\nDisplay id 0: DisplayInfo{{"Built-in Screen", displayId 0, displayGroupId 0, '
            f'state {state}, type INTERNAL, uniqueId "local:{DISPLAY_ID}", app {size}, real {size}, '
            f"rotation {screen.rotation}, density {screen.density}}}, isValid=true"
        )
    elif args[:1] == ["set-brightness"] and args[1:]:
        level = min(1.0, max(0.0, float(args[1]))) if args[1].replace(".", "", 1).isdigit() else 0.5
        call.phone.put_setting("system", "screen_brightness", str(round(level * 255)))
    elif args[:1] == ["power-on"] or args[:1] == ["power-off"]:
        call.phone.set_awake(args[0] == "power-on")
    return 0


async def media_session(call: Call, args: list[str]) -> int:
    """`cmd media_session volume [--set N]`."""
    if args[:1] == ["volume"] and "--set" in args:
        value = args[args.index("--set") + 1 : args.index("--set") + 2]
        call.phone.volume = min(15, int(value[0])) if value and value[0].isdigit() else call.phone.volume
    if args[:1] == ["volume"]:
        await call.line("[V] will control stream=3 (STREAM_MUSIC)")
        await call.line(f"[V] will get volume\n[V] volume is {call.phone.volume} in range [0..15]")
    return 0


async def overlay(call: Call, args: list[str]) -> int:
    """`cmd overlay list`: three buttons at the foot."""
    if args[:1] == ["list"]:
        await call.line(
            "android\n[x] com.android.internal.systemui.navbar.threebutton\n[ ] "
            "com.android.internal.systemui.navbar.gestural"
        )
    return 0


async def locale(call: Call, args: list[str]) -> int:
    """`cmd locale get-app-locales PACKAGE`."""
    if args[:1] == ["get-app-locales"] and args[1:]:
        await call.line(f"Locales for {args[1]} for user 0 are []")
    return 0


async def accepted(_: Call, __: list[str]) -> int:
    """A service that takes a command without any effect on this phone."""
    return 0


Handler = Callable[[Call, list[str]], Awaitable[int]]
HANDLERS: dict[str, Handler] = {
    "clipboard": clipboard,
    "uimode": uimode,
    "statusbar": statusbar,
    "display": display,
    "media_session": media_session,
    "overlay": overlay,
    "locale": locale,
    "connectivity": radio.connectivity,
    "wifi": radio.wifi,
    "bluetooth_manager": radio.bluetooth,
    "phone": radio.phone,
    "notification": notify.run,
    "battery": SERVICES["battery"],
}


async def run(call: Call) -> int:
    """`cmd -l` or `cmd SERVICE …`."""
    args = call.args
    if args[:1] == ["-w"]:
        args = args[1:]
    if args[:1] == ["-l"]:
        names = sorted({*ALIASES, *HANDLERS, *SERVICES, *MUTE}, key=str.lower)
        await call.out("Currently running services:\n" + "".join(f"  {name}\n" for name in names))
        return 0
    if not args:
        await call.err(
            "cmd: No service specified; use -l to list all running services. Use -w to start and wait."
        )
        return 20
    if args[0] in ALIASES:
        call.argv = args
        return await ALIASES[args[0]](call)
    if args[0] in HANDLERS:
        return await HANDLERS[args[0]](call, args[1:])
    if args[0] in SERVICES or args[0] in MUTE:
        return await accepted(call, args[1:])
    await call.err(f"cmd: Can't find service: {args[0]}")
    return 20


async def service(call: Call) -> int:
    """`service list|check|call`: the bare binder."""
    names = sorted({*ALIASES, *HANDLERS, *SERVICES, *MUTE})
    verb, name = [*call.args, "", ""][:2]
    if verb == "list":
        await call.line(f"Found {len(names)} services:")
        await call.out("".join(f"{at}\t{one}: [android.os.I{one.title()}]\n" for at, one in enumerate(names)))
        return 0
    if verb == "check":
        await call.line(f"Service {name}: {'found' if name in names else 'not found'}")
        return 0
    if verb != "call":
        await call.err("service: No action specified for call")
        return 10
    if name not in names:
        await call.line(f"service: Service {name} does not exist")
        return 10
    if name == "statusbar" and call.args[2:3] in (["1"], ["2"]):
        await statusbar(call, ["expand-notifications" if call.args[2] == "1" else "collapse"])
    await call.line("Result: Parcel(00000000    '....')")
    return 0


FAMILY: dict[str, Command] = {"cmd": run, "service": service}
