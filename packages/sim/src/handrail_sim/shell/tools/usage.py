"""What each tool takes, as one table (`usage.txt`): its letters, its long options and its operands.

The shell reads a tool's options by this table before the tool runs. So an option that a tool does not have
is refused by every tool alike, `--help` prints what is there, and no tool can swallow a flag.
A letter with a colon takes a value, `+`, `#` and `&` are explained below.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from handrail_sim import resources
from handrail_sim.shell.options import BadUsage, Options, read_options

_GREP = "EFHLRachilnoqrsvwxA:B:C:e:f:m:,--color,--include,--exclude"


@dataclass(frozen=True, slots=True)
class Tool:
    """One row of the table."""

    name: str
    letters: str
    valued: str
    long: frozenset[str]
    operands: str
    stops: bool
    """`+`: what follows the first operand belongs to another command."""
    digits: bool
    """`#`: `-5` is short for `-n 5`."""
    bare: bool
    """`&`: the first word may be letters without their dash."""

    @property
    def least(self) -> int:
        return len(re.sub(r"\[[^\]]*\]", "", self.operands).split())

    @property
    def most(self) -> int | None:
        return None if "..." in self.operands else len(self.operands.split())

    def usage(self) -> str:
        """`usage: head [-qv] [-c C] [-n N] [FILE...]`."""
        plain = "".join(letter for letter in self.letters if letter not in self.valued)
        parts = [f"[-{plain}]"] if plain else []
        parts += [f"[-{letter} {letter.upper()}]" for letter in self.valued]
        parts += [f"[{name}]" for name in sorted(self.long)]
        return " ".join(["usage:", self.name, *parts, self.operands]).rstrip()

    def help(self) -> str:
        """What `--help` prints: each option on a line of its own, where scripts look for it."""
        lines = [
            f"-{letter} {letter.upper()}" if letter in self.valued else f"-{letter}"
            for letter in self.letters
        ]
        return "\n".join([self.usage(), *([""] if lines else []), *lines])

    def read(self, args: list[str]) -> Options:
        """The options that were given; BadUsage as toybox words it."""
        if self.bare and args and not args[0].startswith("-"):
            args = [f"-{args[0]}", *args[1:]]
        if self.digits:
            args = [f"-n{arg[1:]}" if re.fullmatch(r"-\d+", arg) else arg for arg in args]
        options = read_options(args, self.letters, self.valued, permute=not self.stops, long=self.long)
        count, least, most = len(options.rest), self.least, self.most
        if count < least:
            raise BadUsage(f"Need{'s' if least == 1 else ''} {least} argument{'' if least == 1 else 's'}")
        if most is not None and count > most:
            raise BadUsage(f"Max {most} argument{'' if most == 1 else 's'}")
        return options


def _tool(line: str) -> Tool:
    name, options, operands = (*line.replace("{grep}", _GREP).split(None, 2), "")[:3]
    letters, *long = options.split(",")
    stops, digits, bare = "+" in letters, "#" in letters, "&" in letters
    letters = letters.translate({ord(char): None for char in "+-#&"})
    valued = "".join(re.findall(r"(.):", letters))
    text = "" if operands == "-" else operands
    return Tool(name, letters.replace(":", ""), valued, frozenset(long), text, stops, digits, bare)


TOOLS = {tool.name: tool for tool in map(_tool, resources.text("shell/tools/usage.txt").splitlines())}
