"""`dumpsys` itself: which services there are and who answers for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from string import Template

from handrail_sim import resources
from handrail_sim.disk.lookup import CAPACITY
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys import activity, package, radio, window
from handrail_sim.shell.dumpsys.shapes import hash_code
from handrail_sim.shell.system import appops, machine_services
from handrail_sim.shell.system.props import TABLES
from handrail_sim.shell.tools.names import user_name
from handrail_sim.system.notifications import Notification
from handrail_sim.system.releases import release_of
from handrail_sim.system.surroundings import last_place
from handrail_sim.system.users import users
from handrail_sim.system.vendors import vendor_of


async def notification(call: Call, args: list[str]) -> int:
    """Titles and texts are shown with --noredact only, as Android protects them."""
    await call.line("Current Notification Manager state:\n  Notification List:")
    for note in reversed(call.phone.notifications.posted):
        await call.out(_record(call, note, open_text="--noredact" in args))
    return await call.line(
        "  \n  mUseAttentionLight=false\n  mHasLight=true\n  mNotificationPulseEnabled=false\n  "
        "mSoundNotificationKey=null\n  Snoozed notifications:"
    )


def _record(call: Call, note: Notification, *, open_text: bool) -> str:
    package = call.phone.packages.installed.get(note.package)
    uid = package.uid if package else 1000
    key = f"0|{note.package}|{note.number}|null|{uid}"

    def text(value: str) -> str:
        return f"String ({value})" if open_text else f"String [length={len(value)}]"

    return f"""    NotificationRecord(0x{hash_code(2, note.number)}: pkg={note.package} \
user=UserHandle{{0}} id={note.number} \
tag=null importance={note.importance} key={key}: \
Notification(channel={note.channel} shortcut=null contentView=null \
vibrate=null sound=null defaults=0x0 flags=0x{2 if note.ongoing else 10:x} color=0x00000000 vis=PRIVATE))
      uid={uid} userId=0
      opPkg={note.package}
      flags=0x{2 if note.ongoing else 10:x}
      pri=0
      key={key}
      seen=true
      groupKey={key}
      when={note.when_ms}
      extras={{
          android.title={text(note.title)}
          android.text={text(note.text)}
          android.showWhen=Boolean (true)
      }}
