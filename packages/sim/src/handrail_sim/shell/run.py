"""The door: a command line and its streams in, an exit code out. Cancelling the call hangs the shell up."""

from __future__ import annotations

import asyncio
import posixpath
import stat as modes
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import count

from handrail_sim.disk.blobs import intern
from handrail_sim.disk.files import Files
from handrail_sim.disk.lookup import ROOT, SHELL_GROUP, Node
from handrail_sim.handset import Handset
from handrail_sim.shell.call import encode
from handrail_sim.shell.interpret import SIGPIPE_STATUS, Interpreter
from handrail_sim.shell.io import BufferSink, Bytes, FunctionSink, ShellIO, Sink, Source, Streams
from handrail_sim.shell.parse import Script, ShellSyntaxError, parse
from handrail_sim.shell.processes import processes_of
from handrail_sim.shell.session import ENVIRONMENT, SHELL, Leave, Session, User
from handrail_sim.shell.start import complain
from handrail_sim.shell.table import BUILTINS, COMMANDS
from handrail_sim.shell.tools.processes import mount_proc
from handrail_sim.shell.tools.starting import ANDROID_ONLY

FOLDER = "/system/bin"
BUILT = 1230768000
"""The first moment of 2009, which Android's build gives to every file of the system image."""
FIRST_INODE = 1_000_000
"""Of the files that all phones share; far from what a phone counts itself."""
_STUB = b"#!/system/bin/sh\n"


def fill_programs(files: Files) -> None:
    """As on a device: tools are links to toybox, Android's own commands are files."""
    if not files.holds("system", "bin", "sh"):
        files.graft(FOLDER, _programs())


@cache
def _programs() -> Node:
    """All phones share this read-only folder."""
    inodes, stub = count(FIRST_INODE), intern(_STUB)
    created = Node(modes.S_IFDIR | 0o751, ROOT, SHELL_GROUP, BUILT, next(inodes), entries={})
    for name in sorted(COMMANDS):
        if name in ANDROID_ONLY or name == "toybox":
            node = Node(modes.S_IFREG | 0o755, ROOT, SHELL_GROUP, BUILT, next(inodes), stub)
        else:
            node = Node(modes.S_IFLNK | 0o777, ROOT, SHELL_GROUP, BUILT, next(inodes), target="toybox")
        created.folder[name] = node
    return created.freeze()


MOST_REMEMBERED = 500
Complete = Callable[[str, bool], list[str]]
"""The names that a word may become; the flag says whether it is a command's."""


