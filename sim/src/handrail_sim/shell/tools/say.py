"""Commands that write what they are told: echo, printf, seq, yes; and true, false, sleep."""

from __future__ import annotations

import asyncio
import re

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage

_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "\\": "\\",
}
_ESCAPE = re.compile(r"\\(?:0?([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_DIRECTIVE = re.compile(r"%(?:%|([-+ #0]*)(\*|\d*)(?:\.(\d*))?([diouxXcsbfeEgGq]))")
_SUFFIX_MS = {"": 1000, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def unescape(text: str) -> tuple[str, bool]:
    """Backslash sequences as echo -e; a `\\c` ends the output, which the second value says."""
    head, cut, _ = text.partition("\\c")
    return _ESCAPE.sub(_escaped, head), bool(cut)


def _escaped(match: re.Match[str]) -> str:
    octal, byte, char = match.groups()
    if octal or byte:
        return bytes([int(octal, 8) & 0xFF if octal else int(byte, 16)]).decode("utf-8", "surrogateescape")
    return _ESCAPES.get(char, "\\" + char)


async def echo(call: Call) -> int:
    """mksh's own echo: backslash sequences count unless -E."""
    words, newline, escapes = call.args, "\n", True
    while words and re.fullmatch(r"-[neE]+", words[0]):
        option = words.pop(0)
        newline = "" if "n" in option else newline
        escapes = "E" not in option
    text = " ".join(words)
    if escapes and "\\" in text:
        text, cut = unescape(text)
        newline = "" if cut else newline
    await call.out(text + newline)
    return 0


async def printf(call: Call) -> int:
    """`printf FORMAT VALUES…`; the format repeats while values are left."""
    if not call.args:
        raise BadUsage("Need 1 argument")
    form, values = call.args[0], call.args[1:]
    text, used = _format(form, values)
    while used and len(values) > used:
        values = values[used:]
        more, used = _format(form, values)
        text += more
    await call.out(text)
    return 0


def _format(form: str, values: list[str]) -> tuple[str, int]:
    """The format once, and how many values it took."""
    todo = list(values)

    def directive(match: re.Match[str]) -> str:
        if match.group() == "%%":
            return "%"
        flags, width, precision, kind = match.groups()
        if width == "*":
            width = todo.pop(0) if todo else "0"
        return _directive(flags, width, precision, kind, todo.pop(0) if todo else "")

    text = _DIRECTIVE.sub(directive, unescape(form)[0])
    return text, len(values) - len(todo)


def _directive(flags: str, width: str, precision: str | None, kind: str, value: str) -> str:
    spec = f"%{flags}{width[:4]}" + (f".{precision[:4]}" if precision is not None else "")
    if kind in "sbq":
        return (spec + "s") % (unescape(value)[0] if kind == "b" else value)
    if kind == "c":
        return (spec + "s") % value[:1]
    if kind in "diouxX":
        return (spec + kind.replace("u", "d").replace("i", "d")) % _integer(value)
    try:
        return (spec + kind) % float(value or 0)
    except ValueError:
        return (spec + kind) % 0.0


def _integer(value: str) -> int:
    if value[:1] in {"'", '"'}:
        return ord(value[1:2] or "\0")
    try:
        return int(value, 0) if value else 0
    except ValueError:
        return 0


async def seq(call: Call) -> int:
    """`seq [FIRST [STEP]] LAST`."""
    numbers = [arg for arg in call.args if arg not in {"-w", "-s"}]
    between = "\n"
    if "-s" in call.args and call.args[-1] != "-s":
        between = call.args[call.args.index("-s") + 1]
        numbers.remove(between)
    if not 1 <= len(numbers) <= 3 or not all(re.fullmatch(r"-?\d{1,9}", number) for number in numbers):
        raise BadUsage(f"bad number '{numbers[-1] if numbers else ''}'")
    values = [int(number) for number in numbers]
    first, last = values[0] if len(values) > 1 else 1, values[-1]
    step = values[1] if len(values) == 3 else 1
    shown = [str(number) for number in range(first, last + (1 if step > 0 else -1), step or 1)]
    width = max(map(len, shown), default=0) if "-w" in call.args else 0
    await call.out(between.join(text.zfill(width) for text in shown) + ("\n" if shown else ""))
    return 0


async def yes(call: Call) -> int:
    """`yes [WORDS]`, until nobody reads."""
    line = " ".join(call.args) or "y"
    while True:
        await call.out((line + "\n") * 512)
        await asyncio.sleep(0)


async def true(_: Call) -> int:
    """Status 0."""
    return 0


async def false(_: Call) -> int:
    """Status 1."""
    return 1


async def sleep(call: Call) -> int:
    """`sleep TIME…` on the phone's clock; s, m, h, d may follow."""
    if not call.args:
        raise BadUsage("Needs 1 argument")
    for arg in call.args:
        match = re.fullmatch(r"(\d*\.?\d*)([smhd]?)", arg)
        if not match or not match[1].strip("."):
            return await call.fail(f"bad suffix '{arg[-1:]}'" if arg[:1].isdigit() else f"not float: {arg}")
        await call.phone.clock.sleep_ms(float(match[1]) * _SUFFIX_MS[match[2]])
    return 0


FAMILY: dict[str, Command] = {
    "echo": echo,
    "printf": printf,
    "seq": seq,
    "yes": yes,
    "true": true,
    "false": false,
    "sleep": sleep,
}