"""


async def user(call: Call, _: list[str]) -> int:
    await call.line("Current user: 0\nUsers:")
    for entry in users(call.phone):
        first = str(entry.number == 0).lower()
        await call.line(
            f"  UserInfo{{{entry.number}:{entry.name}:{entry.flags:x}}} serialNo={entry.number} "
            f"isPrimary={first}\n    State: RUNNING_UNLOCKED"
        )
    return 0


async def location(call: Call, _: list[str]) -> int:
    on = call.phone.settings["secure"].get("location_mode", "0") != "0"
    await call.line(
        f"Location Manager State:\n  User 0: location setting: {str(on).lower()}\n  gps provider:\n"
        f"    enabled={str(on).lower()}"
    )
    existing = last_place(call.phone)
    if existing is not None:
        place, at_ms = existing
        age = f"et=+{(call.phone.wall_ms() - at_ms) / 1000:.3f}s"
        await call.line(
            f"    last location=Location[gps {place.latitude:.6f},{place.longitude:.6f} hAcc=5.0 {age} "
            f"alt={place.altitude:.1f}]"
        )
    for name, mocked in call.phone.service_state("location").items():
        if " " not in name:
            await call.line(
                f"  {name} provider [mock]:\n    last location=Location[{name} {mocked or 'none'}]"
            )
    return 0


async def usagestats(call: Call, _: list[str]) -> int:
    await call.line("user=0\n  In-memory daily stats")
    for name, process in call.phone.packages.processes.items():
        await call.line(
            f'      package={name} totalTimeUsed="00:00" lastTimeUsed="{int(process.started_ms)}" '
            "appLaunchCount=1"
        )
    return 0


async def settings(call: Call, _: list[str]) -> int:
    """The three tables, as their provider prints them."""
    for table in TABLES:
        await call.line(f"{table.upper()} SETTINGS (user 0)")
        for number, (name, value) in enumerate(sorted(call.phone.settings[table].items()), 1):
            await call.line(
                f"_id:{number} name:{name} pkg:android value:{value} default:{value} defaultSystemSet:true"
            )
        await call.line("")
    return 0


async def app_ops(call: Call, args: list[str]) -> int:
    await call.line("Current AppOps Service state:\n  Settings:\n    top_state_settle_time=+5s0ms")
    for app in call.phone.packages.installed.values():
        modes = appops.modes_of(call, app.name)
        if modes and (not args or args[0].startswith("-") or app.name in args):
            await call.line(f"\n  Uid {user_name(app.uid)}:\n    Package {app.name}:")
            for op, mode in sorted(modes.items()):
                await call.line(f"      {op} ({mode}):")
    return 0


async def role(call: Call, _: list[str]) -> int:
    held = call.phone.service_state("role")
    await call.line("user_id=0\nroles=[")
    for name, holder in sorted(held.items()):
        await call.line(f"  {{\n    name={name}\n    holders={holder}\n  }}")
    return await call.line("]")


async def diskstats(call: Call, _: list[str]) -> int:
    """Free space of /data, as `df` has it."""
    total = CAPACITY * 128 // 1024
    free = total - call.phone.files.used // 1024 - 8_200_000
    await call.line("Latency: 1ms [512B Data Write]\nRecent Disk Write Speed (kB/s) = 60000")
    await call.line(f"Data-Free: {free}K / {total}K total = {free * 100 // total}% free")
    return await call.line("File-based Encryption: true")


async def device_config(call: Call, _: list[str]) -> int:
    await call.line("Device config:")
    for name, value in sorted(call.phone.service_state("device_config").items()):
        await call.line(f"  {name}={value}")
    return 0


async def locale(call: Call, _: list[str]) -> int:
    await call.line("LocaleManagerService:\n  App locales:")
    for app, tags in sorted(call.phone.service_state("locale").items()):
        await call.line(f"    {app}: [{tags}]")
    return 0


async def dropbox(call: Call, _: list[str]) -> int:
    crashes = [
        line for line in call.phone.log.lines if line.buffer == "crash" and line.text.startswith("Process:")
    ]
    await call.line(f"Drop box contents: {len(crashes)} entries\nMax entries: 1000\n")
    for line in crashes:
        await call.line(
            f"========================================\n{line.time_ms} data_app_crash (text)\n{line.text}\n"
        )
    return 0


_PLUG_TYPES = (("ac", 1), ("usb", 2), ("wireless", 4), ("dock", 8))


async def battery(call: Call, args: list[str]) -> int:
    """`dumpsys battery [set KEY VALUE|unplug|reset]`: the service's own shell answers what is not a dump."""
    if args and args[0] not in {"-a", "--proto"}:
        return await machine_services.BATTERY.run(call, args)

    def of(key: str) -> str:
        return machine_services.battery_value(call, key)

    def yes(key: str) -> str:
        return str(of(key) == "1").lower()

    release = release_of(call.phone)
    stopped = call.phone.service_state("battery")
    sent = " Time when the latest updated value of the {} was sent via battery changed broadcast: +21s560ms"
    lines = [
        "Current Battery Service state:",
        *(["  (UPDATES STOPPED -- use 'reset' to restart)"] if stopped else []),
        f"  AC powered: {yes('ac')}",
        f"  USB powered: {yes('usb')}",
        f"  Wireless powered: {yes('wireless')}",
        *([f"  Dock powered: {yes('dock')}"] if release.battery_dock else []),
        "  Max charging current: 500000",
        *([sent.format("Max charging current")] if release.battery_sent else []),
        "  Max charging voltage: 5000000",
        f"  Charge counter: {of('counter')}",
        f"  status: {of('status')}",
        "  health: 2",
        f"  present: {yes('present')}",
        f"  level: {of('level')}",
        "  scale: 100",
        "  voltage: 4200",
        *([sent.format("voltage")] if release.battery_sent else []),
        f"  temperature: {of('temp')}",
        "  technology: Li-ion",
        *release.battery_tail,
        *vendor_of(call.phone).lines.get("battery", ()),
    ]
    return await call.out("\n".join(lines) + "\n")


