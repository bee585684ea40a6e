"""Short and long options the way toybox reads them: joined flags, values joined or apart, `--` ends them."""

from __future__ import annotations

from dataclasses import dataclass, field


class BadUsage(Exception):
    """The command was called wrongly; the message follows `name: `."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class Options:
    """What was given: flags, values by letter or long name, the other arguments."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, str] = field(default_factory=dict)
    many: dict[str, list[str]] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)

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


def read_options(args: list[str], flags: str = "", valued: str = "", *, permute: bool = True) -> Options:
    """Split arguments. `flags` and `valued` are letters; long options are kept as given, with `=value`."""
    found = Options()
    todo = list(args)
    while todo:
        arg = todo.pop(0)
        if arg == "--":
            found.rest += todo
            break
        if arg.startswith("--"):
            name, _, value = arg.partition("=")
            found.flags.add(name)
            found.values[name] = value
        elif arg.startswith("-") and arg != "-":
            _letters(found, arg[1:], flags, valued, todo)
        else:
            found.rest.append(arg)
            if not permute:
                found.rest += todo
                break
    return found


def _letters(found: Options, letters: str, flags: str, valued: str, todo: list[str]) -> None:
    for at, letter in enumerate(letters):
        if letter in valued:
            value = letters[at + 1 :] or (todo.pop(0) if todo else None)
            if value is None:
                raise BadUsage(f"Missing argument to -{letter}")
            found.values[letter] = value
            found.many.setdefault(letter, []).append(value)
            found.flags.add(letter)
            return
        if letter not in flags:
            raise BadUsage(f"Unknown option '{letter}'")
        found.flags.add(letter)
