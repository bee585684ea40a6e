"""The device's log: the newest lines of an app, and lines as they come.

`-t N` counts entries before tags and levels are looked at, so it is used only where nothing is filtered;
otherwise the log is read through and the newest lines are kept here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator

from handrail.adb.shell import Shell
from handrail.android.constants import LOGCAT_LINES
from handrail.android.log_lines import (
    FORMAT,
    LETTERS,
    DeviceTime,
    Level,
    Lines,
    LogLine,
    Wanted,
    anything,
    logcat_time,
    moment,
    of_processes,
    of_user,
    read_device_time,
)
from handrail.android.packages import FIRST_APP_UID, processes_of, require_package
from handrail.errors import AdbCommandError, InvalidAction

_LIMIT = 64 << 20
_CLOCK = ["date", "+%s.%N %z"]


async def device_now(shell: Shell) -> DeviceTime:
    """What the device's clock says; it may be far from this machine's."""
    text = (await shell.run(_CLOCK)).text
    try:
        return read_device_time(text)
    except ValueError as problem:
        raise AdbCommandError(f"the device's clock can't be read: {problem}", command=_CLOCK) from None


async def read(
    shell: Shell,
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
    shell: Shell,
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


async def _since(shell: Shell, since: str | int | None) -> list[str]:
    if since is None:
        return []
    start = since if isinstance(since, int) else moment(since, await device_now(shell))
    return ["-T", logcat_time(start)]


async def _wanted(shell: Shell, package: str | None) -> Wanted:
    if package is None:
        return anything
    known = await require_package(shell, package)
    if known.uid is not None and known.uid >= FIRST_APP_UID:
        return of_user(known.uid)
    return of_processes(package, set(await processes_of(shell, package)))
