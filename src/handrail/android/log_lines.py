"""Lines of logcat and moments of the device's clock, read and written. Pure; runs nothing.

Lines are asked for as `threadtime` with `epoch` and `uid`: no time zone, no year to guess, and an app's
lines are found by its user also after its process has died.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Literal, NamedTuple

from handrail.clock import iso_time
from handrail.errors import InvalidAction

Level = Literal["verbose", "debug", "info", "warn", "error", "fatal"]
LETTERS: dict[Level, str] = {
    "verbose": "V", "debug": "D", "info": "I", "warn": "W", "error": "E", "fatal": "F"
}  # fmt: skip
FORMAT = ["-v", "threadtime", "-v", "epoch", "-v", "uid"]
_NAMES = {"root": 0, "shell": 2000, "radio": 1001, "media": 1013, "wifi": 1010, "nfc": 1027}
"""Users that logcat writes by name, having at most five letters."""
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
        int(uid) if uid.isdigit() else _NAMES.get(uid),
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
