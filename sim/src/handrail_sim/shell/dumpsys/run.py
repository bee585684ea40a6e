"""`dumpsys` itself: which services there are and who answers for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys import activity, notices, package, power, radio, screen, told, window

Handler = Callable[[Call, list[str]], Awaitable[int]]
SERVICES: dict[str, Handler] = {
    "SurfaceFlinger": screen.surface_flinger,
    "accessibility": notices.accessibility,
    "account": told.account,
    "activity": activity.run,
    "alarm": power.alarm,
    "appops": told.app_ops,
    "audio": radio.audio,
    "battery": power.battery,
    "bluetooth_manager": radio.bluetooth,
    "clipboard": notices.clipboard,
    "connectivity": radio.connectivity,
    "cpuinfo": power.cpuinfo,
    "device_config": told.device_config,
    "device_policy": told.device_policy,
    "deviceidle": power.deviceidle,
    "diskstats": told.diskstats,
    "display": screen.display,
    "dropbox": told.dropbox,
    "gfxinfo": screen.gfxinfo,
    "input": screen.input_service,
    "input_method": screen.input_method,
    "locale": told.locale,
    "location": notices.location,
    "lock_settings": told.lock_settings,
    "media_session": notices.media_session,
    "meminfo": power.meminfo,
    "mount": told.mount,
    "netpolicy": told.netpolicy,
    "notification": notices.notification,
    "overlay": told.overlay,
    "package": package.run,
    "power": power.power,
    "role": told.role,
    "settings": told.settings,
    "statusbar": notices.statusbar,
    "telephony.registry": radio.telephony,
    "thermalservice": told.thermal,
    "trust": notices.trust,
    "uimode": notices.uimode,
    "usagestats": notices.usagestats,
    "user": notices.user,
    "wifi": radio.wifi,
    "window": window.run,
}
PRIORITIES = ("CRITICAL", "HIGH", "NORMAL")
USAGE = """usage: dumpsys
         To dump all services.
or:
       dumpsys [-t TIMEOUT] [--priority LEVEL] [--clients] [--dump] [--pid] [--thread] [--help | -l | \
--skip SERVICES | SERVICE [ARGS]]
         --help: shows this help
         -l: only list services, do not dump them
         -t TIMEOUT_SEC: TIMEOUT to use in seconds instead of default 10 seconds
         -T TIMEOUT_MS: TIMEOUT to use in milliseconds instead of default 10 seconds
         --priority LEVEL: filter services based on specified priority
               LEVEL must be one of CRITICAL | HIGH | NORMAL
         --skip SERVICES: dumps all services but SERVICES (comma-separated list)
         SERVICE [ARGS]: dumps only service SERVICE, optionally passing ARGS to it
"""


class _Wrong(Exception):
    """An option that dumpsys does not know, or a value it can't use."""


def _options(args: list[str]) -> tuple[list[str], dict[str, str]]:
    """Options before the service; the others are the service's own."""
    given, todo = dict[str, str](), list(args)
    while todo and todo[0].startswith("-"):
        name = todo.pop(0)
        if name in {"-t", "-T", "--priority", "--skip"}:
            if not todo:
                raise _Wrong(f"{name[1:]}: option requires an argument")
            given[name] = todo.pop(0)
        elif name in {"-l", "--help", "--proto", "--dump"}:
            given[name] = ""
        else:
            raise _Wrong(name)
    if not given.get("-t", "1").isdigit() or not given.get("-T", "1").isdigit():
        raise _Wrong("Error: invalid timeout (in seconds) number")
    if given.get("--priority", "NORMAL") not in PRIORITIES:
        raise _Wrong("priority")
    return todo, given


async def run(call: Call) -> int:
    """`dumpsys [-l] [-t SECONDS] [SERVICE [ARGUMENTS]]`."""
    try:
        args, given = _options(call.args)
    except _Wrong as wrong:
        await call.err(f"{wrong}\n\n{USAGE}" if str(wrong).startswith("Error") else USAGE)
        return 255
    call.phone.catch_up()
    if "--help" in given:
        await call.out(USAGE)
        return 0
    if "-l" in given:
        await call.line("Currently running services:")
        await call.out("".join(f"  {name}\n" for name in sorted(SERVICES, key=str.lower)))
        return 0
    if not args:
        return await _all(call, given.get("--skip", "").split(","))
    handler = SERVICES.get(args[0])
    if handler is None:
        await call.err(f"Can't find service: {args[0]}")
        return 0
    return await handler(call, args[1:])


async def _all(call: Call, skipped: list[str]) -> int:
    names = [name for name in SERVICES if name not in skipped]
    await call.line("Currently running services:")
    await call.out("".join(f"  {name}\n" for name in names))
    for name in names:
        await call.line(f"{'-' * 79}\nDUMP OF SERVICE {name}:")
        await SERVICES[name](call, [])
    return 0


FAMILY: dict[str, Command] = {"dumpsys": run}
