"""A shell that reads its commands from stdin: with a prompt and an echo on a terminal, silent on a pipe."""

from __future__ import annotations

import posixpath
from collections.abc import Awaitable, Callable
from dataclasses import replace

from handrail_sim.shell.call import encode
from handrail_sim.shell.io import Sink, Source
from handrail_sim.shell.line_editor import LineEditor
from handrail_sim.shell.parse import parse
from handrail_sim.shell.session import Leave, Session
from handrail_sim.shell.start import complain
from handrail_sim.shell.syntax import Script, ShellSyntaxError
from handrail_sim.shell.table import BUILTINS, COMMANDS

Interpret = Callable[[Session, Script], Awaitable[int]]


class TerminalSink:
    """What a terminal does to output: every newline gets a carriage return."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    async def write(self, data: bytes, /) -> None:
        await self._sink.write(data.replace(b"\n", b"\r\n"))


class Lines:
    """Lines of a source that is no terminal."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._held = b""

    async def next(self) -> str | None:
        """The next line without its end; None at the end of the input."""
        while b"\n" not in self._held:
            more = await self._source.read(4096)
            if not more:
                line, self._held = self._held, b""
                return line.decode("utf-8", "surrogateescape") if line else None
            self._held += more
        line, _, self._held = self._held.partition(b"\n")
        return line.decode("utf-8", "surrogateescape")


def completions(session: Session, word: str, is_command: bool) -> list[str]:
    """Commands for a first word, else files; folders end in a slash."""
    if is_command:
        names = {*COMMANDS, *BUILTINS, *session.functions, *session.aliases}
        return sorted(name for name in names if name.startswith(word) and word)
    folder, slash, start = word.rpartition("/")
    place = posixpath.join(session.cwd, folder + slash)
    try:
        names_there = session.files.list(place)
    except OSError:
        return []
    found = [name for name in names_there if name.startswith(start) and (start or not name.startswith("."))]
    return [
        folder + slash + name + ("/" if session.files.is_dir(f"{place}/{name}") else "") for name in found
    ]


async def converse(session: Session, script: Interpret) -> int:
    """Read, run, repeat until the input ends or `exit`; the status of the last command is the shell's."""
    if session.tty:
        shown = TerminalSink(session.streams.stdout)
        session.streams = replace(session.streams, stdout=shown, stderr=shown)
    source, shown_on = session.streams.stdin, session.streams.stdout
    lines: Lines | LineEditor = Lines(source)
    if session.tty:
        lines = LineEditor(source, shown_on, lambda word, first: completions(session, word, first))
    text = ""
    while True:
        await _prompt(session, continued=bool(text))
        if isinstance(lines, LineEditor):
            lines.echoes = session.echo
        line = await lines.next()
        if line is None:
            return await _end(session, text)
        text = f"{text}\n{line}" if text else line
        try:
            parsed = parse(text)
        except ShellSyntaxError as problem:
            text = text if _unfinished(problem) else await _reject(session, problem)
            continue
        text = ""
        try:
            session.status = await script(session, parsed)
        except Leave as leave:
            return leave.status


async def _prompt(session: Session, *, continued: bool) -> None:
    if session.tty:
        host = session.phone.props.get("ro.product.device", "generic_arm64")
        await session.streams.stdout.write(encode("> " if continued else f"{host}:{session.cwd} $ "))


async def _reject(session: Session, problem: ShellSyntaxError) -> str:
    await complain(session, str(problem))
    session.status = 1
    return ""


async def _end(session: Session, rest: str) -> int:
    if rest:
        await complain(session, "syntax error: unexpected EOF")
        return 1
    if session.tty:
        await session.streams.stdout.write(b"\n")
    return session.status


def _unfinished(problem: ShellSyntaxError) -> bool:
    return str(problem) in {"no closing quote", "syntax error: unexpected EOF"}
