"""Tools that read and print text: grep, sed, sort, cut, tr, uniq, echo, printf, seq."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from handrail_sim.shell.call import Call, by_name, encode
from handrail_sim.shell.io import CHUNK, Nothing, Source
from handrail_sim.shell.options import BadUsage, Options, read_options
from handrail_sim.shell.tools.read_files import content, open_all

_BASIC = re.compile(r"\\([(){}|+?])|([(){}|+?])")
_CLASSES = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "space": r"\s", "upper": "A-Z"}
_CLASSES |= {"lower": "a-z", "xdigit": "0-9a-fA-F", "punct": r"!-/:-@\[-`{-~", "blank": r" \t"}


def to_python(pattern: str, *, extended: bool) -> str:
    """A POSIX expression as Python writes it: in a basic one, braces and bars need a backslash."""
    for name, members in _CLASSES.items():
        pattern = pattern.replace(f"[:{name}:]", members)
    pattern = pattern.replace(r"\<", r"\b").replace(r"\>", r"\b")
    if extended:
        return pattern
    return _BASIC.sub(lambda match: match[1] or "\\" + match[2], pattern)


def compile_pattern(pattern: str, *, extended: bool, ignore_case: bool = False) -> re.Pattern[str]:
    try:
        return re.compile(to_python(pattern, extended=extended), re.IGNORECASE if ignore_case else 0)
    except re.error:
        raise BadUsage(f"bad regex '{pattern}'", 2) from None


_ESCAPES = dict(zip("ntrabfve\\", "\n\t\r\a\b\f\v\x1b\\", strict=True))
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
    return await call.out(text + newline)


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
    return await call.out(text)


def _format(form: str, values: list[str]) -> tuple[str, int]:
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
    return await call.out(between.join(text.zfill(width) for text in shown) + ("\n" if shown else ""))


async def yes(call: Call) -> int:
    """`yes [WORDS]`, until the reader closes the pipe."""
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


_RANGE = re.compile(r"(\d*)(-?)(\d*)")
_TR_CLASSES = {"[:upper:]": "A-Z", "[:lower:]": "a-z", "[:digit:]": "0-9", "[:alpha:]": "A-Za-z"}
_TR_CLASSES |= {"[:space:]": " \t\n\r\f\v", "[:alnum:]": "A-Za-z0-9", "[:blank:]": " \t"}


async def lines_of(call: Call, names: list[str]) -> list[str]:
    data, failed = b"", list[str]()
    async for _, source in open_all(call, names, failed):
        data += await content(source)
    return data.decode("utf-8", "surrogateescape").splitlines()


async def _write(call: Call, lines: list[str]) -> int:
    if lines:
        await call.out("\n".join(lines) + "\n")
    return 0


async def sort(call: Call) -> int:
    options = call.options
    lines = await lines_of(call, options.rest)
    keyed = sorted(lines, key=lambda line: _sort_key(line, options), reverse="r" in options)
    if "c" in options:
        at = next((at for at, line in enumerate(lines) if line != keyed[at]), None)
        return 0 if at is None else await call.fail(f"{at + 1}: disorder: {lines[at]}")
    shown = list(dict.fromkeys(keyed)) if "u" in options else keyed
    if "o" in options:
        data = "".join(f"{line}\n" for line in shown).encode("utf-8", "surrogateescape")
        call.session.files.write(call.path(options.values["o"]), data)
        return 0
    return await _write(call, shown)


def _sort_key(line: str, options: Options) -> tuple[float, str]:
    key = line
    if "k" in options:
        spec = re.match(r"(\d+)", options.values["k"])
        fields = line.split(options.values.get("t"))
        at = int(spec[1]) - 1 if spec else 0
        key = " ".join(fields[at:])
    key = key.lstrip() if "b" in options else key
    if "V" in options:
        key = re.sub(r"\d+", lambda match: match[0].zfill(12), key)
    numeric = options.flags & {"n", "g"} or "n" in options.values.get("k", "")
    number = re.match(r"\s*(-?\d+(?:\.\d+)?)", key)
    if "f" in options:
        key = key.lower()
    return (float(number[1]) if number else 0.0) if numeric else 0.0, key


async def uniq(call: Call) -> int:
    options = call.options
    groups: list[tuple[str, int]] = []
    same = str.lower if "i" in options else str
    for line in await lines_of(call, options.rest[:1]):
        if groups and same(groups[-1][0]) == same(line):
            groups[-1] = (line, groups[-1][1] + 1)
        else:
            groups.append((line, 1))
    chosen = [
        (line, count)
        for line, count in groups
        if (not ("d" in options and count == 1) and not ("u" in options and count > 1))
    ]
    return await _write(call, [f"{count:>7} {line}" if "c" in options else line for line, count in chosen])


async def cut(call: Call) -> int:
    """`cut -d C -f LIST` or `cut -c LIST`."""
    options = call.options
    spec = (
        options.values.get("f")
        or options.values.get("F")
        or options.values.get("c")
        or options.values.get("b")
    )
    if not spec:
        raise BadUsage("Needs one of -cfb")
    by_field = bool(options.flags & {"f", "F"})
    delimiter = options.values.get("d", "\t")
    out: list[str] = []
    for line in await lines_of(call, options.rest):
        if by_field and delimiter not in line:
            out += [] if "s" in options else [line]
            continue
        parts = line.split(delimiter) if by_field else list(line)
        out.append((delimiter if by_field else "").join(parts[at] for at in _chosen(spec, len(parts))))
    return await _write(call, out)


def _chosen(spec: str, size: int) -> list[int]:
    """`1,3-5,7-` as positions from 0."""
    matches: set[int] = set()
    for piece in spec.split(","):
        match = _RANGE.fullmatch(piece)
        if not match or piece in {"", "-"}:
            raise BadUsage(f"bad range '{piece}'")
        first = int(match[1] or 1)
        last = int(match[3] or size) if match[2] else first
        matches |= set(range(max(0, first - 1), min(last, size)))
    return sorted(matches)


async def tr(call: Call) -> int:
    options = call.options
    if not options.rest:
        raise BadUsage("Needs 1 argument")
    first = _set(options.rest[0])
    text = (await call.read()).decode("utf-8", "surrogateescape")
    inside = (lambda char: char not in first) if options.flags & {"c", "C"} else first.__contains__
    if "d" in options:
        return await call.out("".join(char for char in text if not inside(char)))
    second = _set(options.rest[1]) if len(options.rest) > 1 else first
    table = {char: second[min(at, len(second) - 1)] for at, char in enumerate(first)} if second else {}
    fallback = second[-1:] if options.flags & {"c", "C"} else ""
    out = [(fallback or table.get(char, char)) if inside(char) else char for char in text]
    return await call.out("".join(_squeezed(out, second)) if "s" in options else "".join(out))


def _set(text: str) -> str:
    for name, members in _TR_CLASSES.items():
        text = text.replace(name, members)
    text = unescape(text)[0]
    return re.sub(
        r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), text, flags=re.DOTALL
    )


def _squeezed(chars: list[str], members: str) -> list[str]:
    return [char for at, char in enumerate(chars) if not (at and char == chars[at - 1] and char in members)]


_SED = re.compile(r"(?:(\d+|\$)(?:,(\d+|\$))?|/((?:[^/\\]|\\.)*)/)?\s*(!?)([sdpq])(.*)", re.DOTALL)


async def sed(call: Call) -> int:
    """The scripts people pipe through: s, d, p, q with a line or a pattern before them."""
    options = call.options
    scripts = options.many.get("e") or options.rest[:1]
    if not scripts:
        raise BadUsage("No pattern")
    names = options.rest if "e" in options else options.rest[1:]
    commands = [
        _SED.fullmatch(word.strip()) for script in scripts for word in script.split(";") if word.strip()
    ]
    good = [command for command in commands if command is not None]
    if len(good) < len(commands):
        raise BadUsage(f"bad pattern '{scripts[0]}'")
    if "i" not in options:
        return await _write(call, _edited(await lines_of(call, names), good, options))
    if not names:
        raise BadUsage("-i requires files")
    for name in names:
        text = call.session.files.read(call.path(name)).decode("utf-8", "surrogateescape")
        lines = "".join(f"{line}\n" for line in _edited(text.splitlines(), good, options))
        call.session.files.write(call.path(name), lines.encode("utf-8", "surrogateescape"))
    return 0


def _edited(lines: list[str], commands: list[re.Match[str]], options: Options) -> list[str]:
    out, extended = list[str](), bool(options.flags & {"E", "r"})
    for number, line in enumerate(lines, 1):
        current: str | None = line
        for command in commands:
            if current is None or not _addressed(command, number, len(lines), current, extended):
                continue
            if command[5] == "q":
                return [*out, current]
            current = _sed_command(command, current, out, extended)
        if current is not None and "n" not in options:
            out.append(current)
    return out


def _addressed(command: re.Match[str], number: int, last: int, line: str, extended: bool) -> bool:
    first, second, pattern, negated = command.groups()[:4]
    hit = True
    if pattern is not None:
        hit = bool(compile_pattern(pattern, extended=extended).search(line))
    elif first is not None:
        start = last if first == "$" else int(first)
        end = start if second is None else last if second == "$" else int(second)
        hit = start <= number <= end
    return hit != bool(negated)


def _sed_command(command: re.Match[str], line: str, out: list[str], extended: bool) -> str | None:
    if command[5] == "d":
        return None
    if command[5] == "p":
        out.append(line)
        return line
    mark = re.escape(command[6][:1])
    parts = re.split(rf"(?<!\\){mark}", command[6][1:])
    if len(parts) < 3:
        raise BadUsage("bad s///")
    pattern, replacement, flags = parts[:3]
    pattern = (
        pattern.replace("\\" + command[6][0], command[6][0]) if command[6][0] not in "|.*+?()" else pattern
    )
    value = re.sub(r"(?<!\\)&", r"\\g<0>", replacement).replace("\\&", "&").replace("\\/", "/")
    wanted = compile_pattern(pattern, extended=extended, ignore_case="i" in flags.lower())
    try:
        matches = wanted.subn(value, line, count=0 if "g" in flags else 1)
    except (re.error, IndexError):
        raise BadUsage(f"bad replacement '{replacement}'") from None
    if "p" in flags and matches[1]:
        out.append(matches[0])
    return matches[0]


async def tac(call: Call) -> int:
    return await _write(call, (await lines_of(call, call.args))[::-1])


async def nl(call: Call) -> int:
    return await _write(
        call, [f"{at:>6}\t{line}" for at, line in enumerate(await lines_of(call, call.args), 1)]
    )


async def rev(call: Call) -> int:
    return await _write(call, [line[::-1] for line in await lines_of(call, call.args)])


_AWK = re.compile(r"(?:/((?:[^/\\]|\\.)*)/)?\s*\{\s*print\s*(.*?)\s*;?\s*\}")


async def awk(call: Call) -> int:
    """`awk '/pattern/ {print $2, $NF}'`, which is what one-liners over adb use it for."""
    options = read_options(call.args, "", "Fv")
    match = _AWK.fullmatch(options.rest[0].strip()) if options.rest else None
    if not match:
        raise BadUsage("syntax error", 2)
    out: list[str] = []
    for line in await lines_of(call, options.rest[1:]):
        if match[1] is None or compile_pattern(match[1], extended=True).search(line):
            fields = line.split(options.values.get("F"))
            out.append(
                " ".join(_awk_value(name.strip(), line, fields) for name in (match[2] or "$0").split(","))
            )
    return await _write(call, out)


def _awk_value(word: str, line: str, fields: list[str]) -> str:
    out = ""
    for literal, name in re.findall(r'"((?:[^"\\]|\\.)*)"|\$?(\w+)', word):
        if not name:
            out += unescape(literal)[0]
        elif name in {"0", "NF"}:
            out += line if name == "0" else (fields[-1] if "$NF" in word and fields else str(len(fields)))
        elif name.isdigit():
            out += fields[int(name) - 1] if int(name) <= len(fields) else ""
    return out


@dataclass(slots=True)
class _Search:
    """One run of grep."""

    call: Call
    options: Options
    pattern: re.Pattern[str]
    named: bool
    matched: bool = False

    async def source(self, name: str, source: Source) -> None:
        """Search line by line as they come: `logcat | grep` shows a line when it is there."""
        count, number, limit = 0, 0, self.options.number("m", -1)
        before: deque[tuple[int, str]] = deque(maxlen=self._context("B"))
        follow = 0
        async for line in _lines(source):
            number += 1
            if count != limit and self._matches(line):
                count += 1
                for old in before:
                    await self._show(name, *old, mark="-")
                before.clear()
                await self._show(name, number, line, mark=":")
                follow = self._context("A")
            elif follow:
                follow -= 1
                await self._show(name, number, line, mark="-")
            else:
                before.append((number, line))
            if (count == limit and not follow) or (count and "q" in self.options):
                break
        if "c" in self.options:
            await self.call.line(f"{name}:{count}" if self.named else str(count))
        if ("l" in self.options and count) or ("L" in self.options and not count):
            await self.call.line(name)

    def _context(self, side: str) -> int:
        """Lines to show around a match: -A after, -B before, -C both."""
        return self.options.number(side, self.options.number("C", 0))

    def _matches(self, line: str) -> bool:
        hit = (self.pattern.search(line) is None) == ("v" in self.options)
        self.matched |= hit
        return hit

    async def _show(self, name: str, number: int, line: str, *, mark: str) -> None:
        if self.options.flags & {"q", "c", "l", "L"}:
            return
        label = f"{name}{mark}" if self.named else ""
        label += f"{number}{mark}" if "n" in self.options else ""
        shown = [line]
        if "o" in self.options:
            shown = (
                [match.group() for match in self.pattern.finditer(line) if match.group()]
                if mark == ":"
                else []
            )
        for text in shown:
            await self.call.stdout.write(encode(f"{label}{text}\n"))


async def _lines(source: Source) -> AsyncIterator[str]:
    held = b""
    while part := await source.read(CHUNK):
        *lines, held = (held + part).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "surrogateescape")
    if held:
        yield held.decode("utf-8", "surrogateescape")


async def grep(call: Call) -> int:
    options = call.options
    program = call.argv[0].rpartition("/")[2]
    patterns = list(options.many.get("e", []))
    for name in options.many.get("f", []):
        patterns += call.session.files.read(call.path(name)).decode("utf-8", "replace").splitlines()
    explicit = bool(options.flags & {"e", "f"})
    patterns = patterns if explicit else options.rest[:1]
    if not patterns:
        raise BadUsage("no REGEX", 2)
    if options.values.get("--color", "never") not in {"never", "auto", ""}:
        raise BadUsage(f"bad --color '{options.values['--color']}'", 2)
    names = options.rest if explicit else options.rest[1:]
    fixed, extended = ("F" in options or program == "fgrep", "E" in options or program == "egrep")
    joined = [re.escape(word) if fixed else to_python(word, extended=extended) for text in patterns
              for word in text.split("\n")]  # fmt: skip
    pattern = _compiled("|".join(f"(?:{word})" for word in joined), options)
    if options.flags & {"r", "R"}:
        names = [name for name in _below(call, names or ["."]) if _included(name, options)]
        if not names:
            return 1
    search = _Search(call, options, pattern, named=(len(names) > 1 or "H" in options) and "h" not in options)
    failed: list[str] = []
    quiet = replace(call, stderr=Nothing()) if "s" in options else call
    async for name, source in open_all(quiet, names, failed):
        await search.source("(standard input)" if name == "-" else name, source)
        if search.matched and "q" in options:
            return 0
    return 2 if failed and not search.matched else int(not search.matched)


def _compiled(pattern: str, options: Options) -> re.Pattern[str]:
    if "w" in options:
        pattern = rf"\b(?:{pattern})\b"
    if "x" in options:
        pattern = rf"\A(?:{pattern})\Z"
    return compile_pattern(pattern, extended=True, ignore_case="i" in options)


def _included(name: str, options: Options) -> bool:
    """`--include` and `--exclude` look at a file's own name."""
    own = name.rpartition("/")[2]
    wanted, unwanted = options.many.get("--include", []), options.many.get("--exclude", [])
    return (not wanted or any(fnmatchcase(own, word) for word in wanted)) and not any(
        fnmatchcase(own, word) for word in unwanted
    )


def _below(call: Call, names: list[str]) -> list[str]:
    matches: list[str] = []
    for name in names:
        base = call.path(name)
        walk = call.session.files.walk(base)
        matches += [name + path[len(base) :] for path, fact in walk if fact.is_file]
    return matches


FAMILY = by_name(
    echo, printf, seq, yes, true, false, sleep, sort, uniq, cut, tr, sed, tac, nl, rev, awk, grep
) | {"egrep": grep, "fgrep": grep}
