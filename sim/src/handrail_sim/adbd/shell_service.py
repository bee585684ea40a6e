"""The shell over a stream: v1 raw bytes, v2 packets, exec. What the commands do is known by `sim.shell`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from handrail_sim import shell
from handrail_sim.adbd.tty import Tty
from handrail_sim.adbd.wire import ShellKind, ShellParser, encode_shell
from handrail_sim.stream import Stream

if TYPE_CHECKING:
    from handrail_sim.phone import Phone

PACKET_DATA = 65536 - 5
"""Data of one shell packet: with its header it fills one WRTE."""

Run = Callable[[Stream], Awaitable[None]]


def shell_service(phone: Phone, options: list[str], command: str) -> Run:
    """`shell[,v2][,TERM=…][,raw|pty]:command`; unknown options are ignored, as adbd does.

    Without raw or pty, an empty command gets a terminal and any other none.
    """
    pty = "pty" in options or (not command and "raw" not in options)
    term = next((option[5:] for option in options if option.startswith("TERM=")), "dumb")

    async def run(stream: Stream) -> None:
        ends = V2(stream, merged=pty) if "v2" in options else V1(stream)
        await ends.run(phone, command, tty=pty, term=term)

    return run


def exec_service(phone: Phone, command: str) -> Run:
    """`exec:command`: bytes as they are, both ways."""

    async def run(stream: Stream) -> None:
        await V1(stream).run(phone, command, tty=False, term="dumb")

    return run


class V1:
    """Raw bytes: stderr goes where stdout goes, the exit code is lost."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._held = b""
        self._room: int | None = None

    async def run(self, phone: Phone, command: str, *, tty: bool, term: str) -> None:
        cut = phone.faults.get("truncated_output", first_word(command))
        self._room = None if cut is None else int(cut["bytes"])
        keys = Tty(phone, self) if tty else None
        io = shell.ShellIO(stdin=keys or self, out=self.out, err=self.err, tty=tty)
        try:
            await self.exit(await shell.run(phone, command, io, {"TERM": term}))
        finally:
            if keys is not None:
                keys.close()

    async def read(self, n: int = -1, /) -> bytes:
        """At most n bytes, b"" at the end; everything until then when n is negative."""
        if n < 0:
            return await self._read_all()
        data = self._held or await self._next()
        self._held = data[n:]
        return data[:n]

    async def _read_all(self) -> bytes:
        parts = [self._held]
        self._held = b""
        while part := await self._next():
            parts.append(part)
        return b"".join(parts)

    async def _next(self) -> bytes:
        return await self._stream.read()

    async def out(self, data: bytes) -> None:
        await self._stream.write(self._fit(data))

    async def err(self, data: bytes) -> None:
        await self.out(data)

    async def exit(self, code: int) -> None:
        """Nobody is told."""

    def _fit(self, data: bytes) -> bytes:
        """What is left of the data when output is cut short by a fault."""
        if self._room is None:
            return data
        data = data[: self._room]
        self._room -= len(data)
        return data


class V2(V1):
    """Packets: stdout, stderr and exit code apart; with a terminal everything is stdout."""

    def __init__(self, stream: Stream, *, merged: bool) -> None:
        super().__init__(stream)
        self._parser = ShellParser()
        self._err = ShellKind.STDOUT if merged else ShellKind.STDERR
        self._ended = False

    async def _next(self) -> bytes:
        ready: list[bytes] = []
        while not ready and not self._ended:
            data = await self._stream.read()
            self._ended = not data
            for kind, part in self._parser.feed(data):
                if kind == ShellKind.STDIN and not self._ended:
                    ready.append(part)
                elif kind == ShellKind.CLOSE_STDIN:
                    self._ended = True
        return b"".join(ready)

    async def out(self, data: bytes) -> None:
        await self._send(ShellKind.STDOUT, self._fit(data))

    async def err(self, data: bytes) -> None:
        await self._send(self._err, self._fit(data))

    async def exit(self, code: int) -> None:
        await self._send(ShellKind.EXIT, bytes([code & 0xFF]))

    async def _send(self, kind: ShellKind, data: bytes) -> None:
        view = memoryview(data)
        for at in range(0, len(view), PACKET_DATA):
            await self._stream.write(encode_shell(kind, view[at : at + PACKET_DATA]))


def first_word(command: str) -> str:
    """The program a command line starts with, for faults that strike one program only."""
    while command.lstrip().startswith("#"):
        command = command.lstrip().partition("\n")[2]
    words = command.split(None, 2)
    name = words[1] if words[:1] == ["exec"] and words[1:] else "".join(words[:1])
    return name.rpartition("/")[2] or "sh"
