"""What one shell remembers between commands: variables, directory, status, streams. Runs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from handrail_sim.shell.io import Streams
from handrail_sim.shell.parse import ShellSyntaxError

if TYPE_CHECKING:
    from handrail_sim.disk.files import Files
    from handrail_sim.handset import Handset
    from handrail_sim.shell.parse import Node, Script
    from handrail_sim.shell.processes import Process

MAX_DEPTH = 32
"""Scripts, functions and programs inside each other; each costs up to 14 frames of Python's stack."""
SHELL = "/system/bin/sh"
PATH = (
    "/product/bin:/apex/com.android.runtime/bin:/apex/com.android.art/bin:/system_ext/bin:/system/bin:"
    "/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin"
)
ENVIRONMENT = {
    "PATH": PATH,
    "HOME": "/",
    "SHELL": SHELL,
    "USER": "shell",
    "LOGNAME": "shell",
    "HOSTNAME": "generic_arm64",
    "TERM": "dumb",
    "TMPDIR": "/data/local/tmp",
    "ANDROID_ROOT": "/system",
    "ANDROID_DATA": "/data",
    "ANDROID_STORAGE": "/storage",
    "EXTERNAL_STORAGE": "/sdcard",
    "ANDROID_BOOTLOGO": "1",
    "ANDROID_ASSETS": "/system/app",
    "ANDROID_ART_ROOT": "/apex/com.android.art",
}


class Leave(Exception):
    """`exit`: the shell ends with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Return(Exception):
    """`return` from a function or a sourced file."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Loop(Exception):
    """`break` or `continue`, out of `count` loops."""

    def __init__(self, count: int, *, again: bool) -> None:
        super().__init__(count)
        self.count = count
        self.again = again


@dataclass(frozen=True, slots=True)
class User:
    """Who runs a command: the shell, or an app through run-as."""

    uid: int = 2000
    name: str = "shell"
    package: str | None = None


@dataclass(slots=True)
class Session:
    """One shell, or a subshell of one."""

    phone: Handset
    files: Files
    streams: Streams
    variables: dict[str, str]
    exported: set[str]
    interpret: Callable[[Session, Script], Awaitable[int]]
    """Runs a script as a whole shell."""
    cwd: str = "/"
    user: User = User()
    name: str = SHELL
    parameters: list[str] = field(default_factory=list)
    functions: dict[str, Node] = field(default_factory=dict)
    arrays: dict[str, dict[int, str]] = field(default_factory=dict)
    """Indexed variables; element 0 is also what the bare name means."""
    aliases: dict[str, str] = field(default_factory=dict)
    traps: dict[str, str] = field(default_factory=dict)
    """What to run, by the name of the signal or EXIT."""
    limits: dict[str, str] = field(default_factory=dict)
    modes: set[str] = field(default_factory=set)
    """What `set` turned on."""
    read_only: set[str] = field(default_factory=set)
    began_ms: float = 0.0
    status: int = 0
    pid: int = 0
    parent: int = 0
    group: int = 0
    shell: Process | None = None
    """The process whose death ends this session, although a program of it may still be running."""
    leads: bool = False
    """Whether this is the shell that adbd started, and no subshell of it."""
    in_place: bool = False
    """A background job that is one command: no shell stands between, the program has the job's own pid."""
    owns_pid: bool = False
    """Whether its pid is its own, so that `exec` may take its place: any job in the background."""
    background_pid: int = 0
    depth: int = 0
    exit_on_error: bool = False
    tty: bool = False
    echo: bool = True
    """Whether the terminal shows what is typed; `stty -echo` turns it off."""
    jobs: list[asyncio.Task[int]] = field(default_factory=list)
    """Background jobs that still hold this shell's output."""
    all_jobs: dict[int, asyncio.Task[int]] = field(default_factory=dict)

    def subshell(self, streams: Streams | None = None, *, forks: bool = True) -> Session:
        """A copy that can't change this one; one that does not fork is the same process."""
        return replace(
            self,
            streams=streams or self.streams,
            variables=dict(self.variables),
            exported=set(self.exported),
            parameters=list(self.parameters),
            functions=dict(self.functions),
            arrays={name: dict(values) for name, values in self.arrays.items()},
            aliases=dict(self.aliases),
            traps={},
            depth=self.depth + 1,
            leads=False,
            owns_pid=False,
            in_place=self.in_place and not forks,
        )

    def environment(self) -> dict[str, str]:
        return {name: value for name, value in self.variables.items() if name in self.exported}

    def get(self, name: str) -> str | None:
        """A variable, a parameter, or one of the shell's own such as `$?`."""
        if name.isdigit():
            number = int(name)
            if number == 0:
                return self.name
            return self.parameters[number - 1] if number <= len(self.parameters) else None
        special = SPECIAL.get(name)
        if special:
            return special(self)
        return self.arrays[name].get(0) if name in self.arrays else self.variables.get(name)

    def put(self, name: str, value: str) -> None:
        """Assign a variable; of an array its first element."""
        if name in self.read_only:
            raise ShellSyntaxError(f"{name}: is read only")
        if name in self.arrays:
            self.arrays[name][0] = value
        else:
            self.variables[name] = value

    def array(self, name: str) -> dict[int, str]:
        """The elements of a variable; one that is no array yet becomes one."""
        if name in self.read_only:
            raise ShellSyntaxError(f"{name}: is read only")
        if name not in self.arrays:
            before = self.variables.pop(name, None)
            self.arrays[name] = {} if before is None else {0: before}
        return self.arrays[name]

    def elements(self, name: str) -> dict[int, str]:
        """The same without a change: a plain variable is an array of one."""
        if name in self.arrays:
            return dict(sorted(self.arrays[name].items()))
        value = self.get(name)
        return {} if value is None else {0: value}


SPECIAL: dict[str, Callable[[Session], str]] = {
    "?": lambda session: str(session.status),
    "$": lambda session: str(session.pid),
    "!": lambda session: str(session.background_pid or ""),
    "#": lambda session: str(len(session.parameters)),
    "@": lambda session: " ".join(session.parameters),
    "*": lambda session: " ".join(session.parameters),
    "-": lambda session: "".join(sorted(mode for mode in session.modes if len(mode) == 1)),
    "PWD": lambda session: session.cwd,
    "PPID": lambda session: str(session.parent),
    "RANDOM": lambda session: str(session.phone.random.randrange(32768)),
    "SECONDS": lambda session: str(int((session.phone.clock.monotonic_ms() - session.began_ms) / 1000)),
}
