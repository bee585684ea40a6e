"""What the log says of an app that crashed or hung. Knows no screen and no dialog."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from handrail.adb.shell import Shell
from handrail.android.log_lines import FORMAT, LogLine, logcat_time, read_line
from handrail.android.packages import check_package

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


async def crash_lines(shell: Shell, package: str, since_ms: int | None = None) -> Crash | None:
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