class LineEditor:
    """Lines of a terminal; the history is kept between them."""

    def __init__(self, source: Source, echo: Sink, complete: Complete) -> None:
        self.echoes = True
        self._source = source
        self._echo = echo
        self._complete = complete
        self._held = b""
        self._history: list[str] = []
        self._line = ""
        self._at = 0
        self._place = 0
        self._draft = ""
        self._keys: dict[bytes, Callable[[], Awaitable[None]]] = {
            b"\x1b[A": self._up, b"\x1bOA": self._up, b"\x10": self._up,
            b"\x1b[B": self._down, b"\x1bOB": self._down, b"\x0e": self._down,
            b"\x1b[C": self._right, b"\x1bOC": self._right, b"\x06": self._right,
            b"\x1b[D": self._left, b"\x1bOD": self._left, b"\x02": self._left,
            b"\x1b[H": self._home, b"\x1b[1~": self._home, b"\x01": self._home,
            b"\x1b[F": self._end, b"\x1b[4~": self._end, b"\x05": self._end,
            b"\x08": self._erase, b"\x7f": self._erase, b"\x1b[3~": self._delete,
            b"\x15": self._kill, b"\x0b": self._kill_end, b"\x17": self._kill_word,
            b"\t": self._complete_key, b"\x03": self._interrupt, b"\x0c": self._redraw,
        }  # fmt: skip

    async def next(self) -> str | None:
        """The next line without its end; None at the end of the input."""
        self._line, self._at, self._place = "", 0, len(self._history)
        while True:
            key = await self._key()
            if key in {b"\r", b"\n"}:
                await self._write(b"\n")
                return self._done()
            if not key or (key == b"\x04" and not self._line):
                return self._done() if self._line else None
            await self._press(key)

    def _done(self) -> str:
        if self._line.strip() and self.echoes and self._history[-1:] != [self._line]:
            self._history = [*self._history, self._line][-MOST_REMEMBERED:]
        return self._line

    async def _byte(self) -> bytes:
        if not self._held:
            self._held = await self._source.read(4096)
        byte, self._held = self._held[:1], self._held[1:]
        return byte

    async def _key(self) -> bytes:
        """One key: a byte, an escape sequence, or the bytes of one character."""
        key = await self._byte()
        if key == b"\x1b":
            key += await self._byte()
            while key[1:2] in {b"[", b"O"} and (len(key) == 2 or key[-1:] in b"0123456789;"):
                more = await self._byte()
                if not more:
                    break
                key += more
        lead = key[0] if key else 0
        count = 2 if lead >> 5 == 0b110 else 3 if lead >> 4 == 0b1110 else 4 if lead >> 3 == 0b11110 else 1
        while 0 < len(key) < count and (more := await self._byte()):
            key += more
        return key

    async def _press(self, key: bytes) -> None:
        act = self._keys.get(key)
        if act is not None:
            await act()
        elif key >= b" " and key[:1] != b"\x1b":
            await self._insert(key.decode("utf-8", "surrogateescape"))

    # what keys do

    async def _insert(self, text: str) -> None:
        rest = self._line[self._at :]
        self._line = self._line[: self._at] + text + rest
        self._at += len(text)
        await self._write((text + rest).encode("utf-8", "surrogateescape") + b"\b" * len(rest))

    async def _cut(self, start: int, end: int) -> None:
        """Take out a part; the cursor ends where it began."""
        await self._write(b"\b" * (self._at - start))
        rest = self._line[end:]
        blank = end - start
        self._line, self._at = self._line[:start] + rest, start
        shown = rest.encode("utf-8", "surrogateescape") + b" " * blank
        await self._write(shown + b"\b" * (len(rest) + blank))

    async def _erase(self) -> None:
        if self._at:
            await self._cut(self._at - 1, self._at)

    async def _delete(self) -> None:
        if self._at < len(self._line):
            await self._cut(self._at, self._at + 1)

    async def _kill(self) -> None:
        await self._right(len(self._line))
        await self._cut(0, len(self._line))

    async def _kill_end(self) -> None:
        await self._cut(self._at, len(self._line))

    async def _kill_word(self) -> None:
        before = self._line[: self._at].rstrip()
        await self._cut(before.rfind(" ") + 1, self._at)

    async def _left(self) -> None:
        if self._at:
            self._at -= 1
            await self._write(b"\b")

    async def _right(self, count: int = 1) -> None:
        passed = self._line[self._at : self._at + count]
        self._at += len(passed)
        await self._write(passed.encode("utf-8", "surrogateescape"))

    async def _home(self) -> None:
        await self._write(b"\b" * self._at)
        self._at = 0

    async def _end(self) -> None:
        await self._right(len(self._line))

    async def _up(self) -> None:
        await self._recall(self._place - 1)

    async def _down(self) -> None:
        await self._recall(self._place + 1)

    async def _recall(self, place: int) -> None:
        """Another line of the history; below the last one stands what was typed before."""
        if not 0 <= place <= len(self._history):
            await self._write(b"\a")
            return
        if self._place == len(self._history):
            self._draft = self._line
        self._place = place
        text = self._history[place] if place < len(self._history) else self._draft
        await self._kill()
        await self._insert(text)

    async def _interrupt(self) -> None:
        await self._write(b"^C\n")
        self._line, self._at = "", 0

    async def _redraw(self) -> None:
        await self._write(b"\x1b[2J\x1b[H" + self._line.encode("utf-8", "surrogateescape"))
        await self._write(b"\b" * (len(self._line) - self._at))

    async def _complete_word(self, word: str, names: list[str]) -> None:
        common = posixpath.commonprefix(names)
        if len(names) == 1:
            common += "" if common.endswith("/") else " "
        if len(common) > len(word):
            await self._insert(common[len(word) :])
        elif len(names) > 1:
            await self._write(b"\n" + "  ".join(names).encode("utf-8", "surrogateescape") + b"\n")
            await self._write(self._line.encode("utf-8", "surrogateescape"))
            await self._write(b"\b" * (len(self._line) - self._at))
        else:
            await self._write(b"\a")

    async def _complete_key(self) -> None:
        before = self._line[: self._at]
        word = before[before.rfind(" ") + 1 :]
        first = not before[: len(before) - len(word)].strip() and "/" not in word
        await self._complete_word(word, self._complete(word, first))

    async def _write(self, data: bytes) -> None:
        if self.echoes and data:
            await self._echo.write(data)


