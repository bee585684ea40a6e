"""The commands by name, empty until the registry fills it: so that commands may start other commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import Options

if TYPE_CHECKING:
    from handrail_sim.shell.interpret import Interpreter


class Tool(Protocol):
    """What a tool takes."""

    def help(self) -> str: ...

    def read(self, args: list[str]) -> Options: ...


Builtin = Callable[["Interpreter", Call], Awaitable[int]]

COMMANDS: dict[str, Command] = {}
BUILTINS: dict[str, Builtin] = {}
TOOLS: dict[str, Tool] = {}
