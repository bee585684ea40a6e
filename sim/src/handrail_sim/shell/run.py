"""The door: a command line and its streams in, an exit code out. Cancelling the call hangs the shell up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handrail_sim.shell.interactive import converse
from handrail_sim.shell.interpret import SIGPIPE_STATUS, Interpreter
from handrail_sim.shell.io import Bytes, Collected, Outward, ShellIO, Streams
from handrail_sim.shell.parse import parse
from handrail_sim.shell.processes import processes_of
from handrail_sim.shell.programs import fill_programs
from handrail_sim.shell.session import ENVIRONMENT, SHELL, Session, User
from handrail_sim.shell.start import complain
from handrail_sim.shell.syntax import Script, ShellSyntaxError
from handrail_sim.shell.tools.proc import mount_proc

if TYPE_CHECKING:
    from handrail_sim.handset import Handset


async def run(phone: Handset, command: str, io: ShellIO, env: Mapping[str, str] | None = None) -> int:
    """Run a command line as adbd's `shell:` does; an empty one starts an interactive shell."""
    streams = Streams(io.stdin, Outward(io.out), Outward(io.err))
    session = new_session(phone, streams, env)
    session.tty = io.tty
    table = processes_of(phone)
    with table.started([SHELL, "-c", command], 1, session.user, phone.clock.monotonic_ms()) as process:
        session.pid, session.parent, session.group = process.pid, 1, process.group
        session.shell, session.leads = process, True
        try:
            status = await (_text(session, command) if command else _conversation(session))
            await _settle(session)
        except BrokenPipeError:
            return SIGPIPE_STATUS
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not process.signal or task is None:
                raise
            task.uncancel()
            return 128 + process.signal
        return 128 + process.signal if process.signal else status


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command line left behind."""

    status: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "replace")

    @property
    def errors(self) -> str:
        return self.stderr.decode("utf-8", "replace")


async def capture(phone: Handset, command: str, stdin: bytes = b"") -> Answer:
    """Run a command line and keep its output, for callers inside the phone and for tests."""
    out, err = Collected(), Collected()
    status = await run(phone, command, ShellIO(Bytes(stdin), out.write, err.write))
    return Answer(status, out.value(), err.value())


def new_session(phone: Handset, streams: Streams, env: Mapping[str, str] | None = None) -> Session:
    """A login shell as adbd starts it."""
    fill_programs(phone.files)
    mount_proc(phone)
    variables = ENVIRONMENT | dict(env or {})
    user, files = User(), phone.files.as_shell()
    if is_root(phone):
        user, files = User(0, "root"), phone.files
        variables |= {"USER": "root", "LOGNAME": "root"}
    began = phone.clock.monotonic_ms()
    return Session(phone, files, streams, variables, set(variables), _interpret, user=user, began_ms=began)


def is_root(phone: Handset) -> bool:
    """Whether adbd runs as root: asked for by `adb root`, and granted by builds that can be debugged."""
    props = phone.props
    return props.get("ro.debuggable") == "1" and props.get("service.adb.root") == "1"


async def _interpret(session: Session, script: Script) -> int:
    return await Interpreter(session).top(script)


async def _conversation(session: Session) -> int:
    return await _leave(session, await converse(session, _entry))


async def _entry(session: Session, script: Script) -> int:
    return await Interpreter(session).script(script)


async def _leave(session: Session, status: int) -> int:
    return await Interpreter(session).leave(status)


async def _text(session: Session, command: str) -> int:
    try:
        script = parse(command)
    except ShellSyntaxError as problem:
        await complain(session, str(problem))
        return 1
    return await _interpret(session, script)


async def _settle(session: Session) -> None:
    """Background jobs that kept this shell's output keep the stream open, as pipes do."""
    while session.jobs:
        await asyncio.wait({session.jobs.pop()})
