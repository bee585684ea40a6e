"""Commands on a device: argument lists in, bytes and an exit code out.

Commands are quoted for the device in one place, `quote`. Closing a v2 stream makes adbd hang up the shell's
own pid and nothing else. So a program takes the shell's place (`exec`), and a script carries a mark by which
its whole process group is found and killed.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from handrail.adb import wire
from handrail.adb.link import Link, Stream
from handrail.adb.sending import sending
from handrail.clock import Clock, SystemClock
from handrail.errors import AdbCommandError, DeviceError, InvalidAction, Timeout, Unsupported
from handrail.waiting import Deadline, Expired, beside

TIMEOUT_MS = 30_000
OUTPUT_LIMIT = 16 << 20
"""Bytes of stdout and of stderr that are kept; the rest is counted and dropped."""


class Script(str):
    """Text that the device's shell interprets: pipes, globs, substitution. Everything else is quoted."""

    __slots__ = ()


Command = Sequence[str] | Script

_PLAIN = re.compile(r"[A-Za-z0-9_@%+:,./-]+")


def quote(argv: Sequence[str]) -> str:
    """mksh reads the result back as exactly these arguments."""
    words = []
    for word in argv:
        if "\0" in word:
            raise InvalidAction(
                f"{word[:80]!r} contains a NUL character, which no command can receive",
                hint="Take it out, or send the data on stdin.",
                path="command",
                delivery="not_delivered",
            )
        # Nothing is special inside single quotes; a single quote goes between double ones.
        words.append(word if _PLAIN.fullmatch(word) else "'" + word.replace("'", "'\"'\"'") + "'")
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class Output:
    """Outcome of a command."""

    stdout: bytes
    stderr: bytes
    exit_code: int | None
    """None before shell v2."""
    dropped: int = 0
    """Bytes beyond the limit."""

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "replace")

    @property
    def complaint(self) -> str:
        """Standard error as text."""
        return self.stderr.decode("utf-8", "replace")

    @property
    def ok(self) -> bool:
        return self.exit_code in (0, None)


KILL_MS = 1_000
"""Time for ending a script on the device before we go on without an answer."""
NO_INPUT = " </dev/null"
"""For a program without input: saves a round trip, and works on devices without v2."""
SHOWN = 120
"""Characters of a command in an error."""