async def power(call: Call, _: list[str]) -> int:
    """`dumpsys power`: awake or asleep."""
    awake = call.phone.awake
    stay = call.phone.settings["global"].get("stay_on_while_plugged_in", "0")
    timeout = call.phone.settings["system"].get("screen_off_timeout", "60000")
    plug = next(
        (number for key, number in _PLUG_TYPES if machine_services.battery_value(call, key) == "1"), 0
    )
    text = resources.text("shell/dumpsys/power.txt").format(
        state="Awake" if awake else "Asleep",
        awake=str(awake).lower(),
        asleep=str(not awake).lower(),
        activity=int(awake),
        display="ON" if awake else "OFF",
        powered=str(plug > 0).lower(),
        plug=plug,
        battery=call.phone.battery,
        stay=stay,
        stays=str(stay != "0").lower(),
        timeout=timeout,
    )
    return await call.out(text)


_MEMINFO = resources.text("shell/dumpsys/meminfo.txt")


async def meminfo(call: Call, args: list[str]) -> int:
    """`dumpsys meminfo [PACKAGE|PID]`: round figures."""
    names = [arg for arg in args if not arg.startswith("-")]
    uptime, processes = int(call.phone.clock.monotonic_ms()), call.phone.packages.processes
    await call.line(f"Applications Memory Usage (in Kilobytes):\nUptime: {uptime} Realtime: {uptime}")
    if names:
        matches = [pair for pair in processes.values() if names[0] in {pair.name, str(pair.pid)}]
        if not matches:
            await call.line(f"No process found for: {names[0]}")
        for pair in matches:
            await call.out(_MEMINFO.format(pid=pair.pid, name=pair.name))
        return 0
    await call.line("\nTotal RSS by process:")
    for process in processes.values():
        await call.line(f"    110,592K: {process.name} (pid {process.pid} / activities)")
    return await call.line(
        "\nTotal RAM: 2,036,904K (status normal)\n Free RAM: 1,077,940K\n Used RAM:   823,292K\n "
        "Lost RAM:   135,672K"
    )


async def cpuinfo(call: Call, _: list[str]) -> int:
    await call.line("Load: 0.1 / 0.08 / 0.05\nCPU usage from 60000ms to 0ms ago:")
    await call.line("  1.2% 543/system_server: 0.9% user + 0.3% kernel")
    for process in call.phone.packages.processes.values():
        await call.line(f"  0.4% {process.pid}/{process.name}: 0.3% user + 0.1% kernel")
    return await call.line("1.6% TOTAL: 1.2% user + 0.4% kernel")


async def deviceidle(call: Call, args: list[str]) -> int:
    """`dumpsys deviceidle [get …]`: the service's own shell answers what is not a dump."""
    if args and not args[0].startswith("-"):
        return await machine_services.DEVICEIDLE.run(call, args)
    state = call.phone.service_state("deviceidle").get("state", "ACTIVE")
    return await call.line(f"  Settings:\n  mLightEnabled=true  mDeepEnabled=true\n  mState={state}")


def _mode(overlay: str) -> Callable[[Call], str]:
    """Whether the bar of this navigation mode is on."""
    return lambda call: (
        "ENABLED" if call.phone.settings["secure"].get("navigation_mode", "0") == overlay else "DISABLED"
    )


def _state(service: str, name: str, default: str) -> Callable[[Call], str]:
    return lambda call: call.phone.service_state(service).get(name, default)


