"""`dumpsys` itself: which services there are and who answers for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys import activity, notices, package, power, radio, screen, window

Handler = Callable[[Call, list[str]], Awaitable[int]]
SERVICES: dict[str, Handler] = {
    "SurfaceFlinger": screen.surface_flinger,
    "accessibility": notices.accessibility,
    "activity": activity.run,
    "alarm": power.alarm,
    "audio": radio.audio,
    "battery": power.battery,
    "bluetooth_manager": radio.bluetooth,
    "clipboard": notices.clipboard,
    "connectivity": radio.connectivity,
    "cpuinfo": power.cpuinfo,
    "deviceidle": power.deviceidle,
    "display": screen.display,
    "gfxinfo": screen.gfxinfo,
    "input": screen.input_service,
    "input_method": screen.input_method,
    "location": notices.location,
    "media_session": notices.media_session,
    "meminfo": power.meminfo,
    "notification": notices.notification,
    "package": package.run,
    "power": power.power,
    "statusbar": notices.statusbar,
    "telephony.registry": radio.telephony,
    "trust": notices.trust,
    "uimode": notices.uimode,
    "usagestats": notices.usagestats,
    "user": notices.user,
    "wifi": radio.wifi,
    "window": window.run,
}
_MUTE = """
account appops appwidget autofill backup bluetooth carrier_config content cpu_monitor device_policy
diskstats dropbox fingerprint graphicsstats imms iphonesubinfo isms isub jobscheduler launcherapps
lock_settings media.audio_flinger media.camera mount netpolicy netstats network_management
permission permissionmgr phone procstats role search sensorservice settings shortcut simphonebook
slice storaged telecom thermalservice time_detector updatelock usb vibrator_manager voiceinteraction
wallpaper webviewupdate
"""
MUTE = frozenset(_MUTE.split())
"""Services that are there and say nothing of interest."""


async def run(call: Call) -> int:
    """`dumpsys [-l] [-t SECONDS] [SERVICE [ARGUMENTS]]`."""
    args = call.args
    while args and args[0] in {"-t", "-T", "--priority"}:
        args = args[2:]
    while args and args[0] in {"--proto", "--pid", "--thread"}:
        args = args[1:]
    call.phone.catch_up()
    if args[:1] == ["-l"]:
        await call.line("Currently running services:")
        await call.out("".join(f"  {name}\n" for name in sorted({*SERVICES, *MUTE}, key=str.lower)))
        return 0
    if not args:
        return await _all(call)
    if args[0] in MUTE:
        return 0
    handler = SERVICES.get(args[0])
    if handler is None:
        await call.err(f"Can't find service: {args[0]}")
        return 0
    return await handler(call, args[1:])


async def _all(call: Call) -> int:
    await call.line("Currently running services:")
    await call.out("".join(f"  {name}\n" for name in SERVICES))
    for name, handler in SERVICES.items():
        await call.line(f"{'-' * 79}\nDUMP OF SERVICE {name}:")
        await handler(call, [])
    return 0


FAMILY: dict[str, Command] = {"dumpsys": run}
