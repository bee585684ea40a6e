"""Commands that are the shell itself: they change its variables, directory and flow."""

from __future__ import annotations

import asyncio
import re

from handrail_sim.shell.call import Call
from handrail_sim.shell.interpret import Interpreter
from handrail_sim.shell.io import Streams
from handrail_sim.shell.parse import parse
from handrail_sim.shell.session import SHELL, Leave, Loop, Return
from handrail_sim.shell.start import complain, start
from handrail_sim.shell.table import BUILTINS, COMMANDS, Builtin

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:=(.*))?", re.DOTALL)


async def colon(_: Interpreter, __: Call) -> int:
    """`:` does nothing, well."""
    return 0


async def cd(interpreter: Interpreter, call: Call) -> int:
    """`cd [DIR|-]`."""
    session = interpreter.session
    target = call.args[0] if call.args else session.variables.get("HOME", "/")
    if target == "-":
        target = session.variables.get("OLDPWD", session.cwd)
    path = call.path(target)
    if not session.files.exists(path):
        await call.err(f"{SHELL}: cd: {target}: No such file or directory")
        return 2
    if not session.files.is_dir(path) or not session.files.may(path, 1):
        reason = "Permission denied" if session.files.is_dir(path) else "Not a directory"
        await call.err(f"{SHELL}: cd: {target}: {reason}")
        return 2
    session.variables["OLDPWD"], session.cwd = session.cwd, path
    return 0


async def pwd(interpreter: Interpreter, call: Call) -> int:
    """`pwd`."""
    await call.line(interpreter.session.cwd)
    return 0


async def export(interpreter: Interpreter, call: Call) -> int:
    """`export NAME[=VALUE]…`; without names, all that is exported."""
    session = interpreter.session
    names = [arg for arg in call.args if arg != "-p"]
    if not names:
        for name, value in sorted(session.environment().items()):
            await call.line(f"{name}={value}")
    for name in names:
        match = _ASSIGNMENT.fullmatch(name)
        if not match:
            await call.err(f"{SHELL}: export: {name}: is not an identifier")
            return 1
        session.exported.add(match[1])
        if match[2] is not None:
            session.variables[match[1]] = match[2]
    return 0


async def assign(interpreter: Interpreter, call: Call) -> int:
    """`local`, `readonly`, `typeset`: names and values without their attributes."""
    for arg in call.args:
        match = _ASSIGNMENT.fullmatch(arg)
        if match:
            interpreter.session.variables[match[1]] = match[2] or ""
    return 0


async def unset(interpreter: Interpreter, call: Call) -> int:
    """`unset NAME…`, variables and functions."""
    for name in call.args:
        interpreter.session.variables.pop(name, None)
        interpreter.session.functions.pop(name, None)
    return 0


async def set_options(interpreter: Interpreter, call: Call) -> int:
    """`set -e`, `set -- WORDS`; other options are accepted."""
    session, args = interpreter.session, call.args
    if not args:
        for name, value in sorted(session.variables.items()):
            await call.line(f"{name}={value}")
    while args and args[0][:1] in {"-", "+"} and args[0] != "--":
        option = args.pop(0)
        if "e" in option[1:]:
            session.exit_on_error = option[0] == "-"
        if option in {"-o", "+o"} and args:
            args.pop(0)
    if args:
        session.parameters = args[1:] if args[0] == "--" else args
    return 0


async def shift(interpreter: Interpreter, call: Call) -> int:
    """`shift [N]`."""
    count = _number(call.args, 1)
    if count > len(interpreter.session.parameters):
        await complain(interpreter.session, "shift: nothing to shift")
        return 1
    del interpreter.session.parameters[:count]
    return 0


async def leave(interpreter: Interpreter, call: Call) -> int:
    """`exit [STATUS]`."""
    raise Leave(_number(call.args, interpreter.session.status) & 0xFF)


async def give_back(interpreter: Interpreter, call: Call) -> int:
    """`return [STATUS]`."""
    raise Return(_number(call.args, interpreter.session.status) & 0xFF)


async def jump(_: Interpreter, call: Call) -> int:
    """`break [N]` and `continue [N]`."""
    raise Loop(max(1, _number(call.args, 1)), again=call.argv[0] == "continue")


async def evaluate(interpreter: Interpreter, call: Call) -> int:
    """`eval WORDS`."""
    return await interpreter.script(parse(" ".join(call.args)))


