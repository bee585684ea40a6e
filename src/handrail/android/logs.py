"""The device's log: its lines, the newest ones of an app, and crash reports.

`-t N` counts entries before tags and levels are filtered, so it is only used without a filter; otherwise the
whole log is read and the newest lines are kept here.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Literal, NamedTuple
from weakref import WeakSet

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
    start_ms = moment(since, await device_now(shell)) if isinstance(since, str) else since
    unfiltered = package is None and level is None and since is None
    tail = ["-t", str(max_lines)] if unfiltered else []
    if level is not None and level not in LETTERS:
        raise InvalidAction(f"{level!r} is not a log level", path="level")
    threshold = [] if level is None else [f"*:{LETTERS[level]}"]
    lines = await _log_lines(shell, [*tail, *threshold], start_ms)
    return list(deque(filter(wanted, lines), max(1, max_lines)))


_UNKNOWN_FORMAT = "Invalid parameter"
_OLD_LOGS: WeakSet[DeviceShell] = WeakSet()
"""Phones before Android 7, whose logcat knows neither `epoch` nor `uid`."""


async def _log_lines(
    shell: DeviceShell, options: Sequence[str], since_ms: int | None, buffers: Sequence[str] = ()
) -> Iterable[LogLine]:
    """An old logcat has no buffer of crashes and prints local times; it is asked for everything."""
    if shell not in _OLD_LOGS:
        start = [] if since_ms is None else ["-T", logcat_time(since_ms)]
        named = [word for buffer in buffers for word in ("-b", buffer)]
        output = await _run_logcat(shell, [*named, *FORMAT, *start, *options])
        if output is not None:
            return read_lines(output)
        _OLD_LOGS.add(shell)
    named = [word for buffer in buffers if buffer != "crash" for word in ("-b", buffer)]
    now = await device_now(shell)
    output = await _run_logcat(shell, [*named, "-v", "threadtime", *options])
    return (line for line in read_lines(output or b"", now) if since_ms is None or line.time_ms >= since_ms)


async def _run_logcat(shell: DeviceShell, options: Sequence[str]) -> bytes | None:
    """Returns None if this logcat does not know the format."""
    command = ["logcat", "-d", *options]
    try:
        answer = await shell.run(command, limit=_LIMIT)
    except AdbCommandError as error:
        if _UNKNOWN_FORMAT in error.message:
            return None
        raise
    if answer.dropped:
        raise AdbCommandError(
            f"the log is {(_LIMIT + answer.dropped) >> 20} MiB long",
            hint="Ask for less of it with `since`.",
            command=command,
        )
    return None if _UNKNOWN_FORMAT.encode() in answer.stdout[:200] else answer.stdout


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
_LOCAL_LINE = re.compile(
    r"(?P<when>\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) +(?P<pid>\d+) +(?P<tid>\d+) "
    r"(?P<level>[VDIWEFA]) (?P<tag>.*?) *: ?(?P<text>.*)"
)
_AHEAD_MS = 7 * 86_400_000
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


def read_line(line: str, now: DeviceTime | None = None) -> LogLine | None:
    """Returns None for others, as `--------- beginning of main`. Local time needs the device's clock."""
    match = _LINE.fullmatch(line) if now is None else _LOCAL_LINE.fullmatch(line)
    if match is None:
        return None
    uid = "" if now is not None else match["uid"] or ""
    if now is not None:
        time_ms = _local_ms(match["when"], now)
    else:
        time_ms = int(match["seconds"]) * 1000 + int(match["part"])
    return LogLine(
        time_ms,
        int(match["pid"]),
        int(match["tid"]),
        match["level"].replace("A", "F"),
        match["tag"].strip(),
        match["text"],
        int(uid) if uid.isdigit() else _UIDS.get(uid),
    )


def _local_ms(when: str, now: DeviceTime) -> int:
    """`11-18 03:47:19.969`, in the last twelve months; a few days ahead count as a clock that was set."""
    year = datetime.fromtimestamp(now.epoch_ms / 1000, UTC).year
    zone = timezone(timedelta(minutes=now.offset_minutes))
    times = []
    for each in (year, year - 1):
        with suppress(ValueError):  # the 29th of February
            parsed = datetime.strptime(f"{each}-{when}", "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=zone)
            times.append(int(parsed.timestamp() * 1000))
    return next((time for time in times if time <= now.epoch_ms + _AHEAD_MS), times[-1] if times else 0)


def read_lines(output: bytes, now: DeviceTime | None = None) -> Iterator[LogLine]:
    lines = (read_line(raw.decode("utf-8", "replace").rstrip("\r"), now) for raw in output.split(b"\n"))
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
    lines = await _log_lines(shell, _TAGS, since_ms, ("main", "system", "crash"))
    return find_crash(lines, package)


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
