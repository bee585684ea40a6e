"""The device's log: its lines, the newest ones of an app, and crash reports.

`-t N` counts entries before tags and levels are filtered, so it is only used without a filter; otherwise the
whole log is read and the newest lines are kept here.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Literal, NamedTuple

from handrail.adb.shell import DeviceShell
from handrail.android.constants import LOGCAT_LINES
from handrail.android.packages import check_package, processes_of, require_package
from handrail.clock import iso_time
from handrail.errors import AdbCommandError, InvalidAction

_LIMIT = 64 << 20
_CLOCK = ["date", "+%s.%N %z"]


async def device_now(shell: DeviceShell) -> DeviceTime:
    """The device's clock may differ from this machine's."""
    text = (await shell.run(_CLOCK)).text
    try:
        return read_device_time(text)
    except ValueError as problem:
        raise AdbCommandError(f"the device's clock can't be read: {problem}", command=_CLOCK) from None


async def read(
    shell: DeviceShell,
    package: str | None = None,
    level: Level | None = None,
    since: str | int | None = None,
    max_lines: int = LOGCAT_LINES,
) -> list[LogLine]:
    """The newest lines, oldest first. `since` is an age, a time, or ms since 1970 by the device's clock."""
    wanted = await _wanted(shell, package)
    start: list[str] = []
    if since is not None:
        start_ms = since if isinstance(since, int) else moment(since, await device_now(shell))
        start = ["-T", logcat_time(start_ms)]
    unfiltered = package is None and level is None and since is None
    tail = ["-t", str(max_lines)] if unfiltered else []
    if level is not None and level not in LETTERS:
        raise InvalidAction(f"{level!r} is not a log level", path="level")
    threshold = [] if level is None else [f"*:{LETTERS[level]}"]
    command = ["logcat", "-d", *FORMAT, *tail, *start, *threshold]
    answer = await shell.run(command, limit=_LIMIT)
    if answer.dropped:
        raise AdbCommandError(
            f"the log is {(_LIMIT + answer.dropped) >> 20} MiB long",
            hint="Ask for less of it with `since`.",
            command=command,
        )
    return list(deque(filter(wanted, read_lines(answer.stdout)), max(1, max_lines)))


async def _wanted(shell: DeviceShell, package: str | None) -> Wanted:
    if package is None:
        return lambda _: True
    installed = await require_package(shell, package)
    if installed.uid is not None and installed.is_app:
        return lambda line: line.uid == installed.uid  # whichever of its processes wrote it, dead or alive
    # Packages that share a user: their current processes, and those whose start is in the log.
    pids = set(await processes_of(shell, package))
    started = re.compile(rf"Start proc (\d+):{re.escape(package)}[:/]")

    def wanted(line: LogLine) -> bool:
        if line.tag == "ActivityManager" and (start := started.match(line.text)):
            pids.add(int(start[1]))
        return line.pid in pids

    return wanted


Level = Literal["verbose", "debug", "info", "warn", "error", "fatal"]
LETTERS: dict[Level, str] = {
    "verbose": "V", "debug": "D", "info": "I", "warn": "W", "error": "E", "fatal": "F"
}  # fmt: skip
FORMAT = ["-v", "threadtime", "-v", "epoch", "-v", "uid"]
_USERS = (("root", 0), ("shell", 2000), ("radio", 1001), ("media", 1013), ("wifi", 1010), ("nfc", 1027))
"""Users that logcat prints by name, cut to five letters."""
_UIDS = dict(_USERS)
_LINE = re.compile(
    r" *(?P<seconds>\d+)\.(?P<part>\d{3})\d* +(?:(?P<uid>\w+) +)?(?P<pid>\d+) +(?P<tid>\d+) "
    r"(?P<level>[VDIWEFA]) (?P<tag>.*?) *: ?(?P<text>.*)"
)
_AGE = re.compile(r"(\d{1,9})(ms|s|m|h)")
_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_NOW = re.compile(r"(\d+)\.(\d{3})?\S* ([+-])(\d\d)(\d\d)")


class LogLine(NamedTuple):
    """One line; an entry of several lines gives several."""

    time_ms: int
    """Since 1970, by the device's clock."""
    pid: int
    tid: int
    level: str
    """One of V D I W E F."""
    tag: str
    text: str
    uid: int | None = None

    def __str__(self) -> str:
        return f"{iso_time(self.time_ms)} {self.pid} {self.tid} {self.level} {self.tag}: {self.text}"


def read_line(line: str) -> LogLine | None:
    """None for other output, such as `--------- beginning of main`."""
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    uid = match["uid"] or ""
    return LogLine(
        int(match["seconds"]) * 1000 + int(match["part"]),
        int(match["pid"]),
        int(match["tid"]),
        match["level"].replace("A", "F"),
        match["tag"].strip(),
        match["text"],
        int(uid) if uid.isdigit() else _UIDS.get(uid),
    )


