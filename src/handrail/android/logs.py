"""The device's log: lines as values, the newest ones of an app, and what a crash left in it.

`-t N` counts entries before tags and levels are looked at, so it is used only where nothing is filtered;
otherwise the log is read through and the newest lines are kept here.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
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
    """What the device's clock says; it may be far from this machine's."""
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
    start = await _since(shell, since)
    unfiltered = package is None and level is None and since is None
    tail = ["-t", str(max_lines)] if unfiltered else []
    command = ["logcat", "-d", *FORMAT, *tail, *start, *_threshold(level)]
    answer = await shell.run(command, limit=_LIMIT)
    if answer.dropped:
        raise AdbCommandError(
            f"the log is {(_LIMIT + answer.dropped) >> 20} MiB long",
            hint="Ask for less of it with `since`.",
            command=command,
        )
    kept = deque((line for line in Lines().feed(answer.stdout + b"\n") if wanted(line)), max(1, max_lines))
    return list(kept)


async def follow(
    shell: DeviceShell,
    package: str | None = None,
    level: Level | None = None,
    since: str | int | None = None,
) -> AsyncIterator[LogLine]:
    """Lines as they are written; without `since` from the newest one on.

    The command ends on the device when the iterator is closed: use `contextlib.aclosing`.
    """
    wanted = await _wanted(shell, package)
    start = await _since(shell, since) or ["-T", "1"]
    lines = Lines()
    async with shell.start(["logcat", *FORMAT, *start, *_threshold(level)]) as process:
        async for piece in process:
            for line in lines.feed(piece):
                if wanted(line):
                    yield line


def _threshold(level: Level | None) -> list[str]:
    """Levels are filtered on the device."""
    if level is None:
        return []
    if level not in LETTERS:
        raise InvalidAction(f"{level!r} is not a log level", path="level")
    return [f"*:{LETTERS[level]}"]


async def _since(shell: DeviceShell, since: str | int | None) -> list[str]:
    if since is None:
        return []
    start = since if isinstance(since, int) else moment(since, await device_now(shell))
    return ["-T", logcat_time(start)]


async def _wanted(shell: DeviceShell, package: str | None) -> Wanted:
    if package is None:
        return anything
    known = await require_package(shell, package)
    if known.uid is not None and known.is_app:
        return of_user(known.uid)
    return of_processes(package, set(await processes_of(shell, package)))


Level = Literal["verbose", "debug", "info", "warn", "error", "fatal"]
LETTERS: dict[Level, str] = {
    "verbose": "V", "debug": "D", "info": "I", "warn": "W", "error": "E", "fatal": "F"
}  # fmt: skip
FORMAT = ["-v", "threadtime", "-v", "epoch", "-v", "uid"]
_USERS = (("root", 0), ("shell", 2000), ("radio", 1001), ("media", 1013), ("wifi", 1010), ("nfc", 1027))
"""Users that logcat writes by name, having at most five letters."""
_UIDS = dict(_USERS)
_LINE = re.compile(
    r" *(?P<seconds>\d+)\.(?P<part>\d{3})\d* +(?:(?P<uid>\w+) +)?(?P<pid>\d+) +(?P<tid>\d+) "
    r"(?P<level>[VDIWEFA]) (?P<tag>.*?) *: ?(?P<text>.*)"
)
_AGE = re.compile(r"(\d{1,9})(ms|s|m|h)")
_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_NOW = re.compile(r"(\d+)\.(\d{3})?\S* ([+-])(\d\d)(\d\d)")


class LogLine(NamedTuple):
    """One line; an entry of several lines is several of these."""

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
    """None for what is no line of a process, such as `--------- beginning of main`."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    uid = found["uid"] or ""
    return LogLine(
        int(found["seconds"]) * 1000 + int(found["part"]),
        int(found["pid"]),
        int(found["tid"]),
        found["level"].replace("A", "F"),
        found["tag"].strip(),
        found["text"],
        int(uid) if uid.isdigit() else _UIDS.get(uid),
    )


class Lines:
    """Cuts pieces of output into lines, whatever the pieces' borders."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> Iterator[LogLine]:
        *whole, self._held = (self._held + data).split(b"\n")
        for raw in whole:
            line = read_line(raw.decode("utf-8", "replace").rstrip("\r"))
            if line is not None:
                yield line


Wanted = Callable[[LogLine], bool]


def anything(_: LogLine) -> bool:
    """No filter."""
    return True


def of_user(uid: int) -> Wanted:
    """An app's lines, whichever of its processes wrote them, dead or alive."""
    return lambda line: line.uid == uid


def of_processes(package: str, pids: set[int]) -> Wanted:
    """For packages that share a system user: their processes now, and those whose start is in the log."""
    started = re.compile(rf"Start proc (\d+):{re.escape(package)}[:/]")

    def wanted(line: LogLine) -> bool:
        if line.tag == "ActivityManager" and (found := started.match(line.text)):
            pids.add(int(found[1]))
        return line.pid in pids

    return wanted


