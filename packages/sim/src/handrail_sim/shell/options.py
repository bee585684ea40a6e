"""Short and long options the way toybox reads them: joined flags, values joined or apart, `--` ends them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


class BadUsage(Exception):
    """The command was called wrongly; the message follows `name: `."""

    def __init__(self, message: str, code: int = 1, *, toybox: bool = True) -> None:
        super().__init__(message)
        self.code = code
        self.toybox = toybox
        """Toybox points to its `--help` behind the message; Android's own programs do not."""


@dataclass(slots=True)
class Options:
    """What was given: flags, values by letter or long name, the other arguments."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, str] = field(default_factory=dict)
    many: dict[str, list[str]] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)
    times: dict[str, int] = field(default_factory=dict)
    """How often a letter stood there: `-ll` is more than `-l`."""

    def __contains__(self, flag: str) -> bool:
        return flag in self.flags

    def number(self, name: str, default: int) -> int:
        value = self.values.get(name)
        if value is None:
            return default
        try:
            return int(value)
        except ValueError:
            raise BadUsage(f"not integer: {value}") from None


def read_options(
    args: list[str], flags: str = "", valued: str = "", *, permute: bool = True, long: Collection[str] = ()
) -> Options:
    """Split arguments. `flags` and `valued` are letters, `long` the long names; others are refused."""
    options = Options()
    todo = list(args)
    while todo:
        arg = todo.pop(0)
        if arg == "--":
            options.rest += todo
            break
        if arg.startswith("--"):
            name, _, value = arg.partition("=")
            if name not in long:
                raise BadUsage(f"Unknown option '{name[2:]}'")
            options.flags.add(name)
            options.values[name] = value
            options.many.setdefault(name, []).append(value)
        elif arg.startswith("-") and arg != "-":
            _letters(options, arg[1:], flags, valued, todo)
        else:
            options.rest.append(arg)
            if not permute:
                options.rest += todo
                break
    return options


def _letters(options: Options, letters: str, flags: str, valued: str, todo: list[str]) -> None:
    for at, letter in enumerate(letters):
        if letter in valued:
            value = letters[at + 1 :] or (todo.pop(0) if todo else None)
            if value is None:
                raise BadUsage(f"Missing argument to -{letter}")
            options.values[letter] = value
            options.many.setdefault(letter, []).append(value)
            options.flags.add(letter)
            return
        if letter not in flags:
            raise BadUsage(f"Unknown option '{letter}'")
        options.flags.add(letter)
        options.times[letter] = options.times.get(letter, 0) + 1


def read_getopt(
    args: list[str], letters: str, long: Mapping[str, str] | None = None, code: int = 1
) -> Options:
    """As Android's own programs read options: letters as for getopt, long names with the letter they mean.

    A long name that means no letter stands for itself; with a colon it takes a value.
    """
    options, todo, names = Options(), list(args), long or {}
    valued = "".join(re.findall(r"(.):", letters))
    plain = letters.replace(":", "")
    while todo:
        arg = todo.pop(0)
        if arg == "--":
            options.rest += todo
            break
        if arg.startswith("--"):
            _long(options, arg[2:], names, valued, todo, code)
        elif arg.startswith("-") and arg != "-":
            try:
                _letters(options, arg[1:], plain, valued, todo)
            except BadUsage as wrong:
                unknown = "Unknown" in str(wrong)
                letter = str(wrong).rstrip("'")[-1]
                text = (
                    f"unknown option -- {letter}" if unknown else f"option requires an argument -- {letter}"
                )
                raise BadUsage(text, code, toybox=False) from None
        else:
            options.rest.append(arg)
    return options


def _long(
    options: Options, text: str, names: Mapping[str, str], valued: str, todo: list[str], code: int
) -> None:
    name, equals, value = text.partition("=")
    if name not in names:
        raise BadUsage(f"unrecognized option -- {name}", code, toybox=False)
    intended = names[name] or name
    key = intended.rstrip(":")
    if intended.endswith(":") or key in valued:
        if not equals and not todo:
            raise BadUsage(f"option requires an argument -- {name}", code, toybox=False)
        value = value if equals else todo.pop(0)
        options.values[key] = value
        options.many.setdefault(key, []).append(value)
    options.flags.add(key)
