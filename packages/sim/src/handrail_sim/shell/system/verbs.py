"""The shell side of a system service as a table: its verbs, what each takes, and who does it.

A service's help is printed from the table, and what is not in the table is refused in Android's words:
a verb, an option, an argument that is missing. So a verb can't be listed and absent, nor done and silent.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache

from handrail_sim.shell.call import Call
from handrail_sim.system.releases import release_of

Handler = Callable[[Call, list[str]], Awaitable[int]]
REFUSED = 255  # -1 as an exit code
READS_ALL = re.compile(r"INTENT|\.\.\.")
"""An intent or `...` in the usage: the verb reads its words itself, and refuses unknown options itself."""
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_NEGATIVE = re.compile(r"-\d+(\.\d+)?")


SECURITY = "java.lang.SecurityException"


class JavaError(Exception):
    """An exception inside a system service: class name, message, and the frame it is thrown from."""

    def __init__(self, kind: str, message: str = "", frame: str = "") -> None:
        super().__init__(f"{kind}: {message}" if message else kind)
        self.kind, self.message, self.frame = kind, message, frame


async def show(call: Call, command: str, error: JavaError) -> int:
    frame = (
        error.frame
        or "com.android.modules.utils.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:97)"
    )
    release = release_of(call.phone)
    shape = release.security_exception if error.kind == SECURITY else release.exception
    return await call.err(shape.format(command=command, message=error.message, error=error, frame=frame), 255)


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise JavaError("java.lang.NumberFormatException", f'For input string: "{text}"') from None


def integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise JavaError("java.lang.NumberFormatException", f'For input string: "{text}"') from None


@dataclass(frozen=True, slots=True)
class Usage:
    """What the words of a usage line mean."""

    flags: frozenset[str]
    valued: frozenset[str]
    needed: int


@cache
def usage_of(text: str) -> Usage:
    """`[--user USER_ID] [-a|-b] PACKAGE [MORE]`: options, options with a value, and what must be there."""
    flags, valued = set[str](), set[str]()
    for part in _OPTIONAL.findall(text):
        names, _, value = part.partition(" ")
        if names.startswith("-"):
            (valued if value else flags).update(names.split("|"))
    return Usage(frozenset(flags), frozenset(valued), len(_OPTIONAL.sub("", text).split()))


@dataclass(frozen=True, slots=True)
class Verbs:
    """One service's shell."""

    title: str
    table: Mapping[str, tuple[str, Handler]]
    unknown_option: str = "Error: Unknown option: {}"
    has_options: bool = True
    """False: besides those in the usage nothing is an option, whatever it begins with."""

    async def run(self, call: Call, args: list[str]) -> int:
        """`help`, a verb, or Android's refusal."""
        name = args[0] if args else "help"
        if name in {"help", "-h"}:
            await call.out(self.help())
            return REFUSED
        if name not in self.table:
            await call.line(f"Unknown command: {name}")
            return REFUSED
        usage, handler = self.table[name]
        try:
            strict = self.has_options
            exists = bool(READS_ALL.search(usage))
            wrong = None if exists else check(name, usage_of(usage), args[1:], has_options=strict)
            if wrong is not None:
                await call.err(self.unknown_option.format(wrong))
                return REFUSED
            return await handler(call, args[1:])
        except JavaError as error:
            return await show(call, name, error)

    async def command(self, call: Call) -> int:
        """As a program of its own: `pm list packages`."""
        return await self.run(call, call.args)

    def help(self) -> str:
        lines = [f"  {name} {usage}".rstrip() for name, (usage, _) in self.table.items()]
        return "\n".join([self.title, "  help", "      Print this help text.", *lines]) + "\n"


def check(name: str, usage: Usage, args: list[str], *, has_options: bool = True) -> str | None:
    """The first unknown option; a missing argument is thrown, as `getNextArgRequired` does."""
    count, todo, last, unknown = 0, list(args), name, None
    while todo:
        last = todo.pop(0)
        if last in usage.valued:
            if not todo:
                raise missing(last)
            last = todo.pop(0)
        elif last.startswith("-") and len(last) > 1 and not _NEGATIVE.fullmatch(last):
            if last.partition("=")[0] not in usage.flags | usage.valued:
                unknown = unknown or (last if has_options else None)
                count += 1
        else:
            count += 1
    if count < usage.needed and unknown is None:
        raise missing(last)
    return unknown


def missing(after: str) -> JavaError:
    """What ShellCommand throws when the words end too early."""
    return JavaError("java.lang.IllegalArgumentException", f'Argument expected after "{after}"')


def plain(args: list[str], valued: frozenset[str] = frozenset({"--user"})) -> list[str]:
    """The arguments without options and their values."""
    saved, todo = list[str](), list(args)
    while todo:
        arg = todo.pop(0)
        if arg in valued:
            todo[:1] = []
        elif not arg.startswith("-") or _NEGATIVE.fullmatch(arg) or arg == "-":
            saved.append(arg)
    return saved


def value_of(args: list[str], option: str, default: str = "") -> str:
    return args[args.index(option) + 1] if option in args and args[-1] != option else default


def says(text: str, status: int = 0) -> Handler:
    return lambda call, _: call.line(text, status)


def reads(read: Callable[[Call, list[str]], str]) -> Handler:
    """A line about the phone; the function gets the arguments without options."""
    return lambda call, args: call.line(read(call, plain(args)))


def does(act: Callable[[Call, list[str]], object]) -> Handler:
    """A change that Android answers with silence; the function gets the arguments without options."""

    async def run(call: Call, args: list[str]) -> int:
        act(call, plain(args))
        return 0

    return run
