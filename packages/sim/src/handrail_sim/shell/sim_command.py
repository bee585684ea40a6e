"""The command `sim` inside the phone: state, snapshots, faults, messages, notifications for adb clients."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Any

from handrail_sim import resources
from handrail_sim.errors import BadSetting
from handrail_sim.faults import KINDS, PROFILES
from handrail_sim.shell.call import Call, Command
from handrail_sim.system import profiles
from handrail_sim.system.releases import ART_SINCE, sdk_of

Run = Callable[[Call, list[str]], Awaitable[int]]


async def _call(call: Call, args: list[str]) -> int:
    phone = call.phone
    match args:
        case ["list"]:
            await call.line(json.dumps({"call": phone.call, "log": phone.call_log}))
        case ["accept"]:
            return 0 if phone.answer_call() else await call.fail("no call waits for an answer")
        case ["cancel"]:
            return 0 if phone.end_call(here=False) else await call.fail("there is no call")
        case [number]:
            phone.receive_call(number)
        case _:
            return await call.fail("usage: sim call NUMBER | accept | cancel | list", 2)
    return 0


async def _finger(call: Call, args: list[str]) -> int:
    match args:
        case ["touch", number] if number.isdecimal():
            await call.line(call.phone.touch_finger(int(number)))
        case _:
            return await call.fail("usage: sim finger touch ID", 2)
    return 0


async def _battery(call: Call, args: list[str]) -> int:
    match args:
        case [level, *plug] if level.isdecimal() and len(plug) <= 1:
            call.phone.set_battery(int(level), *plug)
        case _:
            return await call.fail("usage: sim battery LEVEL [none|ac|usb|wireless]", 2)
    return 0


async def _location(call: Call, args: list[str]) -> int:
    if len(args) not in (2, 3):
        return await call.fail("usage: sim location LATITUDE LONGITUDE [ALTITUDE]", 2)
    try:
        call.phone.set_location(*map(float, args))
    except ValueError:
        raise BadSetting(f"{' '.join(args)!r} are not degrees", path="location") from None
    return 0


async def _network(call: Call, args: list[str]) -> int:
    match args:
        case ["gone" | "back"]:
            call.phone.set_network(gone=args == ["gone"])
        case ["speed", value]:
            call.phone.set_network(speed=value)
        case ["delay", value]:
            call.phone.set_network(delay=value)
        case _:
            return await call.fail("usage: sim network gone | back | speed VALUE | delay VALUE", 2)
    return 0


OUTSIDE: dict[str, Run] = {
    "call": _call,
    "finger": _finger,
    "battery": _battery,
    "location": _location,
    "network": _network,
}


USAGE = resources.text("shell/usage/sim.txt").rstrip("\n")


async def sim_command(call: Call) -> int:
    if not call.args or call.args[0] in ("-h", "--help", "help"):
        return await call.line(USAGE)
    name, *rest = call.args
    run = COMMANDS.get(name)
    if run is None:
        return await call.fail(f"unknown command '{name}' (see \"sim --help\")", 2)
    call.phone.catch_up()
    try:
        return await run(call, rest)
    except BadSetting as problem:
        return await call.fail(problem.message, 2)


async def _state(call: Call, args: list[str]) -> int:
    value: Any = call.phone.state()
    for path in args[:1]:
        matches = _pick(value, path)
        if matches is None:
            return await call.fail(f"nothing at '{path}'")
        value = matches[0]
    return await call.line(json.dumps(value, ensure_ascii=False, indent=2))


def _pick(value: Any, path: str) -> list[Any] | None:
    """The value at a dotted path; keys such as package names may have dots themselves."""
    if not path:
        return [value]
    if isinstance(value, list):
        head, _, rest = path.partition(".")
        inside = head.lstrip("-").isdigit() and -len(value) <= int(head) < len(value)
        return _pick(value[int(head)], rest) if inside else None
    if not isinstance(value, dict):
        return None
    for key, inner in value.items():
        if path == key or path.startswith(f"{key}."):
            matches = _pick(inner, path[len(key) + 1 :])
            if matches is not None:
                return matches
    return None


async def _world(call: Call, args: list[str]) -> int:
    try:
        arguments = json.loads(" ".join(args))
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        return await call.fail('usage: sim world \'{"notes": [{"title": "Oats"}]}\'', 2)
    call.phone.give(arguments)
    return 0


async def _snapshot(call: Call, args: list[str]) -> int:
    name = args[0] if args else "default"
    call.phone.snapshot(name)
    return await call.line(f"snapshot {name}")


async def _restore(call: Call, args: list[str]) -> int:
    name = args[0] if args else "default"
    if name not in call.phone.snapshots:
        current = ", ".join(call.phone.snapshots) or "none"
        return await call.fail(f"no snapshot '{name}'; there are: {current}")
    call.phone.restore(name)
    return await call.line(f"restored {name}")


async def _fault(call: Call, args: list[str]) -> int:
    faults = call.phone.faults
    match args:
        case ["add", name, *options]:
            faults.add(name, **_options(options))
            await call.line(f"fault {name} on")
        case ["clear", *names]:
            count = sum(faults.clear(name) for name in names) if names else faults.clear()
            await call.line(f"{count} cleared")
        case ["list"] | []:
            for fault in faults.to_list():
                await call.line(json.dumps(fault))
        case _:
            current = " ".join([*KINDS, *PROFILES])
            return await call.fail(
                f"usage: sim fault add NAME [OPTION=VALUE ...] | clear [NAME] | list; {current}", 2
            )
    return 0


async def _profile(call: Call, args: list[str]) -> int:
    phone = call.phone
    match args:
        case ["list"]:
            await call.out(
                "".join(f"{name:<22}{profile.about}\n" for name, profile in profiles.PROFILES.items())
            )
        case ["android", number] if number.isdecimal():
            profiles.become(phone, android=int(number))
        case ["vendor", name]:
            profiles.become(phone, vendor=name)
        case [name]:
            profiles.take_on(phone, name)
        case _:
            return await call.fail("usage: sim profile NAME | android N | vendor NAME | list", 2)
    return 0


async def _fold(call: Call, args: list[str]) -> int:
    fold = call.phone.faults.active("fold")
    if args not in (["open"], ["close"]):
        return await call.fail("usage: sim fold open|close", 2)
    if fold is None:
        return await call.fail("this phone does not fold: sim fault add fold")
    call.phone.faults.add("fold", **fold.options | {"state": "open" if args == ["open"] else "closed"})
    return 0


def _options(words: list[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for name, mark, _ in pairs:
        if not mark or not name.isidentifier():
            raise BadSetting(f"'{name}' is not OPTION=VALUE", path=name)
    return {name: value for name, _, value in pairs}


async def _sms(call: Call, args: list[str]) -> int:
    if len(args) < 2:
        return await call.fail("usage: sim sms FROM TEXT", 2)
    call.phone.receive_sms(args[0], " ".join(args[1:]))
    return 0


async def _notify(call: Call, args: list[str]) -> int:
    if len(args) < 3:
        return await call.fail("usage: sim notify PACKAGE TITLE TEXT", 2)
    package, title, *words = args
    if package not in call.phone.packages.installed:
        return await call.fail(f"no package '{package}'")
    call.phone.notify(package, title, " ".join(words))
    return 0


async def _install(call: Call, args: list[str]) -> int:
    if len(args) != 1 or "." not in args[0]:
        return await call.fail("usage: sim install PACKAGE", 2)
    call.phone.packages.install(args[0])
    return 0


async def _toast(call: Call, args: list[str]) -> int:
    call.phone.toast(" ".join(args))
    return 0


async def _reboot(call: Call, _args: list[str]) -> int:
    call.phone.reboot()
    return 0


COMMANDS: dict[str, Run] = {
    "state": _state,
    "world": _world,
    "snapshot": _snapshot,
    "restore": _restore,
    "fault": _fault,
    "fold": _fold,
    "profile": _profile,
    "sms": _sms,
    **OUTSIDE,
    "notify": _notify,
    "install": _install,
    "toast": _toast,
    "reboot": _reboot,
}


async def run(call: Call) -> int:
    """`app_process [java options] COMMAND_DIR CLASS [arguments]`, the class found on CLASSPATH."""
    path, rest = call.env.get("CLASSPATH", ""), list[str]()
    for at, arg in enumerate(call.args):
        if not arg.startswith("-"):
            rest = call.args[at:]
            break
        if arg.startswith("-Djava.class.path="):
            path = arg.partition("=")[2]
    rest = [arg for arg in rest if not arg.startswith("--nice-name=")]
    if len(rest) < 2:
        return await call.err("Usage: app_process [java-options] cmd-dir start-class-name [options]", 10)
    if (refused := call.phone.faults.get("helper_refused")) is not None:
        return await call.err(str(refused["why"]))
    main, name = call.phone.helper_mains.get(rest[1]), rest[1]
    files = [part for part in path.split(":") if part]
    there = any(call.session.files.exists(call.path(part)) for part in files)
    if main is None or not there:
        return await _not_found(call, name, files)
    if sdk_of(call.phone) < ART_SINCE and not (
        _has_cache(call) and any(_in_first_dex(call, part, name) for part in files)
    ):
        call.phone.logcat("E", "appproc", f"ERROR: could not find class '{name}'")
        return 134  # it aborts, and says so in the log alone
    inner = Call(call.phone, [name, *rest[2:]], call.session, call.stdin, call.stdout, call.stderr)
    status: int = await main(inner)
    return status


def _has_cache(call: Call) -> bool:
    """Dalvik writes a compiled copy of each jar. The shell may not where it keeps them by itself."""
    folder = call.env.get("ANDROID_DATA", "/data")
    return folder != "/data" and call.session.files.is_dir(f"{folder}/dalvik-cache")


def _in_first_dex(call: Call, path: str, name: str) -> bool:
    """A jar that is none is a test's."""
    try:
        with zipfile.ZipFile(BytesIO(call.session.files.read(call.path(path)))) as jar:
            return f"L{name.replace('.', '/')};".encode() in jar.read("classes.dex")
    except (zipfile.BadZipFile, KeyError):
        return True


async def _not_found(call: Call, name: str, files: list[str]) -> int:
    listed = ", ".join(f'zip file "{part}"' for part in files)
    return await call.err(
        f'java.lang.ClassNotFoundException: Didn\'t find class "{name}" on path: '
        f"DexPathList[[{listed}],nativeLibraryDirectories=[/system/lib64, /system_ext/lib64]]\n"
        "\tat dalvik.system.BaseDexClassLoader.findClass(BaseDexClassLoader.java:259)\n"
        "\tat java.lang.ClassLoader.loadClass(ClassLoader.java:379)\n"
        "\tat com.android.internal.os.RuntimeInit.main(RuntimeInit.java:363)"
    )


FAMILY: dict[str, Command] = {
    "app_process": run,
    "app_process64": run,
    "app_process32": run,
    "sim": sim_command,
}
