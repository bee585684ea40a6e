"""`logcat` and `log`: filters, formats, and following the log until the command is hung up."""

from __future__ import annotations

import asyncio
import re
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from handrail_sim import resources
from handrail_sim.shell.call import Call, Command, encode
from handrail_sim.shell.io import Sink, Streams
from handrail_sim.shell.options import BadUsage, Options, read_getopt
from handrail_sim.shell.redirect import FileSink, RedirectFailed, open_sink
from handrail_sim.shell.tools.text import compile_pattern
from handrail_sim.system.logs import CAPACITY, LogLine
from handrail_sim.system.releases import sdk_of

MODIFIERS_SINCE = 24
"""The API level from which `-v epoch`, `-v uid` and their like are known."""
LEVELS = "VDIWEFS"
BUFFERS_KNOWN = frozenset(
    {"main", "system", "crash", "radio", "events", "kernel", "security", "all", "default"}
)
FIRST = "--------- beginning of "


SHORT_NAMES = {0: "root", 2000: "shell"}
"""Users that logcat writes by name: those of five letters at most."""


@dataclass(frozen=True, slots=True)
class Style:
    """What `-v` modifiers change in every format: how times are written, and whether users are."""

    modifiers: frozenset[str]
    zone: tzinfo = UTC

    def when(self, line: LogLine) -> str:
        if "epoch" in self.modifiers:
            return f"{line.time_ms // 1000:>19}.{line.time_ms % 1000:03d}"
        moment = datetime.fromtimestamp(line.time_ms // 1000, UTC if "UTC" in self.modifiers else self.zone)
        day = "%Y-%m-%d" if "year" in self.modifiers else "%m-%d"
        zone = f" {moment:%z}" if "zone" in self.modifiers else ""
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
    uids: frozenset[int] = frozenset()
    buffers: frozenset[str] = frozenset()

    def passes(self, line: LogLine) -> bool:
        if LEVELS.index(line.level) < self.tags.get(line.tag, self.rest) or line.time_ms < self.since_ms:
            return False
        if self.buffers and line.buffer not in self.buffers:
            return False
        if self.pid is not None and line.pid != self.pid:
            return False
        if self.uids and line.uid not in self.uids:
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
    pid = options.values.get("pid", "")
    pattern = options.values.get("e")
    unknown = [
        name for text in options.many.get("b", []) for name in text.split(",") if name not in BUFFERS_KNOWN
    ]
    if unknown:
        raise BadUsage(f"Unknown -b buffer '{unknown[0]}'", toybox=False)
    names = options.many.get("b", [])
    buffers = frozenset(name for text in names for name in text.split(",")) - {"default"}
    return Filter(
        tags,
        rest,
        int(pid) if pid.isdigit() else None,
        compile_pattern(pattern, extended=True) if pattern else None,
        uids=frozenset(int(word) for word in options.values.get("uid", "").split(",") if word.isdigit()),
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


def _selected_lines(call: Call, options: Options, wanted: Filter) -> list[LogLine]:
    start = options.values.get("t") or options.values.get("T")
    since = _since(start) if start else None
    if since is not None:
        year = datetime.fromtimestamp(call.phone.wall_ms() / 1000, UTC).year
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


HEADER = 28
_BUFFERS = {"main": 0, "radio": 1, "events": 2, "system": 3, "crash": 4}


def entry(line: LogLine) -> bytes:
    """A `logger_entry` as -B writes it: sizes, pid, tid, time, buffer, uid, then level, tag and text."""
    level = "VDIWEFS".index(line.level) + 2
    payload = bytes([level]) + encode(line.tag) + b"\0" + encode(line.text) + b"\0"
    seconds, rest = divmod(line.time_ms, 1000)
    facts = (len(payload), HEADER, line.pid, line.tid, seconds, rest * 1_000_000)
    return struct.pack("<HHiIIIII", *facts, _BUFFERS.get(line.buffer, 0), line.uid) + payload


class _Printer:
    """Writes lines in one format, at most `limit` of them."""

    def __init__(self, call: Call, options: Options) -> None:
        arguments = [name for text in options.many.get("v", []) for name in text.split(",")]
        is_old = sdk_of(call.phone) < MODIFIERS_SINCE
        names = [name for name in arguments if is_old or name not in _MODIFIERS]
        self._name = names[-1] if names else "threadtime"
        if is_old and self._name not in FORMATS:
            raise BadUsage("Invalid parameter to -v", 255, toybox=False)
        if self._name not in FORMATS:
            raise BadUsage(f"Invalid parameter '{self._name}' to -v")
        self._call = call
        self._style = Style(frozenset(arguments), call.phone.zone)
        self._buffers: set[str] = set()
        self._last = ""
        self._binary, self._dividers = "B" in options, "D" in options
        self.left = options.number("m", -1)

    async def show(self, lines: list[LogLine]) -> None:
        out: list[str | bytes] = []
        for line in lines:
            if self.left == 0:
                break
            self.left -= 1
            if self._binary:
                out.append(entry(line))
                continue
            out += [f"{text}\n" for text in self._divider(line.buffer)]
            texts = line.text.split("\n")
            out += [FORMATS[self._name](self._style, line, text) + "\n" for text in texts]
        if out:
            await self._call.out(
                b"".join(chunk if isinstance(chunk, bytes) else encode(chunk) for chunk in out)
            )

    def _divider(self, buffer: str) -> list[str]:
        last, self._last = self._last, buffer
        if buffer not in self._buffers:
            self._buffers.add(buffer)
            return [FIRST + buffer]
        return [f"--------- switch to {buffer}"] if self._dividers and last != buffer else []


_LETTERS = "BDScdgst:T:b:e:f:m:v:G:"
_LONG = {"clear": "c", "dump": "d", "buffer-size": "g", "max-count": "m", "format": "v", "buffer": "b"}
_LONG |= {"regex": "e", "file": "f", "dividers": "D", "statistics": "S", "binary": "B", "pid": "pid:"}
_LONG |= {"uid": "uid:", "help": "help"}
_USAGE = resources.text("shell/usage/logcat.txt")
KIB = 1024


def _sizes(call: Call) -> str:
    """The buffers, as large as they were set."""
    size = int(call.phone.service_state("logd").get("size", str(256 * KIB)))
    shown = f"{size // KIB} KiB" if size < KIB * KIB else f"{size // KIB // KIB} MiB"
    facts = f"ring buffer is {shown} (64 KiB consumed), max entry is 5120 B, max payload is 4068 B\n"
    return "".join(f"{name}: {facts}" for name in ("main", "system", "crash"))


def _statistics(call: Call) -> str:
    lines = list(call.phone.log.lines)
    names = ("main", "system", "crash")
    counts = [sum(line.buffer == name for line in lines) for name in names]
    titles = "".join(f"{name:<20}" for name in names)
    figures = "".join(f"{count:<20}" for count in counts)
    return f"size/num {titles}Total\nNow      {figures}{len(lines)}\n"


async def _about(call: Call, options: Options) -> bool:
    """What asks for no lines: whether it was that."""
    if "help" in options:
        await call.out(_USAGE)
    elif "c" in options:
        call.phone.log.clear()
    elif "g" in options:
        await call.out(_sizes(call))
    elif "G" in options:
        match = re.fullmatch(r"(\d+)([KMkm]?)", options.values["G"])
        if match is None:
            raise BadUsage(f"Invalid -G '{options.values['G']}'", toybox=False)
        size = int(match[1]) * {"": 1, "k": KIB, "m": KIB * KIB}[match[2].lower()]
        call.phone.service_state("logd")["size"] = str(size)
    elif "S" in options:
        await call.out(_statistics(call))
    else:
        return False
    return True


async def logcat(call: Call) -> int:
    options = read_getopt(call.args, _LETTERS, _LONG)
    call.phone.catch_up()
    if await _about(call, options):
        return 0
    if "f" in options:
        return await _to_file(call, options)
    wanted, printer = _filter(call, options), _Printer(call, options)
    await printer.show(_selected_lines(call, options, wanted))
    if not options.flags & {"d", "t"}:
        await _follow(call, wanted, printer)
    return 0


async def _to_file(call: Call, options: Options) -> int:
    """`-f FILE`: the file grows with every line."""
    streams = Streams(call.stdin, call.stdout, call.stderr)
    try:
        sink = open_sink(call.session, call.path(options.values["f"]), streams, append=True)
    except RedirectFailed as problem:
        return await call.fail(f"couldn't open output file: {str(problem).rpartition(': ')[2]}")
    inner = replace(call, stdout=LogFile(sink))
    wanted, printer = _filter(call, options), _Printer(inner, options)
    await printer.show(_selected_lines(call, options, wanted))
    if not options.flags & {"d", "t"}:
        await _follow(inner, wanted, printer)
    return 0


class LogFile:
    """A file that holds each line as soon as it was written."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    async def write(self, data: bytes, /) -> None:
        await self._sink.write(data)
        if isinstance(self._sink, FileSink):
            self._sink.store()


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
    options = read_getopt(call.args, "p:t:")
    if not options.rest:
        await call.err("USAGE: log [-p priorityChar] [-t tag] message\n\tpriorityChar should be one of:\n"
                       "\t\tv,d,i,w,e")  # fmt: skip
        return 1
    level = options.values.get("p", "i")[:1].upper()
    text = " ".join(options.rest)
    phone, pid = call.phone, call.session.pid
    phone.log.add(
        LogLine(
            phone.wall_ms(),
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
