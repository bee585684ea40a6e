"""Commands that rework lines of text: sort, uniq, cut, tr, sed, nl, rev, tac, awk's print, strings."""

from __future__ import annotations

import re

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage, Options, read_options
from handrail_sim.shell.tools.expressions import compile_pattern
from handrail_sim.shell.tools.read_files import content, open_all
from handrail_sim.shell.tools.say import unescape

_RANGE = re.compile(r"(\d*)(-?)(\d*)")
_TR_CLASSES = {"[:upper:]": "A-Z", "[:lower:]": "a-z", "[:digit:]": "0-9", "[:alpha:]": "A-Za-z"}
_TR_CLASSES |= {"[:space:]": " \t\n\r\f\v", "[:alnum:]": "A-Za-z0-9", "[:blank:]": " \t"}


async def lines_of(call: Call, names: list[str]) -> list[str]:
    """Every line of the files, or of stdin."""
    data, failed = b"", list[str]()
    async for _, source in open_all(call, names, failed):
        data += await content(source)
    return data.decode("utf-8", "surrogateescape").splitlines()


async def _write(call: Call, lines: list[str]) -> int:
    if lines:
        await call.out("\n".join(lines) + "\n")
    return 0


async def sort(call: Call) -> int:
    """`sort [-Vbcfgnrsu] [-k N] [-t C] [-o FILE] [FILE…]`."""
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
        key = re.sub(r"\d+", lambda found: found[0].zfill(12), key)
    numeric = options.flags & {"n", "g"} or "n" in options.values.get("k", "")
    number = re.match(r"\s*(-?\d+(?:\.\d+)?)", key)
    if "f" in options:
        key = key.lower()
    return (float(number[1]) if number else 0.0) if numeric else 0.0, key


async def uniq(call: Call) -> int:
    """`uniq [-cdu] [FILE]`."""
    options = call.options
    groups: list[tuple[str, int]] = []
    same = str.lower if "i" in options else str
    for line in await lines_of(call, options.rest[:1]):
        if groups and same(groups[-1][0]) == same(line):
            groups[-1] = (line, groups[-1][1] + 1)
        else:
            groups.append((line, 1))
    chosen = [(line, count) for line, count in groups if _wanted(count, options)]
    return await _write(call, [f"{count:>7} {line}" if "c" in options else line for line, count in chosen])


def _wanted(count: int, options: Options) -> bool:
    return not ("d" in options and count == 1) and not ("u" in options and count > 1)


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
    found: set[int] = set()
    for piece in spec.split(","):
        match = _RANGE.fullmatch(piece)
        if not match or piece in {"", "-"}:
            raise BadUsage(f"bad range '{piece}'")
        first = int(match[1] or 1)
        last = int(match[3] or size) if match[2] else first
        found |= set(range(max(0, first - 1), min(last, size)))
    return sorted(found)


async def tr(call: Call) -> int:
    """`tr [-dsc] SET [SET]`."""
    options = call.options
    if not options.rest:
        raise BadUsage("Needs 1 argument")
    first = _set(options.rest[0])
    text = (await call.read()).decode("utf-8", "surrogateescape")
    inside = (lambda char: char not in first) if options.flags & {"c", "C"} else first.__contains__
    if "d" in options:
        await call.out("".join(char for char in text if not inside(char)))
        return 0
    second = _set(options.rest[1]) if len(options.rest) > 1 else first
    table = {char: second[min(at, len(second) - 1)] for at, char in enumerate(first)} if second else {}
    fallback = second[-1:] if options.flags & {"c", "C"} else ""
    out = [(fallback or table.get(char, char)) if inside(char) else char for char in text]
    await call.out("".join(_squeezed(out, second)) if "s" in options else "".join(out))
    return 0


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
    commands = [_SED.fullmatch(one.strip()) for script in scripts for one in script.split(";") if one.strip()]
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
            current = _sed_one(command, current, out, extended)
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


def _sed_one(command: re.Match[str], line: str, out: list[str], extended: bool) -> str | None:
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
        found = wanted.subn(value, line, count=0 if "g" in flags else 1)
    except (re.error, IndexError):
        raise BadUsage(f"bad replacement '{replacement}'") from None
    if "p" in flags and found[1]:
        out.append(found[0])
    return found[0]


async def tac(call: Call) -> int:
    """Lines from last to first."""
    return await _write(call, (await lines_of(call, call.args))[::-1])


async def nl(call: Call) -> int:
    """Lines with their numbers."""
    return await _write(
        call, [f"{at:>6}\t{line}" for at, line in enumerate(await lines_of(call, call.args), 1)]
    )


async def rev(call: Call) -> int:
    """Each line backwards."""
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
                " ".join(_awk_value(one.strip(), line, fields) for one in (match[2] or "$0").split(","))
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


FAMILY: dict[str, Command] = {
    "sort": sort,
    "uniq": uniq,
    "cut": cut,
    "tr": tr,
    "sed": sed,
    "tac": tac,
    "nl": nl,
    "rev": rev,
    "awk": awk,
}