async def source(interpreter: Interpreter, call: Call) -> int:
    """`. FILE`."""
    if not call.args:
        return 0
    try:
        text = interpreter.session.files.read(call.path(call.args[0])).decode("utf-8", "surrogateescape")
    except OSError as problem:
        await call.err(f"{SHELL}: .: {call.args[0]}: {problem.strerror}")
        return 1
    try:
        return await interpreter.script(parse(text))
    except Return as end:
        return end.status


async def execute(interpreter: Interpreter, call: Call) -> int:
    """`exec`: the command takes the shell's place; without one, its redirections stay."""
    if not call.args:
        interpreter.session.streams = _streams(call)
        return 0
    raise Leave(await _program(call, call.args, replaces=interpreter.session.leads))


async def command(interpreter: Interpreter, call: Call) -> int:
    """`command NAME …` skips functions; `command -v NAME` tells what would run."""
    if call.args[:1] in (["-v"], ["-V"]):
        return await which(interpreter, call)
    if not call.args:
        return 0
    builtin = BUILTINS.get(call.args[0])
    if builtin:
        call.argv = call.args
        return await builtin(interpreter, call)
    return await _program(call, call.args)


async def which(interpreter: Interpreter, call: Call) -> int:
    """`type` and `command -v`."""
    status, brief = 0, call.argv[0] == "command" and call.args[0] == "-v"
    for name in [arg for arg in call.args if not arg.startswith("-")]:
        if name in interpreter.session.functions:
            await call.line(name if brief else f"{name} is a function")
        elif name in BUILTINS:
            await call.line(name if brief else f"{name} is a shell builtin")
        elif name.rpartition("/")[2] in COMMANDS:
            path = name if "/" in name else f"/system/bin/{name}"
            await call.line(path if brief else f"{name} is {path}")
        else:
            status = 1
            if not brief:
                await call.line(f"{name} not found")
    return status


async def read(interpreter: Interpreter, call: Call) -> int:
    """One line into variables; the last one takes the rest."""
    names = [arg for arg in call.args if not arg.startswith("-")] or ["REPLY"]
    line = bytearray()
    while (char := await call.stdin.read(1)) not in {b"", b"\n"}:
        line += char
    fields = line.decode("utf-8", "surrogateescape").split(None, len(names) - 1)
    for at, name in enumerate(names):
        interpreter.session.variables[name] = fields[at].rstrip() if at < len(fields) else ""
    return 0 if char else 1


async def wait(interpreter: Interpreter, call: Call) -> int:
    """`wait [PID…]` for background jobs."""
    jobs = interpreter.session.all_jobs
    chosen = [int(arg) for arg in call.args if arg.isdigit()] or list(jobs)
    status = 0
    for pid in chosen:
        job = jobs.pop(pid, None)
        if job is None:
            return 127
        (done,) = await asyncio.gather(job, return_exceptions=True)
        status = done if isinstance(done, int) else 143
    return status if call.args else 0


async def jobs(interpreter: Interpreter, call: Call) -> int:
    """`jobs`: what still runs in the background."""
    for at, (pid, job) in enumerate(interpreter.session.all_jobs.items(), 1):
        if not job.done():
            await call.line(f"[{at}] + Running              {pid}")
    return 0


async def umask(_: Interpreter, call: Call) -> int:
    """Modes of new files are fixed here."""
    if not call.args:
        await call.line("0000")
    return 0


async def nothing(_: Interpreter, __: Call) -> int:
    """`trap`, `alias`, `ulimit`: accepted, without effect here."""
    return 0


def _streams(call: Call) -> Streams:
    return Streams(call.stdin, call.stdout, call.stderr)


async def _program(call: Call, argv: list[str], *, replaces: bool = False) -> int:
    inner = Call(call.phone, argv, call.session, call.stdin, call.stdout, call.stderr)
    return await start(inner, _streams(call), replaces=replaces)


def _number(args: list[str], default: int) -> int:
    return int(args[0]) if args and re.fullmatch(r"-?\d{1,9}", args[0]) else default


FAMILY: dict[str, Builtin] = {
    ":": colon,
    "cd": cd,
    "pwd": pwd,
    "export": export,
    "local": assign,
    "typeset": assign,
    "readonly": assign,
    "unset": unset,
    "set": set_options,
    "shift": shift,
    "exit": leave,
    "return": give_back,
    "break": jump,
    "continue": jump,
    "eval": evaluate,
    ".": source,
    "source": source,
    "exec": execute,
    "command": command,
    "type": which,
    "read": read,
    "wait": wait,
    "jobs": jobs,
    "umask": umask,
    "trap": nothing,
    "alias": nothing,
    "ulimit": nothing,
}
