"""Builtins that set what the shell keeps: variables and their marks, modes, traps, aliases, limits."""

from __future__ import annotations

import re
import shlex

from handrail_sim.shell.call import Call
from handrail_sim.shell.interpret import Interpreter
from handrail_sim.shell.processes import SIGNALS, signal_number
from handrail_sim.shell.session import SHELL
from handrail_sim.shell.start import complain
from handrail_sim.shell.table import Builtin

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
                await call.err(f"{SHELL}: set: {option}: unknown option")
                return 1
            session.modes.add(letter) if on else session.modes.discard(letter)
        session.exit_on_error = "e" in session.modes
    if args:
        session.parameters = args[1:] if args[0] == "--" else args
    return 0


async def umask(interpreter: Interpreter, call: Call) -> int:
    """`umask [MODE]`: what new files do not allow."""
    files = interpreter.session.files
    if not call.args:
        await call.line(f"{files.umask:04o}")
        return 0
    if not re.fullmatch(r"[0-7]{1,4}", call.args[0]):
        await call.err(f"{SHELL}: umask: {call.args[0]}: bad octal number")
        return 1
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
            await call.err(f"{SHELL}: trap: bad signal '{name}'")
            return 1
        plain = next((one for one, known in SIGNALS.items() if known == number), "EXIT")
        if handler == "-":
            traps.pop(plain, None)
        else:
            traps[plain] = handler
    if interpreter.session.shell is not None:
        interpreter.session.shell.handled = {SIGNALS[one] for one in traps if one in SIGNALS}
    return 0


async def alias(interpreter: Interpreter, call: Call) -> int:
    """`alias [NAME[=TEXT]…]`."""
    known, status = interpreter.session.aliases, 0
    for name in call.args or [*sorted(known)]:
        key, equals, text = name.partition("=")
        if equals:
            known[key] = text
        elif key in known:
            await call.line(f"{key}={shlex.quote(known[key])}")
        else:
            await call.err(f"{SHELL}: alias: {key}: not found")
            status = 1
    return status


async def unalias(interpreter: Interpreter, call: Call) -> int:
    """`unalias NAME…`."""
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
        await call.err(f"{SHELL}: ulimit: -{letters}: unknown option")
        return 1
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