class DeviceTime(NamedTuple):
    """The device's clock and how far it is from UTC."""

    epoch_ms: int
    offset_minutes: int


def read_device_time(text: str) -> DeviceTime:
    """Of `date "+%s.%N %z"`; a toybox without %N leaves the letters, and whole seconds remain."""
    found = _NOW.match(text.strip())
    if found is None:
        raise ValueError(f"not a time: {text!r}")
    minutes = int(found[4]) * 60 + int(found[5])
    offset = -minutes if found[3] == "-" else minutes
    return DeviceTime(int(found[1]) * 1000 + int(found[2] or 0), offset)


def moment(since: str, now: DeviceTime) -> int:
    """Epoch ms of an age (`90s`) or of a time; without Z it is the device's own local time."""
    if age := _AGE.fullmatch(since):
        return max(0, now.epoch_ms - int(age[1]) * _UNIT_MS[age[2]])
    try:
        found = datetime.fromisoformat(since)
    except ValueError:
        raise InvalidAction(f"{since!r} is neither an age like 90s nor a time", path="since") from None
    if found.tzinfo is None:
        found = found.replace(tzinfo=timezone(timedelta(minutes=now.offset_minutes)))
    return int(found.timestamp() * 1000)


def logcat_time(epoch_ms: int) -> str:
    """As `-T` takes it: seconds since 1970, a form without a time zone."""
    return f"{epoch_ms // 1000}.{epoch_ms % 1000:03d}"


_TAGS = ["AndroidRuntime:E", "DEBUG:F", "ActivityManager:E", "*:S"]
"""The runtime's exceptions, tombstones, and the system's word on apps that do not answer."""
_BLOCK_GAP_MS = 2_000
"""Lines of one report are written at once; a later line of the same writer begins another one."""
MAX_LINES = 60


class Crash(NamedTuple):
    """The last report about a package."""

    kind: Literal["exception", "native", "anr"]
    pid: int
    time_ms: int
    lines: tuple[str, ...]

    @property
    def summary(self) -> str:
        """The line that says most: the exception, the signal, the reason."""
        marks = {"exception": r"^(?!FATAL|Process:)\S", "native": r"^signal ", "anr": r"^Reason:"}
        found = (line for line in self.lines if re.search(marks[self.kind], line))
        return next(found, self.lines[0])


async def crash_lines(shell: DeviceShell, package: str, since_ms: int | None = None) -> Crash | None:
    """The last crash, native crash or ANR of a package since a moment of the device's clock."""
    check_package(package)
    start = ["-T", logcat_time(since_ms)] if since_ms is not None else []
    buffers = ["-b", "main", "-b", "system", "-b", "crash"]
    answer = await shell.run(["logcat", "-d", *buffers, *FORMAT, *start, *_TAGS])
    lines = (read_line(line.rstrip("\r")) for line in answer.text.splitlines())
    return find_crash([line for line in lines if line], package)


def find_crash(lines: Iterable[LogLine], package: str) -> Crash | None:
    """The newest block that names the package."""
    found = (_judge(block, package) for block in reversed(_blocks(lines)))
    return next((crash for crash in found if crash), None)


def _blocks(lines: Iterable[LogLine]) -> list[list[LogLine]]:
    """Reports, cut where a writer begins a new one; two writers at once are kept apart."""
    blocks: list[list[LogLine]] = []
    open_blocks: dict[tuple[int, str], list[LogLine]] = {}
    for line in lines:
        key = line.pid, line.tag
        block = open_blocks.get(key)
        if block is None or _begins(line) or line.time_ms - block[-1].time_ms > _BLOCK_GAP_MS:
            block = open_blocks[key] = []
            blocks.append(block)
        block.append(line)
    return blocks


def _begins(line: LogLine) -> bool:
    return line.text.startswith(("FATAL EXCEPTION", "ANR in ", "*** *** ***"))


def _judge(block: list[LogLine], package: str) -> Crash | None:
    text = "\n".join(line.text for line in block)
    name = re.escape(package)
    kind: Literal["exception", "native", "anr"]
    if re.search(rf"^Process: {name}(?::\w+)?,", text, re.MULTILINE) and "FATAL EXCEPTION" in text:
        kind = "exception"
    elif re.search(rf">>> {name}(?::\w+)? <<<", text):
        kind = "native"
    elif re.search(rf"^ANR in {name}(?::\w+)?(?: |$)", text, re.MULTILINE):
        kind = "anr"
    else:
        return None
    first = block[0]
    shown = tuple(line.text for line in block[:MAX_LINES])
    return Crash(kind, _pid(text, first.pid), first.time_ms, shown)


def _pid(text: str, otherwise: int) -> int:
    """The dead process's, not the writer's."""
    found = re.search(r"^(?:(?:Process: .*)?PID|pid): (\d+)", text, re.MULTILINE)
    return int(found[1]) if found else otherwise
