"""Commands that are the shell itself: they change its variables, directory and flow."""

from __future__ import annotations

import asyncio
import re
import shlex

from handrail_sim.shell.call import Call
from handrail_sim.shell.interpret import Interpreter
from handrail_sim.shell.io import Streams
from handrail_sim.shell.options import BadUsage, read_options
from handrail_sim.shell.parse import parse
from handrail_sim.shell.processes import SIGNALS, signal_number
from handrail_sim.shell.session import SHELL, Leave, Loop, Return
from handrail_sim.shell.start import complain, start
from handrail_sim.shell.table import BUILTINS, COMMANDS, Builtin

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:=(.*))?", re.DOTALL)


async def assign(interpreter: Interpreter, call: Call) -> int:
    """`local`, `readonly`, `typeset`, `declare`: names and values; `-r` and `readonly` close them."""
    session = interpreter.session
    letters = "".join(arg[1:] for arg in call.args if arg.startswith("-"))
    for arg in call.args:
        if arg.startswith("-"):
            continue
        match = ASSIGNMENT.fullmatch(arg)
        if not match:
            await complain(session, f"{call.name}: {arg}: is not an identifier")
            return 1
        if "a" in letters:
            session.array(match[1])
        elif match[2] is not None or call.name != "readonly":
            session.put(match[1], match[2] or "")
        if call.name == "readonly" or "r" in letters:
            session.read_only.add(match[1])
        if "x" in letters:
            session.exported.add(match[1])
    return 0


async def unset(interpreter: Interpreter, call: Call) -> int:
    """`unset NAME…`, variables, functions, and elements as `name[1]`."""
    session = interpreter.session
    for name in [arg for arg in call.args if arg not in {"-f", "-v"}]:
        plain, bracket, index = name.partition("[")
        if plain in session.read_only:
            await complain(session, f"unset: {plain}: is read only")
            return 1
        if bracket:
            session.arrays.get(plain, {}).pop(int(index.rstrip("]") or 0), None)
            continue
        session.variables.pop(name, None)
        session.arrays.pop(name, None)
        session.functions.pop(name, None)
    return 0


_SET = "aefhuvxC"
"""Letters of `set` that mksh has; of these only -e, -u and -f change what this shell does."""


async def set_options(interpreter: Interpreter, call: Call) -> int:
    """`set -e`, `set -x`, `set -A NAME WORDS`, `set -- WORDS`."""
    session, args = interpreter.session, call.args
    if not args:
        for name, value in sorted(session.variables.items()):
            await call.line(f"{name}={value}")
    while args and re.fullmatch(r"[-+].+", args[0]) and args[0] != "--":
        option = args.pop(0)
        on = option[0] == "-"
        if option == "-A" and args:
            held = session.array(args.pop(0))
            held.clear()
            held.update(enumerate(args))
            return 0
        names = [args.pop(0)] if option[1:] == "o" and args else list(option[1:])
        for name in names:
            letter = {"errexit": "e", "xtrace": "x", "nounset": "u", "pipefail": "pipefail"}.get(name, name)
            if letter not in _SET and letter != "pipefail":
                return await call.err(f"{SHELL}: set: {option}: unknown option")
            session.modes.add(letter) if on else session.modes.discard(letter)
        session.exit_on_error = "e" in session.modes
    if args:
        session.parameters = args[1:] if args[0] == "--" else args
    return 0


async def umask(interpreter: Interpreter, call: Call) -> int:
    """`umask [MODE]`: what new files do not allow."""
    files = interpreter.session.files
    if not call.args:
        return await call.line(f"{files.umask:04o}")
    if not re.fullmatch(r"[0-7]{1,4}", call.args[0]):
        return await call.err(f"{SHELL}: umask: {call.args[0]}: bad octal number")
    files.umask = int(call.args[0], 8) & 0o777
    return 0


async def trap(interpreter: Interpreter, call: Call) -> int:
    """`trap 'COMMANDS' EXIT|SIGNAL…`, `trap - SIGNAL…`; without words, those that are set."""
    traps, args = interpreter.session.traps, [arg for arg in call.args if arg != "--"]
    if not args or args == ["-p"]:
        for name, text in traps.items():
            await call.line(f"trap -- {shlex.quote(text)} {name}")
        return 0
    handler, names = args[0], args[1:]
    if not names:
        handler, names = "-", args
    for name in names:
        number = 0 if name in {"0", "EXIT"} else signal_number(name)
        if number is None:
            return await call.err(f"{SHELL}: trap: bad signal '{name}'")
        plain = next((word for word, current in SIGNALS.items() if current == number), "EXIT")
        if handler == "-":
            traps.pop(plain, None)
        else:
            traps[plain] = handler
    if interpreter.session.shell is not None:
        interpreter.session.shell.handled = {SIGNALS[word] for word in traps if word in SIGNALS}
    return 0


