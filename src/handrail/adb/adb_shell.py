"""`DeviceShell` over a `Link`: the service that runs a command, its input and output, and its end.

Closing a v2 stream makes adbd hang up the shell's own pid and nothing else. So a program takes the shell's
place (`exec`), and a script carries a mark by which its whole process group is found and killed.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from handrail.adb.link import Link, Stream
from handrail.adb.sending import sending
from handrail.adb.shell import OUTPUT_LIMIT, TIMEOUT_MS, Command, Output, Script, quote
from handrail.adb.wire import ShellKind, ShellParser, encode_shell
from handrail.clock import Clock, SystemClock
from handrail.errors import AdbCommandError, DeviceError, InvalidAction, Timeout
from handrail.waiting import Deadline, Expired, beside

KILL_MS = 1_000
"""Time for ending a script on the device before we go on without an answer."""
NO_INPUT = " </dev/null"
"""For a program without input: saves a round trip, and works on devices without v2."""
SHOWN = 120
"""Characters of a command in an error."""


class AdbShell:
    """Runs commands on one device over its `Link`."""

    def __init__(self, link: Link, clock: Clock | None = None) -> None:
        self._link = link
        self._clock = clock or SystemClock()

    async def run(
        self,
        command: Command,
        *,
        stdin: bytes = b"",
        timeout_ms: float = TIMEOUT_MS,
        limit: int = OUTPUT_LIMIT,
        check: bool = True,
    ) -> Output:
        with sending(command) as answered:
            output = await self._run(command, stdin, timeout_ms, limit)
            answered(output.ok)
        if check and not output.ok:
            raise failed(command_line(command), output)
        return output

    async def _run(self, command: Command, stdin: bytes, timeout_ms: float, limit: int) -> Output:
        line = command_line(command)
        silent = not stdin and not isinstance(command, Script)
        delivery = "not_delivered"
        try:
            async with Deadline(self._clock, timeout_ms):
                v2 = await self._has_v2()
                delivery = "unknown"
                running = await self._begin(command, line, v2, limit, silent=silent)
                try:
                    process = running.process
                    return await (process.wait() if silent else process.talk(stdin))
                finally:
                    await self._end(running)
        except Expired:
            raise too_slow(line, timeout_ms, delivery) from None

    @asynccontextmanager
    async def start(self, command: Command) -> AsyncIterator[AdbProcess]:
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
        service = f"shell,v2,raw:{text}" if v2 else f"exec:{text}"
        stream = await (self._open_marked(service, mark) if mark else self._link.open(service))
        return _Running((AdbProcess if v2 else RawProcess)(stream, line, self._link, limit), stream, mark)

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
        script = f"for p in $(pgrep -f '{mark[:-1]}[{mark[-1]}]'); do kill -9 -$p; done 2>/dev/null"
        with suppress(Expired, DeviceError):
            async with Deadline(self._clock, KILL_MS):
                killer = await self._link.open(f"exec:{script}")
                try:
                    while await killer.read():
                        pass
                finally:
                    await killer.close()


def command_line(command: Command) -> str:
    if isinstance(command, str) and not isinstance(command, Script):
        raise InvalidAction(
            f"{shown(command)!r} is a bare string",
            hint="Give a list of arguments, or a Script for text that the shell shall interpret.",
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


def failed(line: str, output: Output) -> AdbCommandError:
    output_text = (output.stderr or output.stdout)[:500].decode("utf-8", "replace").strip()
    return AdbCommandError(
        f"`{shown(line)}` ended with {output.exit_code}: {output_text or 'it said nothing'}",
        command=shown(line),
        exit_code=output.exit_code,
        delivery="delivered",
    )


def shown(line: str) -> str:
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"


INPUT_SIZE = 65536 - 5
"""Data of one shell packet; with its header it fills 64 KiB."""


class AdbProcess:
    """A command behind a v2 shell."""

    def __init__(self, stream: Stream, line: str, link: Link, limit: int) -> None:
        self.ended = False
        self._stream = stream
        self._line = line[:120]
        self._link = link
        self._out = KeptOutput(limit)
        self._err = KeptOutput(limit)
        self._ready: deque[bytes] = deque()
        self._parser = ShellParser()
        self._code: int | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self._next():
            yield piece

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        for at in range(0, len(view), INPUT_SIZE):
            await self._stream.write(encode_shell(ShellKind.STDIN, view[at : at + INPUT_SIZE]))

    async def end_input(self) -> None:
        await self._stream.write(encode_shell(ShellKind.CLOSE_STDIN, b""))

    async def wait(self) -> Output:
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
            await self._broke_off()
        for kind, part in self._parser.feed(data):
            if kind == ShellKind.STDOUT and part:
                self._ready.append(part)
            elif kind == ShellKind.STDERR:
                self._err.add(part)
            elif kind == ShellKind.EXIT and part:
                self._code = part[0]
                self.ended = True

    async def _broke_off(self) -> None:
        """Every v2 command ends with its exit code, so without one the output is incomplete."""
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


class _Running(NamedTuple):
    """A command on the device. `mark` finds a script again."""

    process: AdbProcess
    stream: Stream
    mark: str


class RawProcess(AdbProcess):
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


class KeptOutput:
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
