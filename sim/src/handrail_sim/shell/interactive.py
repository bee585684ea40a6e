"""A shell that reads its commands from stdin: with a prompt and an echo on a terminal, silent on a pipe."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from handrail_sim.shell.call import encode
from handrail_sim.shell.io import Sink, Source
from handrail_sim.shell.parse import parse
from handrail_sim.shell.session import Leave, Session
from handrail_sim.shell.start import complain
from handrail_sim.shell.syntax import Script, ShellSyntaxError

Interpret = Callable[[Session, Script], Awaitable[int]]


class TerminalSink:
    """What a terminal does to output: every newline gets a carriage return."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    async def write(self, data: bytes, /) -> None:
        await self._sink.write(data.replace(b"\n", b"\r\n"))


class Lines:
    """Lines of a source; on a terminal with echo, backspace, ^U, ^C and ^D."""

    def __init__(self, source: Source, echo: Sink | None) -> None:
        self._source = source
        self._echo = echo
        self._held = b""

    async def next(self) -> str | None:
        """The next line without its end; None at the end of the input."""
        line = bytearray()
        while True:
            if not self._held:
                self._held = await self._source.read(4096)
            if not self._held:
                return line.decode("utf-8", "surrogateescape") if line else None
            char, self._held = self._held[:1], self._held[1:]
            if char == b"\n" or (char == b"\r" and self._echo):
                await self._show(b"\n")
                return line.decode("utf-8", "surrogateescape")
            if self._echo and char == b"\x04" and not line:
                return None
            await self._edit(line, char)

    async def _edit(self, line: bytearray, char: bytes) -> None:
        if not self._echo or (char >= b" " and char != b"\x7f"):
            line += char
            await self._show(char)
        elif char in b"\b\x7f" and line:
            del line[-1:]
            await self._show(b"\b \b")
        elif char in b"\x03\x15":
            await self._show(b"^C\n" if char == b"\x03" else b"\b \b" * len(line))
            line.clear()

    async def _show(self, data: bytes) -> None:
        if self._echo:
            await self._echo.write(data)


async def converse(session: Session, script: Interpret) -> int:
    """Read, run, repeat until the input ends or `exit`; the status of the last command is the shell's."""
    if session.tty:
        shown = TerminalSink(session.streams.stdout)
        session.streams = replace(session.streams, stdout=shown, stderr=shown)
    lines = Lines(session.streams.stdin, session.streams.stdout if session.tty else None)
    text = ""
    while True:
        await _prompt(session, continued=bool(text))
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