async def alias(interpreter: Interpreter, call: Call) -> int:
    existing, status = interpreter.session.aliases, 0
    for name in call.args or [*sorted(existing)]:
        key, equals, text = name.partition("=")
        if equals:
            existing[key] = text
        elif key in existing:
            await call.line(f"{key}={shlex.quote(existing[key])}")
        else:
            await call.err(f"{SHELL}: alias: {key}: not found")
            status = 1
    return status


async def unalias(interpreter: Interpreter, call: Call) -> int:
    missing = [name for name in call.args if interpreter.session.aliases.pop(name, None) is None]
    for name in missing:
        await call.err(f"{SHELL}: unalias: {name}: not found")
    return int(bool(missing))


_LIMITS = {"c": "0", "d": "unlimited", "f": "unlimited", "n": "32768", "s": "8192", "t": "unlimited"}
_LIMIT_NAMES = {"c": "coredump(blocks)", "d": "data(KiB)", "f": "file(blocks)", "n": "nofiles"}
_LIMIT_NAMES |= {"s": "stack(KiB)", "t": "time(cpu-seconds)"}


async def ulimit(interpreter: Interpreter, call: Call) -> int:
    """`ulimit [-acdfnst] [LIMIT]`: kept and told; no process here comes near one."""
    held = _LIMITS | interpreter.session.limits
    letters = "".join(arg[1:] for arg in call.args if arg.startswith("-")).replace("S", "").replace("H", "")
    values = [arg for arg in call.args if not arg.startswith("-")]
    if letters == "a":
        for letter, name in _LIMIT_NAMES.items():
            await call.line(f"-{letter}: {name:<20} {held[letter]}")
        return 0
    if len(letters) > 1 or (letters or "f") not in _LIMITS:
        return await call.err(f"{SHELL}: ulimit: -{letters}: unknown option")
    if values:
        interpreter.session.limits[letters or "f"] = values[0]
    else:
        await call.line(held[letters or "f"])
    return 0


FAMILY: dict[str, Builtin] = {
    "local": assign,
    "typeset": assign,
    "readonly": assign,
    "declare": assign,
    "unset": unset,
    "set": set_options,
    "umask": umask,
    "trap": trap,
    "alias": alias,
    "unalias": unalias,
    "ulimit": ulimit,
}


async def colon(_: Interpreter, __: Call) -> int:
    """`:` does nothing, well."""
    return 0


async def cd(interpreter: Interpreter, call: Call) -> int:
    session = interpreter.session
    target = call.args[0] if call.args else session.variables.get("HOME", "/")
    if target == "-":
        target = session.variables.get("OLDPWD", session.cwd)
    path = call.path(target)
    if not session.files.exists(path):
        return await call.err(f"{SHELL}: cd: {target}: No such file or directory", 2)
    if not session.files.is_dir(path) or not session.files.may(path, 1):
        reason = "Permission denied" if session.files.is_dir(path) else "Not a directory"
        return await call.err(f"{SHELL}: cd: {target}: {reason}", 2)
    session.variables["OLDPWD"], session.cwd = session.cwd, path
    return 0


async def pwd(interpreter: Interpreter, call: Call) -> int:
    return await call.line(interpreter.session.cwd)


async def export(interpreter: Interpreter, call: Call) -> int:
    """`export NAME[=VALUE]…`; without names, all that is exported."""
    session = interpreter.session
    names = [arg for arg in call.args if arg != "-p"]
    if not names:
        for name, value in sorted(session.environment().items()):
            await call.line(f"{name}={value}")
    for name in names:
        match = ASSIGNMENT.fullmatch(name)
        if not match:
            return await call.err(f"{SHELL}: export: {name}: is not an identifier")
        session.exported.add(match[1])
        if match[2] is not None:
            session.put(match[1], match[2])
    return 0


async def shift(interpreter: Interpreter, call: Call) -> int:
    count = _number(call.args, 1)
    if count > len(interpreter.session.parameters):
        await complain(interpreter.session, "shift: nothing to shift")
        return 1
    del interpreter.session.parameters[:count]
    return 0


async def leave(interpreter: Interpreter, call: Call) -> int:
    raise Leave(_number(call.args, interpreter.session.status) & 0xFF)


