"""Commands on a device: argument lists in, bytes and an exit code out.

Commands are quoted for the device in one place, `quote`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from handrail.errors import InvalidAction

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


class Process(Protocol):
    """A running command on the device."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Pieces of stdout as they come."""

    async def write(self, data: bytes) -> None: ...

    async def end_input(self) -> None: ...

    async def wait(self) -> Output:
        """Without the stdout that was iterated over."""


class DeviceShell(Protocol):
    """Runs commands on one device."""

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

    def start(self, command: Command) -> AbstractAsyncContextManager[Process]:
        """Leaving the block ends the command on the device."""
