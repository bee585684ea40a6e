"""Starting one command: builtin, function, program or script file. Knows no grammar and no single command."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from handrail_sim.shell.call import Call, Command, encode
from handrail_sim.shell.io import Streams
from handrail_sim.shell.options import BadUsage
from handrail_sim.shell.parse import ShellSyntaxError, parse
from handrail_sim.shell.processes import processes_of
from handrail_sim.shell.session import MAX_DEPTH, SHELL, Leave, Return, Session
from handrail_sim.shell.table import BUILTINS, COMMANDS, TOOLS
from handrail_sim.system.releases import SINCE, sdk_of

if TYPE_CHECKING:
    from handrail_sim.shell.interpret import Interpreter

BIN = frozenset(
    {"/system/bin", "/system/xbin", "/vendor/bin", "/bin", "/usr/bin", "/apex/com.android.runtime/bin"}
)
ENDED = {1: "Hangup", 2: "Interrupt", 9: "Killed", 15: "Terminated", 6: "Aborted", 11: "Segmentation fault"}


async def complain(session: Session, text: str) -> None:
    await session.streams.stderr.write(encode(f"{SHELL}: {text}\n"))


async def run_command(
    interpreter: Interpreter, argv: list[str], values: list[tuple[str, str]], streams: Streams
) -> int:
    """Run argv with these assignments before it; without argv, the assignments stay."""
    session = interpreter.session
    if "x" in session.modes:
        shown = [f"{name}={value}" for name, value in values] + argv
        await session.streams.stderr.write(encode(f"+ {' '.join(shown)}\n"))
    if not argv:
        session.variables.update(values)
        return interpreter.substituted
    if argv[0] in session.aliases:
        text = session.aliases[argv[0]]
        if text.split()[:1] != [argv[0]]:
            return await interpreter.script(parse(f"{text} {shlex.join(argv[1:])}"))
        argv = [*text.split(), *argv[1:]]
    call = Call(session.phone, argv, session, streams.stdin, streams.stdout, streams.stderr)
    if argv[0] in session.functions or argv[0] in BUILTINS:
        processes_of(session.phone).remember(argv)
    if argv[0] in session.functions:
        return await _with_values(session, values, _call_function(interpreter, call, streams))
    builtin = BUILTINS.get(argv[0])
    if builtin is not None:
        return await _with_values(session, values, builtin(interpreter, call))
    if values:
        call.session = session.subshell(streams, forks=False)
        call.session.variables.update(values)
        call.session.exported.update(name for name, _ in values)
    return await start(call, streams, replaces=session.in_place)


async def start(call: Call, streams: Streams, *, replaces: bool = False) -> int:
    """Run a program, never a builtin or function."""
    name = call.argv[0]
    processes_of(call.phone).remember(call.argv)
    folder, _, base = name.rpartition("/")
    command = COMMANDS.get(base) if "/" not in name or folder in BIN else None
    if command is None or sdk_of(call.phone) < SINCE.get(base, 0):
        return await _file(call, streams) if "/" in name else await _unknown(call)
    return await run_process(call, command, replaces=replaces)


async def run_process(call: Call, command: Command, *, replaces: bool = False) -> int:
    """The command as a process: it has a pid, and a signal ends it without ending its shell.

    One that `replaces` its shell has the shell's own pid.
    """
    phone, session = call.phone, call.session
    if session.depth >= MAX_DEPTH:
        return await call.err(f"{SHELL}: {call.argv[0]}: recursion too deep")
    phone.catch_up()
    session.depth += 1
    table = processes_of(phone)
    now_ms, place = phone.clock.monotonic_ms(), session.pid if replaces else 0
    parent = session.parent if replaces else session.pid
    with table.started(call.argv, parent, session.user, now_ms, group=session.group, pid=place) as process:
        try:
            await phone.faults.delay(process.name)
            added = phone.faults.get("oem_lines", process.name)
            if added is not None:
                sink = call.stderr if added["to"] == "stderr" else call.stdout
                await sink.write(encode(added["text"].replace("\\n", "\n") + "\n"))
            return await _with_options(call, command)
        except BrokenPipeError:
            return 141
        except BadUsage as problem:
            hint = f' (see "{process.name} --help")' if problem.toybox else ""
            return await call.fail(f"{problem}{hint}", problem.code)
        except OSError as problem:
            return await call.fail(f"{problem.filename}: {problem.strerror}")
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not process.signal or task is None:
                raise
            task.uncancel()
            if process.signal in ENDED:
                await call.stderr.write(encode(f"{ENDED[process.signal]} \n"))
            return 128 + process.signal
        finally:
            session.depth -= 1


async def _with_options(call: Call, command: Command) -> int:
    """A tool gets its options read, and its `--help` answered, by the table of what it takes."""
    tool = TOOLS.get(call.argv[0].rpartition("/")[2])
    if tool is not None:
        if call.args == ["--help"]:
            return await call.line(tool.help())
        call.options = tool.read(call.args)
    return await command(call)


async def _unknown(call: Call) -> int:
    return await call.err(f"{SHELL}: {call.argv[0]}: inaccessible or not found", 127)


async def _file(call: Call, streams: Streams) -> int:
    """A file by its path: a script runs, anything else can't."""
    files, path = call.session.files, call.path(call.argv[0])
    if not files.exists(path):
        return await _unknown(call)
    if files.is_dir(path):
        return await _refuse(call, "can't execute: Is a directory")
    if not files.may(path, 1):
        return await _refuse(call, "can't execute: Permission denied")
    data = files.read(path)
    if data.startswith(b"\x7fELF"):
        return await _refuse(call, f"not executable: {32 * data[4]}-bit ELF file")
    return await run_text(call, streams, data.decode("utf-8", "surrogateescape"), call.argv[0], call.argv[1:])


async def _refuse(call: Call, why: str) -> int:
    return await call.err(f"{SHELL}: {call.argv[0]}: {why}", 126)


async def run_text(call: Call, streams: Streams, text: str, name: str, parameters: list[str]) -> int:
    """`sh -c`, a script file: a new shell with the exported variables only."""
    outer = call.session
    if outer.depth >= MAX_DEPTH:
        return await call.err(f"{SHELL}: recursion too deep")
    inner = outer.subshell(streams)
    inner.variables = outer.environment()
    inner.functions, inner.name, inner.parameters, inner.exit_on_error = {}, name, parameters, False
    inner.arrays, inner.aliases, inner.modes, inner.read_only = {}, {}, set(), set()
    inner.parent, inner.pid = outer.pid, processes_of(call.phone).last_pid
    try:
        return await inner.interpret(inner, parse(text))
    except ShellSyntaxError as problem:
        return await call.err(f"{name}: {problem}")


async def _call_function(interpreter: Interpreter, call: Call, streams: Streams) -> int:
    session = interpreter.session
    if session.depth >= MAX_DEPTH:
        await complain(session, f"{call.argv[0]}: recursion too deep")
        raise Leave(1)
    before, outer = session.parameters, session.streams
    session.parameters, session.streams = call.args, streams
    session.depth += 1
    try:
        return await interpreter.node(session.functions[call.argv[0]])
    except Return as result:
        return result.status
    finally:
        session.parameters, session.streams = before, outer
        session.depth -= 1


async def _with_values(session: Session, values: list[tuple[str, str]], work: Awaitable[int]) -> int:
    """Assignments before a builtin or a function last as long as it runs."""
    if not values:
        return await work
    before = {name: session.variables.get(name) for name, _ in values}
    session.variables.update(values)
    try:
        return await work
    finally:
        for name, value in before.items():
            session.variables.pop(name)
            if value is not None:
                session.variables[name] = value