class DeviceShell:
    """Runs commands on one device over its `Link`."""

    def __init__(self, link: Link, clock: Clock | None = None) -> None:
        self._link = link
        self._clock = clock or SystemClock()
        self._has_exec = True

    async def run(
        self,
        command: Command,
        *,
        stdin: bytes = b"",
        timeout_ms: float = TIMEOUT_MS,
        limit: int = OUTPUT_LIMIT,
        check: bool = True,
    ) -> Output:
        """With `check`, an exit code other than 0 raises `AdbCommandError`.

        After a timeout or a cancellation, the command is also ended on the device.
        """
        line = command_line(command)
        silent = not stdin and not isinstance(command, Script)
        delivery = "not_delivered"
        with sending(command) as answered:
            try:
                async with Deadline(self._clock, timeout_ms):
                    v2 = await self._has_v2()
                    delivery = "unknown"
                    running = await self._begin(command, line, v2, limit, silent=silent)
                    if stdin and isinstance(running.process, LegacyShellProcess):
                        await running.stream.close()
                        raise Unsupported(
                            "adbd of Android 4.4 and older gives a command no standard input",
                            delivery="not_delivered",
                        )
                    try:
                        process = running.process
                        output = await (process.wait() if silent else process.talk(stdin))
                    finally:
                        await self._end(running)
            except Expired:
                raise too_slow(line, timeout_ms, delivery) from None
            answered(output.ok)
        if check and not output.ok:
            raise failed(line, output)
        return output

    @asynccontextmanager
    async def start(self, command: Command) -> AsyncIterator[Process]:
        """Leaving the block ends the command on the device."""
        line = command_line(command)
        running = await self._begin(command, line, await self._has_v2())
        try:
            yield running.process
        finally:
            await self._end(running)

    async def _has_v2(self) -> bool:
        return "shell_v2" in await self._link.features()

    async def _begin(
        self, command: Command, line: str, v2: bool, limit: int = OUTPUT_LIMIT, *, silent: bool = False
    ) -> _Running:
        mark = f"handrail-{secrets.token_hex(8)}" if isinstance(command, Script) or not v2 else ""
        text = (f"# {mark}\n{line}" if mark else f"exec {line}") + NO_INPUT * silent
        if v2:
            service = f"shell,v2,raw:{text}"
            stream = await (self._open_marked(service, mark) if mark else self._link.open(service))
            return _Running(Process(stream, line, self._link, limit), stream, mark)
        # `exec:` came with Android 5; `shell:` is a terminal before Android 7.
        try:
            stream = await self._open_marked(f"{'exec' if self._has_exec else 'shell'}:{text}", mark)
        except AdbCommandError:
            if not self._has_exec:
                raise
            stream = await self._open_marked(f"shell:{text}", mark)
            self._has_exec = False
        kind = RawProcess if self._has_exec else LegacyShellProcess
        return _Running(kind(stream, line, self._link, limit), stream, mark)

    async def _open_marked(self, service: str, mark: str) -> Stream:
        """After a cancellation the script may already run, so it is accepted in order to be killed."""
        async with beside(self._link.open(service), "opening a shell") as opening:
            try:
                return await asyncio.shield(opening)
            except asyncio.CancelledError:
                with suppress(Expired, DeviceError):
                    async with Deadline(self._clock, KILL_MS):
                        stream = await opening
                        await self._kill(mark)
                        await stream.close()
                raise

    async def _end(self, running: _Running) -> None:
        """A script is killed before its stream closes, because its children lose the mark afterwards."""
        try:
            if running.mark and not running.process.ended:
                await self._kill(running.mark)
        finally:
            await running.stream.close()

    async def _kill(self, mark: str) -> None:
        """adbd starts every shell as a group leader; the pattern does not match its own command."""
        pattern = f"{mark[:-1]}[{mark[-1]}]"
        pids = f"$(pgrep -f '{pattern}' || grep -l '{pattern}' /proc/[0-9]*/cmdline)"  # pgrep: Android 6
        script = f"for p in {pids}; do p=${{p#/proc/}}; kill -9 -${{p%/cmdline}}; done 2>/dev/null"
        with suppress(Expired, DeviceError):
            async with Deadline(self._clock, KILL_MS):
                killer = await self._link.open(f"{'exec' if self._has_exec else 'shell'}:{script}")
                try:
                    while await killer.read():
                        pass
                finally:
                    await killer.close()


def command_line(command: Command) -> str:
    if isinstance(command, str) and not isinstance(command, Script):
        raise InvalidAction(
            f"{shown(command)!r} is a bare string",
            hint="Give a list of arguments, or a Script for text that the shell interprets.",
            path="command",
        )
    line = command if isinstance(command, Script) else quote(command)
    try:
        data = line.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidAction(f"{shown(line)!r} is not valid text: {error.reason}", path="command") from None
    if not data or b"\0" in data:
        raise InvalidAction("a command is empty or contains a NUL character", path="command")
    return line


def too_slow(line: str, timeout_ms: float, delivery: str) -> Timeout:
    """Past its deadline: ended on the device, or never sent."""
    began = "It was ended on the device. Give it more time, or look at what it waits for."
    waited = "It was never sent: the connection took too long. `handrail devices` shows the phone's state."
    return Timeout(
        f"`{shown(line)}` did not end within {timeout_ms:g} ms",
        hint=began if delivery == "unknown" else waited,
        retryable=delivery == "not_delivered",
        command=shown(line),
        delivery=delivery,
    )


CAME_WITH = {"cmd": "7", "pgrep": "6", "pidof": "6", "md5sum": "6", "stat": "6", "tail": "6"}
"""The Android that brought a command."""


def failed(line: str, output: Output) -> AdbCommandError:
    output_text = (output.stderr or output.stdout)[:500].decode("utf-8", "replace").strip()
    name, hint = line.removeprefix("exec ").partition(" ")[0], None
    if name in CAME_WITH and "not found" in output_text:
        hint = f"This phone's Android is too old: `{name}` came with Android {CAME_WITH[name]}."
    return AdbCommandError(
        f"`{shown(line)}` ended with {output.exit_code}: {output_text or 'it said nothing'}",
        hint=hint,
        command=shown(line),
        exit_code=output.exit_code,
        delivery="delivered",
    )


