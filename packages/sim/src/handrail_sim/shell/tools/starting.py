"""Commands that start other commands: sh, toybox, nohup, xargs, timeout, time, env, run-as."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from handrail_sim.shell.call import Call, by_name
from handrail_sim.shell.io import Nothing, Source, Streams
from handrail_sim.shell.options import BadUsage
from handrail_sim.shell.session import Session, User
from handrail_sim.shell.start import run_text, start
from handrail_sim.shell.table import COMMANDS
from handrail_sim.shell.tools.names import user_name
from handrail_sim.waiting import first

_ANDROID = """
am pm cmd input wm dumpsys logcat settings svc ime content monkey appops getprop setprop screencap
screenrecord uiautomator app_process app_process32 app_process64 sqlite3 run-as sh sim service ping awk log
bugreportz bugreport bmgr sm atrace perfetto device_config dpm locksettings getevent sendevent reboot
"""
ANDROID_ONLY = frozenset(_ANDROID.split())


async def run_argv(
    call: Call,
    argv: list[str],
    stdin: Source | None = None,
    session: Session | None = None,
    *,
    execs: bool = False,
) -> int:
    """Another program with the same output; one that `execs` it gives it its own place."""
    inner = Call(call.phone, argv, session or call.session, stdin or call.stdin, call.stdout, call.stderr)
    streams = Streams(inner.stdin, call.stdout, call.stderr)
    return await start(inner, streams, replaces=execs and call.session.in_place)


_SH = "abcefhiklmnoprsuvxCUX"


async def sh(call: Call) -> int:
    """`sh -c TEXT`, `sh FILE`, or a script on stdin."""
    args, streams = call.args, Streams(call.stdin, call.stdout, call.stderr)
    while args and re.fullmatch(r"-[a-bd-zA-Z]*c?", args[0]) and args[0] != "-":
        option = args.pop(0)
        wrong = next((letter for letter in option[1:] if letter not in _SH), None)
        if wrong is not None:
            return await call.err(f"{call.argv[0]}: -{wrong}: unknown option")
        if option.endswith("c"):
            if not args:
                return await call.fail("-c requires an argument")
            return await run_text(call, streams, args[0], args[1] if args[1:] else call.argv[0], args[2:])
    if args and args[0] != "-":
        path = call.path(args[0])
        if not call.session.files.exists(path):
            return await call.err(f"{call.argv[0]}: {args[0]}: No such file or directory", 127)
        text = call.session.files.read(path).decode("utf-8", "surrogateescape")
        return await run_text(call, streams, text, args[0], args[1:])
    text = (await call.read()).decode("utf-8", "surrogateescape")
    return await run_text(call, replace(streams, stdin=Nothing()), text, call.argv[0], args[1:])


async def toybox(call: Call) -> int:
    """`toybox NAME …` runs a tool; without a name it lists them."""
    names = sorted(name for name in COMMANDS if name not in ANDROID_ONLY and name != "toybox")
    if not call.args:
        return await call.line(" ".join(names))
    name = call.args[0]
    if name == "--version":
        return await call.line("toybox 0.8.9-android")
    if name not in names:
        return await call.fail(f"Unknown command {name}", 127)
    return await run_argv(call, call.args, execs=True)


async def nohup(call: Call) -> int:
    return await run_argv(call, call.options.rest, Nothing(), execs=True)


async def xargs(call: Call) -> int:
    options = call.options
    text = (await call.read()).decode("utf-8", "surrogateescape")
    words = (
        [word for word in text.split("\0") if word]
        if "0" in options
        else _words(text, by_line="I" in options)
    )
    base = options.rest or ["echo"]
    if "I" in options:
        runs = [[part.replace(options.values["I"], word) for part in base] for word in words]
    else:
        if "L" in options:
            words = text.splitlines()
        size = max(1, options.number("n", options.number("L", len(words) or 1)))
        runs = [[*base, *words[at : at + size]] for at in range(0, len(words), size)]
        runs = runs or ([] if "r" in options else [base])
    status = 0
    for argv in runs:
        if "t" in options:
            await call.err(" ".join(argv))
        done = await run_argv(call, argv, Nothing())
        status = 127 if done == 127 else (123 if done else status)
    return status


def _words(text: str, *, by_line: bool) -> list[str]:
    if by_line:
        return [line.strip() for line in text.splitlines() if line.strip()]
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


async def timeout(call: Call) -> int:
    """`timeout SECONDS COMMAND…`: 124 when time ran out."""
    options = call.options
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)([smhd]?)", options.rest[0]) if options.rest[1:] else None
    if not match:
        raise BadUsage("Needs 2 arguments", 125)
    factor = {"": 1000, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}[match[2]]
    alarm = call.phone.clock.sleep_ms(float(match[1]) * factor)
    work, _ = await first(run_argv(call, options.rest[1:]), alarm)
    return 124 if work.cancelled() else work.result()


async def time(call: Call) -> int:
    """`time COMMAND…`, on the phone's clock."""
    began = call.phone.clock.monotonic_ms()
    status = await run_argv(call, call.options.rest)
    took = (call.phone.clock.monotonic_ms() - began) / 1000
    if "p" in call.options:
        await call.err(f"real {took:.2f}\nuser 0.00\nsys 0.00")
        return status
    minutes, seconds = divmod(took, 60)
    await call.err(f"    {int(minutes)}m{seconds:05.2f}s real     0m00.00s user     0m00.00s system")
    return status


async def env(call: Call) -> int:
    args, session = list(call.options.rest), call.session.subshell(forks=False)
    if "i" in call.options:
        session.exported.clear()
    for name in call.options.many.get("u", []):
        session.exported.discard(name)
    while args and re.match(r"[A-Za-z_]\w*=", args[0]):
        name, _, value = args.pop(0).partition("=")
        session.variables[name] = value
        session.exported.add(name)
    if args:
        return await run_argv(call, args, session=session, execs=True)
    for name, value in session.environment().items():
        await call.line(f"{name}={value}")
    return 0


async def printenv(call: Call) -> int:
    """`printenv [NAME…]`: values alone."""
    existing, status = call.session.environment(), 0
    for name in call.options.rest:
        if name in existing:
            await call.line(existing[name])
        else:
            status = 1
    return status if call.options.rest else await env(call)


async def run_as(call: Call) -> int:
    args = call.args
    if not args:
        return await call.err("run-as: usage: run-as <package-name> [--user <uid>] [<command>] [<args>]")
    package = call.phone.packages.installed.get(args.pop(0))
    if package is None:
        return await call.fail(f"unknown package: {call.args[0]}")
    if not package.debuggable:
        return await call.fail(f"package not debuggable: {package.name}")
    if args[:1] == ["--user"]:
        args = args[2:]
    session = call.session.subshell(forks=False)
    session.user = User(package.uid, user_name(package.uid), package.name)
    session.files = call.phone.files.as_user(package.uid)
    session.cwd = f"/data/user/0/{package.name}"
    session.variables["HOME"] = session.cwd
    return await run_argv(call, args or ["sh"], session=session, execs=True)


async def which(call: Call) -> int:
    options, status = call.options, 0
    for name in options.rest:
        if name in COMMANDS:
            await call.line(f"/system/bin/{name}")
        else:
            status = 1
    return status


FAMILY = by_name(sh, toybox, nohup, xargs, timeout, time, env, printenv, run_as, which) | {"setsid": nohup}