def read_lines(output: bytes) -> Iterator[LogLine]:
    lines = (read_line(raw.decode("utf-8", "replace").rstrip("\r")) for raw in output.split(b"\n"))
    return (line for line in lines if line is not None)


Wanted = Callable[[LogLine], bool]


class DeviceTime(NamedTuple):
    """The device's clock and its offset from UTC."""

    epoch_ms: int
    offset_minutes: int


def read_device_time(text: str) -> DeviceTime:
    """From `date "+%s.%N %z"`; a toybox without %N prints the letters, leaving whole seconds."""
    match = _NOW.match(text.strip())
    if match is None:
        raise ValueError(f"not a time: {text!r}")
    minutes = int(match[4]) * 60 + int(match[5])
    offset = -minutes if match[3] == "-" else minutes
    return DeviceTime(int(match[1]) * 1000 + int(match[2] or 0), offset)


def moment(since: str, now: DeviceTime) -> int:
    """Epoch ms of an age (`90s`) or of a time; without Z it is the device's local time."""
    if age := _AGE.fullmatch(since):
        return max(0, now.epoch_ms - int(age[1]) * _UNIT_MS[age[2]])
    try:
        parsed = datetime.fromisoformat(since)
    except ValueError:
        raise InvalidAction(f"{since!r} is neither an age like 90s nor a time", path="since") from None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=timezone(timedelta(minutes=now.offset_minutes)))
    return int(parsed.timestamp() * 1000)


def logcat_time(epoch_ms: int) -> str:
    """Seconds since 1970, because `-T` then needs no time zone."""
    return f"{epoch_ms // 1000}.{epoch_ms % 1000:03d}"


_TAGS = ["AndroidRuntime:E", "DEBUG:F", "ActivityManager:E", "*:S"]
"""Exceptions of the runtime, tombstones, and ANRs."""
_BLOCK_GAP_MS = 2_000
"""Lines of one report are written at once; a later line of the same writer starts another report."""
MAX_LINES = 60


class Crash(NamedTuple):
    """The latest report about a package."""

    kind: Literal["exception", "native", "anr"]
    pid: int
    time_ms: int
    lines: tuple[str, ...]

    @property
    def summary(self) -> str:
        """The most informative line: the exception, the signal, the reason."""
        marks = {"exception": r"^(?!FATAL|Process:)\S", "native": r"^signal ", "anr": r"^Reason:"}
        matching = (line for line in self.lines if re.search(marks[self.kind], line))
        return next(matching, self.lines[0])


async def crash_lines(shell: DeviceShell, package: str, since_ms: int | None = None) -> Crash | None:
    """The latest crash, native crash or ANR of a package since a time of the device's clock."""
    check_package(package)
    start = ["-T", logcat_time(since_ms)] if since_ms is not None else []
    buffers = ["-b", "main", "-b", "system", "-b", "crash"]
    answer = await shell.run(["logcat", "-d", *buffers, *FORMAT, *start, *_TAGS])
    return find_crash(read_lines(answer.stdout), package)


def find_crash(lines: Iterable[LogLine], package: str) -> Crash | None:
    name = re.escape(package)
    for block in reversed(_blocks(lines)):
        text = "\n".join(line.text for line in block)
        kind: Literal["exception", "native", "anr"]
        if re.search(rf"^Process: {name}(?::\w+)?,", text, re.MULTILINE) and "FATAL EXCEPTION" in text:
            kind = "exception"
        elif re.search(rf">>> {name}(?::\w+)? <<<", text):
            kind = "native"
        elif re.search(rf"^ANR in {name}(?::\w+)?(?: |$)", text, re.MULTILINE):
            kind = "anr"
        else:
            continue
        shown = tuple(line.text for line in block[:MAX_LINES])
        dead = re.search(r"^(?:(?:Process: .*)?PID|pid): (\d+)", text, re.MULTILINE)  # not the writer's
        return Crash(kind, int(dead[1]) if dead else block[0].pid, block[0].time_ms, shown)
    return None


def _blocks(lines: Iterable[LogLine]) -> list[list[LogLine]]:
    """Splits reports where a writer starts a new one; interleaved writers are kept apart."""
    blocks: list[list[LogLine]] = []
    open_blocks: dict[tuple[int, str], list[LogLine]] = {}
    for line in lines:
        key = line.pid, line.tag
        block = open_blocks.get(key)
        if (
            block is None
            or line.text.startswith(("FATAL EXCEPTION", "ANR in ", "*** *** ***"))
            or line.time_ms - block[-1].time_ms > _BLOCK_GAP_MS
        ):
            block = open_blocks[key] = []
            blocks.append(block)
        block.append(line)
    return blocks