def shown(line: str) -> str:
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


INPUT_SIZE = 65536 - 5
"""Data of one shell packet; with its header it fills 64 KiB."""


class Process:
    """A command behind a v2 shell."""

    def __init__(self, stream: Stream, line: str, link: Link, limit: int) -> None:
        self.ended = False
        self._stream = stream
        self._line = line[:120]
        self._link = link
        self._out = FirstBytes(limit)
        self._err = FirstBytes(limit)
        self._ready: deque[bytes] = deque()
        self._parser = wire.ShellParser()
        self._code: int | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Pieces of stdout as they come."""
        while piece := await self._next():
            yield piece

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        for at in range(0, len(view), INPUT_SIZE):
            await self._stream.write(wire.encode_shell(wire.ShellKind.STDIN, view[at : at + INPUT_SIZE]))

    async def end_input(self) -> None:
        await self._stream.write(wire.encode_shell(wire.ShellKind.CLOSE_STDIN, b""))

    async def wait(self) -> Output:
        """Leaves out the stdout that was iterated over."""
        while piece := await self._next():
            self._out.add(piece)
        return Output(self._out.value(), self._err.value(), self._code, self._out.dropped + self._err.dropped)

    async def talk(self, stdin: bytes) -> Output:
        """Writes all input while output is read, so that neither side blocks."""
        if not stdin:
            await self._feed(b"")
            return await self.wait()
        async with beside(self._feed(stdin), "input of a command"):
            return await self.wait()

    async def _feed(self, stdin: bytes) -> None:
        """A command that ends without reading its input has not failed."""
        with suppress(DeviceError):
            await self.write(stdin)
            await self.end_input()

    async def _next(self) -> bytes:
        """The next piece of stdout; b"" at the end."""
        while not self._ready and not self.ended:
            await self._more()
        return self._ready.popleft() if self._ready else b""

    async def _more(self) -> None:
        """Reads from the stream: stdout is queued, stderr and the exit code are stored."""
        data = await self._stream.read()
        if not data:
            # Every v2 command ends with its exit code, so without one the output is incomplete.
            self.ended = True
            try:
                await self._link.check()
            except DeviceError as error:
                error.details["delivery"] = "unknown"
                raise
            raise AdbCommandError(
                f"the device closed the stream of `{self._line}` before the command's end",
                hint="What it did is unknown: look at the phone before you repeat it.",
                command=self._line,
                delivery="unknown",
            )
        for kind, part in self._parser.feed(data):
            if kind == wire.ShellKind.STDOUT and part:
                self._ready.append(part)
            elif kind == wire.ShellKind.STDERR:
                self._err.add(part)
            elif kind == wire.ShellKind.EXIT and part:
                self._code = part[0]
                self.ended = True


class _Running(NamedTuple):
    """A command on the device. `mark` finds a script again."""

    process: Process
    stream: Stream
    mark: str


class RawProcess(Process):
    """A command behind `exec:`, on devices without v2: stderr is in stdout and there is no exit code.

    Only closing the stream ends its input.
    """

    async def write(self, data: bytes) -> None:
        await self._stream.write(data)

    async def end_input(self) -> None:
        """There is no packet for it."""

    async def _more(self) -> None:
        data = await self._stream.read()
        self.ended = not data
        self._ready.extend([data] if data else [])


class LegacyShellProcess(RawProcess):
    """A command behind `shell:` before Android 7: its terminal writes a line's end as two characters."""

    _had_return = False

    async def _more(self) -> None:
        data = await self._stream.read()
        self.ended = not data
        data = b"\r" * self._had_return + data
        self._had_return = data.endswith(b"\r") and not self.ended
        data = data[: len(data) - self._had_return].replace(b"\r\n", b"\n")
        self._ready.extend([data] if data else [])


class FirstBytes:
    """The first `limit` bytes."""

    __slots__ = ("_limit", "_parts", "dropped", "size")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self.size = 0
        self.dropped = 0

    def add(self, data: bytes) -> None:
        room = self._limit - self.size
        if len(data) > room:
            self.dropped += len(data) - room
            data = data[:room]
        if data:
            self.size += len(data)
            self._parts.append(data)

    def value(self) -> bytes:
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
