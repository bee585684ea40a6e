"""A command that is running on a device: its input, its output, its exit code. Knows no quoting, no clock."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress

from handrail.adb.link import Link, Stream
from handrail.adb.output import Kept
from handrail.adb.shell import Output
from handrail.adb.wire import Shell, ShellParser, encode_shell
from handrail.errors import AdbCommandError, DeviceError

INPUT_SIZE = 65536 - 5
"""Data of one shell packet; with its header it fills 64 KiB."""


class AdbProcess:
    """A command behind a v2 shell."""

    def __init__(self, stream: Stream, line: str, link: Link, limit: int) -> None:
        self.ended = False
        self._stream = stream
        self._line = line[:120]
        self._link = link
        self._out = Kept(limit)
        self._err = Kept(limit)
        self._ready: deque[bytes] = deque()
        self._parser = ShellParser()
        self._code: int | None = None
        self._feeder: asyncio.Task[None] | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self._next():
            yield piece

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        for at in range(0, len(view), INPUT_SIZE):
            await self._stream.write(encode_shell(Shell.STDIN, view[at : at + INPUT_SIZE]))

    async def end_input(self) -> None:
        await self._stream.write(encode_shell(Shell.CLOSE_STDIN, b""))

    async def wait(self) -> Output:
        while piece := await self._next():
            self._out.add(piece)
        return Output(self._out.value(), self._err.value(), self._code, self._out.dropped + self._err.dropped)

    async def talk(self, stdin: bytes) -> Output:
        """Give it all its input while its output is read: neither side waits for the other."""
        if stdin:
            self._feeder = asyncio.ensure_future(self._feed(stdin))
        else:
            await self._feed(b"")
        return await self.wait()

    async def close(self) -> None:
        if self._feeder is not None:
            self._feeder.cancel()
            await asyncio.wait({self._feeder})

    async def _feed(self, stdin: bytes) -> None:
        """A command that ends without reading its input is no failure."""
        with suppress(DeviceError):
            await self.write(stdin)
            await self.end_input()

    async def _next(self) -> bytes:
        """The next piece of stdout; b"" at the end."""
        while not self._ready and not self.ended:
            await self._more()
        return self._ready.popleft() if self._ready else b""

    async def _more(self) -> None:
        """Take what the stream has next: stdout is laid ready, stderr and the exit code are put aside."""
        data = await self._stream.read()
        if not data:
            await self._broke_off()
        for kind, part in self._parser.feed(data):
            if kind == Shell.STDOUT and part:
                self._ready.append(part)
            elif kind == Shell.STDERR:
                self._err.add(part)
            elif kind == Shell.EXIT and part:
                self._code = part[0]
                self.ended = True

    async def _broke_off(self) -> None:
        """Every v2 command ends with its exit code: without one the answer is not whole."""
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


class RawProcess(AdbProcess):
    """A command behind `exec:`, on devices without v2: stderr is in stdout, nobody tells the exit code.

    Its input has no end of its own: only closing the stream ends it.
    """

    async def write(self, data: bytes) -> None:
        await self._stream.write(data)

    async def end_input(self) -> None:
        """There is no packet for it."""

    async def _more(self) -> None:
        data = await self._stream.read()
        self.ended = not data
        self._ready.extend([data] if data else [])
