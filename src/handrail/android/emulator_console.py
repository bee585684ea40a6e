"""Console of an emulator: text lines over TCP on this machine, answered with OK or KO.

Phones do not have one. A real emulator asks for a token first.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from handrail.clock import Clock
from handrail.errors import AdbCommandError, AdbConnectionError
from handrail.waiting import Deadline, Expired

ANSWER_MS = 5_000
FIRST_PORT, LAST_PORT = 5554, 5682
"""Console ports are even; adb listens on the next port."""
TOKEN_FILE = ".emulator_console_auth_token"  # noqa: S105 - the name of a file
_RATE = re.compile(r"(download|upload) speed: *(\d+) bits/s")
_LATENCY = re.compile(r"(minimum|maximum) latency: *(\d+) ms")


def console_port(serial: str) -> int | None:
    """From `emulator-5554`, or from the adb port on this machine; None for a phone."""
    if named := re.fullmatch(r"emulator-(\d{1,5})", serial):
        return int(named[1])
    address = re.fullmatch(r"(?:127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})", serial)
    port = int(address[1]) - 1 if address else 0
    return port if FIRST_PORT <= port <= LAST_PORT and port % 2 == 0 else None


def read_status(lines: list[str]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Bits per second up and down, least and most milliseconds of delay; 0 means no limit."""
    text = "\n".join(lines)
    rates = {name: int(number) for name, number in _RATE.findall(text)}
    times = {name: int(number) for name, number in _LATENCY.findall(text)}
    try:
        return (rates["upload"], rates["download"]), (times["minimum"], times["maximum"])
    except KeyError:
        reason = f"the console's answer is not understood: {text}"
        raise AdbCommandError(reason, command="network status") from None


class Console:
    """The emulator's console listens on a port of this machine, and takes lines of text."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, clock: Clock) -> None:
        self._reader = reader
        self._writer = writer
        self._clock = clock

    async def say(self, command: str) -> list[str]:
        """Returns the lines before OK; KO raises."""
        self._writer.write(f"{command}\n".encode())
        return await self.read_answer(command.partition(" ")[0])

    async def read_answer(self, what: str) -> list[str]:
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
async def open_console(port: int, clock: Clock) -> AsyncIterator[Console]:
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
        greeting = await console.read_answer("the greeting")
        if any("Authentication required" in line for line in greeting):
            token = ""  # without a file the console answers KO
            with suppress(OSError):
                token = await asyncio.to_thread((Path.home() / TOKEN_FILE).read_text)
            await console.say(f"auth {token.strip()}")
        yield console
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
