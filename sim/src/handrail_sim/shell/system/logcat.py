"""`logcat` and `log`: filters, formats, and following the log until the command is hung up."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage, Options, read_options
from handrail_sim.shell.tools.expressions import compile_pattern
from handrail_sim.system.logs import CAPACITY, LogLine

LEVELS = "VDIWEFS"
FIRST = "--------- beginning of "


SHORT_NAMES = {0: "root", 2000: "shell"}
"""Users that logcat writes by name: those of five letters at most."""


@dataclass(frozen=True, slots=True)
class Style:
    """What `-v` modifiers change in every format: how times are written, and whether users are."""

    modifiers: frozenset[str]

    def when(self, line: LogLine) -> str:
        if "epoch" in self.modifiers:
            return f"{line.time_ms // 1000:>19}.{line.time_ms % 1000:03d}"
        moment = datetime.fromtimestamp(line.time_ms // 1000, UTC)
        day = "%Y-%m-%d" if "year" in self.modifiers else "%m-%d"
        zone = " +0000" if "zone" in self.modifiers else ""
        return f"{moment:{day} %H:%M:%S}.{line.time_ms % 1000:03d}{zone}"

    def who(self, line: LogLine, end: str = ":") -> str:
        """The pid, and with `uid` whose it is; `threadtime` alone has no colon between them."""
        if "uid" not in self.modifiers:
            return f"{line.pid:>5}"
        return f"{SHORT_NAMES.get(line.uid, line.uid):>5}{end}{line.pid:>5}"


FORMATS: dict[str, Callable[[Style, LogLine, str], str]] = {
    "brief": lambda style, line, text: f"{line.level}/{line.tag:<8}({style.who(line)}): {text}",
    "process": lambda style, line, text: f"{line.level}({style.who(line)}) {text}  ({line.tag})",
    "tag": lambda _, line, text: f"{line.level}/{line.tag:<8}: {text}",
    "thread": lambda style, line, text: f"{line.level}({style.who(line)}:{line.tid:>5}) {text}",
    "raw": lambda _, __, text: text,
    "time": lambda style, line, text: (
        f"{style.when(line)} {line.level}/{line.tag:<8}({style.who(line)}): {text}"
    ),
    "threadtime": lambda style, line, text: (
        f"{style.when(line)} {style.who(line, ' ')} {line.tid:>5} {line.level} {line.tag:<8}: {text}"
    ),
    "long": lambda style, line, text: (
        f"[ {style.when(line)} {style.who(line)}:{line.tid:>5} {line.level}/{line.tag:<8} ]\n{text}\n"
    ),
}
_MODIFIER_NAMES = """
color descriptive epoch monotonic uid usec UTC year zone printable nsec
"""
_MODIFIERS = frozenset(_MODIFIER_NAMES.split())


@dataclass(slots=True)
class Filter:
    """Which lines are wanted."""

    tags: dict[str, int]
    rest: int
    pid: int | None = None
    pattern: re.Pattern[str] | None = None
    since_ms: int = 0
    buffers: frozenset[str] = frozenset()

    def passes(self, line: LogLine) -> bool:
        if LEVELS.index(line.level) < self.tags.get(line.tag, self.rest) or line.time_ms < self.since_ms:
            return False
        if self.buffers and line.buffer not in self.buffers:
            return False
        if self.pid is not None and line.pid != self.pid:
            return False
        return self.pattern is None or bool(self.pattern.search(line.text))


def _filter(call: Call, options: Options) -> Filter:
    specs = options.rest or (
        [] if "s" in options else call.env.get("ANDROID_LOG_TAGS", "").strip("'\"").split()
    )
    tags, rest = dict[str, int](), len(LEVELS) - 1 if "s" in options else 0
    for spec in specs:
        tag, _, level = spec.partition(":")
        number = _level(level or "V", tag)
        if tag == "*":
            rest = number
        else:
            tags[tag] = number
    pid = options.values.get("--pid", "")
    pattern = options.values.get("e") or options.values.get("--regex")
    names = options.many.get("b", [])
    buffers = frozenset(name for text in names for name in text.split(",")) - {"default"}
    return Filter(
        tags,
        rest,
        int(pid) if pid.isdigit() else None,
        compile_pattern(pattern, extended=True) if pattern else None,
        buffers=frozenset() if "all" in buffers else buffers,
    )


def _level(text: str, tag: str) -> int:
    letter = text[:1].upper()
    if letter == "*":
        return 0
    if letter not in LEVELS:
        raise BadUsage(f"Invalid filter expression '{tag}:{text}'")
    return LEVELS.index(letter)


def _since(text: str) -> int | None:
    """A time as logcat takes it, in ms of this year; None for a number of lines."""
    for form in ("%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f"):
        try:
            moment = datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return int(moment.timestamp() * 1000) if moment.year > 1900 else -int(moment.timestamp() * 1000)
    seconds = re.fullmatch(r"(\d{9,11})\.(\d{1,9})", text)
    return int(seconds[1]) * 1000 + int(seconds[2].ljust(3, "0")[:3]) if seconds else None


def _kept(call: Call, options: Options, wanted: Filter) -> list[LogLine]:
    start = options.values.get("t") or options.values.get("T")
    since = _since(start) if start else None
    if since is not None:
        year = datetime.fromtimestamp(call.phone.clock.now_ms() / 1000, UTC).year
        shift = int(
            (datetime(year, 1, 1, tzinfo=UTC) - datetime(1900, 1, 1, tzinfo=UTC)).total_seconds() * 1000
        )
        wanted.since_ms = since if since > 0 else -since * -1 + shift
    lines = [line for line in call.phone.log.lines if wanted.passes(line)]
    if start and since is None:
        if not start.isdigit():
            raise BadUsage(f'-t "{start}" not in time format')
        lines = lines[-int(start) :]
    return lines


class _Printer:
    """Writes lines in one format, at most `limit` of them."""

    def __init__(self, call: Call, options: Options) -> None:
        given = [name for text in options.many.get("v", []) for name in text.split(",")]
        names = [name for name in given if name not in _MODIFIERS]
        self._name = names[-1] if names else "threadtime"
        if self._name not in FORMATS:
            raise BadUsage(f"Invalid parameter '{self._name}' to -v")
        self._call = call
        self._style = Style(frozenset(given))
        self._buffers: set[str] = set()
        self.left = options.number("m", -1)

    async def show(self, lines: list[LogLine]) -> None:
        out: list[str] = []
        for line in lines:
            if self.left == 0:
                break
            if line.buffer not in self._buffers:
                self._buffers.add(line.buffer)
                out.append(FIRST + line.buffer)
            out += [FORMATS[self._name](self._style, line, text) for text in line.text.split("\n")]
            self.left -= 1
        if out:
            await self._call.out("\n".join(out) + "\n")


async def logcat(call: Call) -> int:
    """`logcat [-dc] [-v FORMAT] [-t N|TIME] [-s] [--pid=N] [-e REGEX] [-m N] [TAG:LEVEL…]`."""
    args = [f"-m{arg.partition('=')[2]}" if arg.startswith("--max-count=") else arg for arg in call.args]
    args = [{"--clear": "-c", "--dump": "-d", "--buffer-size": "-g"}.get(arg, arg) for arg in args]
    for long, short in (("--format", "-v"), ("--buffer", "-b"), ("--regex", "-e"), ("--file", "-f")):
        args = [f"{short}{arg.partition('=')[2]}" if arg.startswith(f"{long}=") else arg for arg in args]
    options = read_options(_joined(args), "cdgsDpSLB", "vtTbemfnrGP")
    call.phone.catch_up()
    if "c" in options:
        call.phone.log.clear()
        return 0
    if "g" in options:
        for name in ("main", "system", "crash"):
            await call.line(
                f"{name}: ring buffer is 256 KiB (64 KiB consumed), max entry is 5120 B, max "
                "payload is 4068 B"
            )
        return 0
    if options.flags & {"p", "S", "G", "P"}:
        return 0
    wanted, printer = _filter(call, options), _Printer(call, options)
    await printer.show(_kept(call, options, wanted))
    if options.flags & {"d", "t", "L"}:
        return 0
    await _follow(call, wanted, printer)
    return 0


def _joined(args: list[str]) -> list[str]:
    """`--pid 12` is the same as `--pid=12`."""
    out: list[str] = []
    for arg in args:
        if out and out[-1] == "--pid":
            out[-1] = f"--pid={arg}"
        else:
            out.append(arg)
    return out


async def _follow(call: Call, wanted: Filter, printer: _Printer) -> None:
    """New lines as they come; a reader that is too slow loses the oldest, as with logd."""
    waiting: deque[LogLine] = deque(maxlen=CAPACITY)
    came = asyncio.Event()

    def take(line: LogLine) -> None:
        if wanted.passes(line):
            waiting.append(line)
            came.set()

    call.phone.log.listeners.append(take)
    try:
        while printer.left != 0:
            await came.wait()
            came.clear()
            lines = list(waiting)
            waiting.clear()
            await printer.show(lines)
    finally:
        call.phone.log.listeners.remove(take)


async def log(call: Call) -> int:
    """`log [-p LEVEL] [-t TAG] TEXT`."""
    options = read_options(call.args, "", "tp", permute=False)
    level = options.values.get("p", "i")[:1].upper()
    text = " ".join(options.rest)
    phone, pid = call.phone, call.session.pid
    phone.log.add(
        LogLine(
            phone.clock.now_ms(),
            pid,
            pid,
            level if level in LEVELS else "I",
            options.values.get("t", "log"),
            text,
            uid=call.session.user.uid,
        )
    )
    return 0


FAMILY: dict[str, Command] = {"logcat": logcat, "log": log}