FACTS: dict[str, Callable[[Call], object]] = {
    "accessibility": lambda call: call.phone.settings["secure"].get("accessibility_enabled", "0") == "1",
    "accessibility_services": lambda call: call.phone.settings["secure"].get(
        "enabled_accessibility_services", ""
    ),
    "bluetooth": lambda call: radio.is_on(call, "bluetooth_on"),
    "bluetooth_state": lambda call: "ON" if radio.is_on(call, "bluetooth_on") else "OFF",
    "clipboard": lambda call: "has text" if call.phone.clipboard else "empty",
    "dark": lambda call: call.phone.display.dark,
    "gestural": _mode("2"),
    "is_heat_set": lambda call: "status" in call.phone.service_state("thermal"),
    "heat": _state("thermal", "status", "0"),
    "is_restricted": lambda call: call.phone.service_state("netpolicy").get("restrict") == "enabled",
    "lock_disabled": _state("lock_settings", "disabled", "false"),
    "night_mode": lambda call: "2 (yes)" if call.phone.display.dark else "1 (no)",
    "shade": lambda call: any(window.type == "shade" for window in call.phone.windows()),
    "threebutton": _mode("0"),
    "ui_mode": lambda call: 21 if call.phone.display.dark else 11,
    "uptime_ms": lambda call: int(call.phone.clock.monotonic_ms()),
    "wall_ms": lambda call: call.phone.wall_ms(),
}
"""What the texts of `services.toml` say of a phone, by the words with a `$`."""


def _filled(text: str) -> Handler:
    template = Template(text)

    async def run(call: Call, _: list[str]) -> int:
        facts = {name: FACTS[name](call) for name in template.get_identifiers()}
        shown = {name: str(fact).lower() if isinstance(fact, bool) else fact for name, fact in facts.items()}
        return await call.line(template.substitute(shown))

    return run


Handler = Callable[[Call, list[str]], Awaitable[int]]
SERVICES: dict[str, Handler] = {
    "battery": battery,
    "cpuinfo": cpuinfo,
    "device_config": device_config,
    "deviceidle": deviceidle,
    "diskstats": diskstats,
    "dropbox": dropbox,
    "locale": locale,
    "location": location,
    "meminfo": meminfo,
    "notification": notification,
    "power": power,
    "role": role,
    "settings": settings,
    "usagestats": usagestats,
    "user": user,
    **{name: _filled(words) for name, words in resources.table("shell/dumpsys/services.toml").items()},
    "SurfaceFlinger": window.surface_flinger,
    "activity": activity.run,
    "appops": app_ops,
    "audio": radio.audio,
    "connectivity": radio.connectivity,
    "display": window.display,
    "gfxinfo": window.gfxinfo,
    "input": window.input_service,
    "input_method": window.input_method,
    "package": package.run,
    "telephony.registry": radio.telephony,
    "wifi": radio.wifi,
    "window": window.run,
}
SERVICES = dict(sorted(SERVICES.items()))
PRIORITIES = ("CRITICAL", "HIGH", "NORMAL")
USAGE = resources.text("shell/usage/dumpsys.txt")


class _Wrong(Exception):
    """An option that dumpsys does not know, or a value it can't use."""


def _options(args: list[str]) -> tuple[list[str], dict[str, str]]:
    """Options before the service; the others are the service's own."""
    arguments, todo = dict[str, str](), list(args)
    while todo and todo[0].startswith("-"):
        name = todo.pop(0)
        if name in {"-t", "-T", "--priority", "--skip"}:
            if not todo:
                raise _Wrong(f"{name[1:]}: option requires an argument")
            arguments[name] = todo.pop(0)
        elif name in {"-l", "--help", "--proto", "--dump"}:
            arguments[name] = ""
        else:
            raise _Wrong(name)
    if not arguments.get("-t", "1").isdigit() or not arguments.get("-T", "1").isdigit():
        raise _Wrong("Error: invalid timeout (in seconds) number")
    if arguments.get("--priority", "NORMAL") not in PRIORITIES:
        raise _Wrong("priority")
    return todo, arguments


async def run(call: Call) -> int:
    try:
        args, arguments = _options(call.args)
    except _Wrong as wrong:
        return await call.err(f"{wrong}\n\n{USAGE}" if str(wrong).startswith("Error") else USAGE, 255)
    call.phone.catch_up()
    if "--help" in arguments:
        return await call.out(USAGE)
    if "-l" in arguments:
        await call.line("Currently running services:")
        return await call.out("".join(f"  {name}\n" for name in sorted(SERVICES, key=str.lower)))
    if not args:
        return await _all(call, arguments.get("--skip", "").split(","))
    handler = SERVICES.get(args[0])
    if handler is None:
        return await call.err(f"Can't find service: {args[0]}", 0)
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
