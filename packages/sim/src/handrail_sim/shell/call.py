"""What a command gets: the phone, its arguments, its streams and its surroundings. Knows no command."""

from __future__ import annotations

import posixpath
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Protocol

from handrail_sim.handset import Handset
from handrail_sim.shell.io import Sink, Source, read_all
from handrail_sim.shell.options import Options
from handrail_sim.shell.session import Session


@dataclass(slots=True)
class Call:
    """One run of one command."""

    phone: Handset
    argv: list[str]
    session: Session
    stdin: Source
    stdout: Sink
    stderr: Sink
    options: Options = field(default_factory=Options)
    """A tool's options, read before it runs by the table of what it takes."""

    @property
    def name(self) -> str:
        return self.argv[0]

    @property
    def args(self) -> list[str]:
        return self.argv[1:]

    @property
    def env(self) -> dict[str, str]:
        return self.session.variables

    @property
    def cwd(self) -> str:
        return self.session.cwd

    def path(self, name: str) -> str:
        """The absolute path of a name as the command sees it."""
        return posixpath.normpath(posixpath.join(self.cwd, name))

    async def out(self, text: str | bytes) -> int:
        """Like `line`, `err` and `fail` it gives the exit code back, so that a command may end with it."""
        await self.stdout.write(text if isinstance(text, bytes) else encode(text))
        return 0

    async def line(self, text: str, code: int = 0) -> int:
        await self.stdout.write(encode(text + "\n"))
        return code

    async def err(self, text: str, code: int = 1) -> int:
        await self.stderr.write(encode(text + "\n"))
        return code

    async def fail(self, text: str, code: int = 1) -> int:
        """Say `name: text` on stderr as toybox does."""
        return await self.err(f"{self.name.rpartition('/')[2]}: {text}", code)

    async def read(self) -> bytes:
        return await read_all(self.stdin)


def encode(text: str) -> bytes:
    """Arguments may hold bytes that are not UTF-8; they travel as surrogates and leave as they came."""
    return text.encode("utf-8", "surrogateescape")


class Command(Protocol):
    """What runs when its name is typed; the exit code."""

    __name__: str

    def __call__(self, call: Call, /) -> Awaitable[int]: ...


def by_name(*commands: Command) -> dict[str, Command]:
    """Commands under the names of their functions: `run_as` is `run-as`."""
    return {command.__name__.replace("_", "-"): command for command in commands}
