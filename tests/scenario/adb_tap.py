"""A wire between Handrail and a phone that writes down what passes: every service that a host asks adbd for.

It reads the bytes of ADB itself, so that a judge need not believe anything that Handrail says.
"""

from __future__ import annotations

import asyncio
import re
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

HEAD = struct.Struct("<4s5I")
"""Command, two arguments, the length of the data, its checksum, a magic."""
ASKS = re.compile(
    r"am get-current-user|cmd package (list|query|resolve)|cmd uimode night( <|$)|dd 'if=/(system|data)/app/"
    r"|dumpsys|getprop|id\b|ime list|logcat -d|ls\b|md5sum|pm (list|path)|ps\b|run-as \S+ (ls|cat|stat)"
    r"|screencap|settings get|tail|wm (size|density)|cat /(proc|sys)"
    r"|rm -f /data/local/tmp/handrail-\w+\.xml; uiautomator dump"
)
"""How commands begin that leave a phone as it is, by the documentation of Android's shell."""


class Wire:
    """What was asked of adbd so far."""

    def __init__(self) -> None:
        self.services: list[str] = []
        self.address = ""

    def commands(self) -> list[str]:
        """Without the words around them: `am force-stop com.example`."""
        runs = (one.partition(":") for one in self.services if one.startswith(("shell", "exec")))
        return [_bare(command) for _, _, command in runs]

    def changing(self) -> list[str]:
        """Those after which the phone may be another."""
        return [one for one in self.commands() if not ASKS.match(one)]


def _bare(command: str) -> str:
    lines = [line for line in command.splitlines() if not line.startswith("#")]
    return " ".join(lines).removeprefix("exec ").strip()


@asynccontextmanager
async def tapped(address: str) -> AsyncIterator[Wire]:
    """Listens where Handrail should connect, and passes everything on."""
    host, _, port = address.rpartition(":")
    wire = Wire()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_phone, phone = None, None
        try:
            phone, to_phone = await asyncio.open_connection(host, int(port))
            await asyncio.gather(_copy(reader, to_phone, wire), _copy(phone, writer, None))
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            for one in (writer, to_phone):
                if one is not None:
                    one.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        wire.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield wire


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter, wire: Wire | None) -> None:
    """Message by message where somebody listens."""
    try:
        while True:
            if wire is None:
                data = await source.read(65_536)
                if not data:
                    return
            else:
                data = await source.readexactly(HEAD.size)
                command, _, _, length, _, _ = HEAD.unpack(data)
                data += await source.readexactly(length)
                if command == b"OPEN":
                    wire.services.append(data[HEAD.size :].rstrip(b"\0").decode("utf-8", "replace"))
            sink.write(data)
            await sink.drain()
    finally:
        sink.close()
