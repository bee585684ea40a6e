"""The console of an emulator: lines over TCP on this machine, answered with OK or KO.

It is the host's side of an emulator, so that no phone has it; a real one asks for a token first.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from handrail.clock import Clock
from handrail.errors import AdbCommandError, AdbConnectionError
from handrail.waiting import Deadline, Expired

ANSWER_MS = 5_000
FIRST_PORT, LAST_PORT = 5554, 5682
"""Console ports of emulators are even; adb is on the next one."""
TOKEN_FILE = ".emulator_console_auth_token"  # noqa: S105 - the name of a file
_RATE = re.compile(r"(download|upload) speed: *(\d+) bits/s")
_LATENCY = re.compile(r"(minimum|maximum) latency: *(\d+) ms")


def console_port(serial: str) -> int | None:
    """Of `emulator-5554`, or of the adb port beside it on this machine; None for a phone."""
    if named := re.fullmatch(r"emulator-(\d{1,5})", serial):
        return int(named[1])
    address = re.fullmatch(r"(?:127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})", serial)
    port = int(address[1]) - 1 if address else 0
    return port if FIRST_PORT <= port <= LAST_PORT and port % 2 == 0 else None


class NetworkStatus(NamedTuple):
    """What the emulator's network does at the moment; 0 is no limit."""

    up_bps: int
    down_bps: int
    least_ms: int
    most_ms: int


def read_status(lines: list[str]) -> NetworkStatus:
    """The answer to `network status`."""
    text = "\n".join(lines)
    rates = {name: int(number) for name, number in _RATE.findall(text)}
    times = {name: int(number) for name, number in _LATENCY.findall(text)}
    try:
        return NetworkStatus(rates["upload"], rates["download"], times["minimum"], times["maximum"])
    except KeyError:
        raise AdbCommandError(
            f"the console's answer is not understood: {text}", command="network status"
        ) from None


class Console:
    """One conversation."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, clock: Clock) -> None:
        self._reader = reader
        self._writer = writer
        self._clock = clock

    async def greet(self, token: str) -> None:
        """A new console asks for the token of its owner's home folder."""
        said = await self._answer("the greeting")
        if any("Authentication required" in line for line in said):
            await self.say(f"auth {token}")

    async def say(self, command: str) -> list[str]:
        """The lines before OK; KO raises. `command` is one line of our own words."""
        self._writer.write(f"{command}\n".encode())
        return await self._answer(command.partition(" ")[0])

    async def _answer(self, what: str) -> list[str]:
        lines: list[str] = []
        try:
            async with Deadline(self._clock, ANSWER_MS):
                while raw := await self._reader.readline():
                    line = raw.decode("utf-8", "replace").strip()
                    if line == "OK":
                        return lines
                    if line.startswith("KO"):
                        raise AdbCommandError(f"the emulator refused {what}: {line}", command=what)
                    lines.append(line)
        except (Expired, OSError, ValueError) as problem:
            raise AdbConnectionError(f"the emulator's console did not answer {what}: {problem!r}") from None
        raise AdbConnectionError(f"the emulator's console closed at {what}")


@asynccontextmanager
async def open_console(port: int, clock: Clock, home: Path | None = None) -> AsyncIterator[Console]:
    """Connect, give the token where one is asked for, and leave politely."""
    try:
        async with Deadline(clock, ANSWER_MS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except (Expired, OSError) as problem:
        raise AdbConnectionError(
            f"no emulator console on port {port}: {problem!r}",
            hint="Is the emulator running on this machine?",
        ) from None
    try:
        console = Console(reader, writer, clock)
        await console.greet(await asyncio.to_thread(_token, home or Path.home()))
        yield console
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _token(home: Path) -> str:
    """Empty where there is no file: the console then says KO itself."""
    try:
        return (home / TOKEN_FILE).read_text().strip()
    except OSError:
        return ""