async def give_back(interpreter: Interpreter, call: Call) -> int:
    raise Return(_number(call.args, interpreter.session.status) & 0xFF)


async def jump(_: Interpreter, call: Call) -> int:
    """`break [N]` and `continue [N]`."""
    raise Loop(max(1, _number(call.args, 1)), again=call.argv[0] == "continue")


async def evaluate(interpreter: Interpreter, call: Call) -> int:
    return await interpreter.script(parse(" ".join(call.args)))


async def source(interpreter: Interpreter, call: Call) -> int:
    if not call.args:
        return 0
    try:
        text = interpreter.session.files.read(call.path(call.args[0])).decode("utf-8", "surrogateescape")
    except OSError as problem:
        return await call.err(f"{SHELL}: .: {call.args[0]}: {problem.strerror}")
    try:
        return await interpreter.script(parse(text))
    except Return as end:
        return end.status


async def execute(interpreter: Interpreter, call: Call) -> int:
    """`exec`: the command takes the shell's place; without one, its redirections stay."""
    if not call.args:
        interpreter.session.streams = _streams(call)
        return 0
    raise Leave(
        await _program(call, call.args, replaces=interpreter.session.leads or interpreter.session.owns_pid)
    )


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
    """`read [-r] [-p PROMPT] [-n COUNT] [-d END] [-A ARRAY] [NAME…]`: the last name takes the rest."""
    options = read_options(call.args, "rs", "pndAtu")
    names, session = options.rest or ["REPLY"], interpreter.session
    if "p" in options and session.tty:
        await call.stderr.write(options.values["p"].encode())
    end, most = (options.values.get("d") or "\n").encode()[:1], options.number("n", 1 << 30)
    line, char = bytearray(), b"x"
    while len(line) < most and (char := await call.stdin.read(1)) not in {b"", end}:
        if char == b"\\" and "r" not in options:
            char = await call.stdin.read(1)
            line += b"" if char == b"\n" else char
            continue
        line += char
    text = line.decode("utf-8", "surrogateescape")
    if "A" in options:
        held = session.array(options.values["A"])
        held.clear()
        held.update(enumerate(text.split()))
        return 0 if char else 1
    ifs = session.variables.get("IFS")
    fields = text.split(ifs if ifs and not ifs.isspace() else None, len(names) - 1) if ifs != "" else [text]
    for at, name in enumerate(names):
        value = fields[at] if at < len(fields) else ""
        session.put(name, value.rstrip() if ifs is None else value)
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


def _streams(call: Call) -> Streams:
    return Streams(call.stdin, call.stdout, call.stderr)


async def _program(call: Call, argv: list[str], *, replaces: bool = False) -> int:
    inner = Call(call.phone, argv, call.session, call.stdin, call.stdout, call.stderr)
    return await start(inner, _streams(call), replaces=replaces)


def _number(args: list[str], default: int) -> int:
    return int(args[0]) if args and re.fullmatch(r"-?\d{1,9}", args[0]) else default


_TAKES = {"cd": "LPe", "pwd": "LP", "export": "p", "unset": "fv", "readonly": "p", "type": "", "umask": "S"}
_TAKES |= {"jobs": "lnp", "wait": "", "alias": "p", "unalias": "a", "command": "pvV", "shift": "", "eval": ""}
_TAKES |= {"local": "aAilprtux", "typeset": "aAilprtuxf", "declare": "aAilprtuxf"}


def _strict(name: str, builtin: Builtin) -> Builtin:
    """Options that a builtin does not have are refused as mksh does."""

    async def run(interpreter: Interpreter, call: Call) -> int:
        first = call.args[0] if call.args else ""
        if first == "--":
            call.argv = [call.argv[0], *call.args[1:]]
        elif re.fullmatch(r"-[A-Za-z].*", first):
            wrong = next((letter for letter in first[1:] if letter not in _TAKES[name]), None)
            if wrong is not None:
                return await call.err(f"{SHELL}: {name}: -{wrong}: unknown option")
            if name in {"cd", "pwd"}:
                call.argv = [call.argv[0], *call.args[1:]]
        try:
            return await builtin(interpreter, call)
        except BadUsage as problem:
            return await call.err(f"{SHELL}: {name}: {problem}")

    return run


FAMILY |= {
    ":": colon,
    "cd": cd,
    "pwd": pwd,
    "export": export,
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
}
FAMILY |= {name: _strict(name, FAMILY[name]) for name in _TAKES}