Interpret = Callable[[Session, Script], Awaitable[int]]


class TerminalSink:
    """What a terminal does to output: every newline gets a carriage return."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    async def write(self, data: bytes, /) -> None:
        await self._sink.write(data.replace(b"\n", b"\r\n"))


class LineSource:
    """Lines of a source that is not a terminal."""

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
    matches = [name for name in names_there if name.startswith(start) and (start or not name.startswith("."))]
    return [
        folder + slash + name + ("/" if session.files.is_dir(f"{place}/{name}") else "") for name in matches
    ]


async def converse(session: Session, script: Interpret) -> int:
    """Read, run, repeat until the input ends or `exit`; the status of the last command is the shell's."""
    if session.tty:
        shown = TerminalSink(session.streams.stdout)
        session.streams = replace(session.streams, stdout=shown, stderr=shown)
    source, shown_on = session.streams.stdin, session.streams.stdout
    lines: LineSource | LineEditor = LineSource(source)
    if session.tty:
        lines = LineEditor(source, shown_on, lambda word, first: completions(session, word, first))
    text = ""
    while True:
        continued = bool(text)
        if session.tty:
            host = session.phone.props.get("ro.product.device", "generic_arm64")
            await session.streams.stdout.write(encode("> " if continued else f"{host}:{session.cwd} $ "))
        if isinstance(lines, LineEditor):
            lines.echoes = session.echo
        line = await lines.next()
        if line is None:
            return await _end(session, text)
        text = f"{text}\n{line}" if text else line
        try:
            parsed = parse(text)
        except ShellSyntaxError as problem:
            text = (
                text
                if (str(problem) in {"no closing quote", "syntax error: unexpected EOF"})
                else await _reject(session, problem)
            )
            continue
        text = ""
        try:
            session.status = await script(session, parsed)
        except Leave as leave:
            return leave.status


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


async def run(phone: Handset, command: str, io: ShellIO, env: Mapping[str, str] | None = None) -> int:
    """Run a command line as adbd's `shell:` does; an empty one starts an interactive shell."""
    streams = Streams(io.stdin, FunctionSink(io.out), FunctionSink(io.err))
    session = new_session(phone, streams, env)
    session.tty = io.tty
    table = processes_of(phone)
    with table.started([SHELL, "-c", command], 1, session.user, phone.clock.monotonic_ms()) as process:
        session.pid, session.parent, session.group = process.pid, 1, process.group
        session.shell, session.leads = process, True
        try:
            status = await (_text(session, command) if command else _conversation(session))
            # Background jobs that kept this shell's output keep the stream open, as pipes do.
            while session.jobs:
                await asyncio.wait({session.jobs.pop()})
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
    out, err = BufferSink(), BufferSink()
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
    return await Interpreter(session).leave(await converse(session, _entry))


async def _entry(session: Session, script: Script) -> int:
    return await Interpreter(session).script(script)


async def _text(session: Session, command: str) -> int:
    try:
        script = parse(command)
    except ShellSyntaxError as problem:
        await complain(session, str(problem))
        return 1
    return await _interpret(session, script)
