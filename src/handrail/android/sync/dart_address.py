"""Where an app's Dart VM listens: it says so in the log, once, when it starts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass

from handrail.adb.shell import Shell
from handrail.android.log_lines import FORMAT, Lines, LogLine
from handrail.android.packages import processes_of
from handrail.android.sync.lost import ChannelLost

LOG_MS = 2_000.0
_SAID = re.compile(
    r"(?:Dart VM [Ss]ervice|Observatory)\b.*? listening on https?://[^/:\s]+:(?P<port>\d{1,5})(?P<path>/\S*)?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A port of the phone, and the secret path under which it answers."""

    port: int
    path: str

    @property
    def service(self) -> str:
        return f"tcp:{self.port}"

    @property
    def uri(self) -> str:
        return f"ws://127.0.0.1:{self.port}{self.path.rstrip('/')}/ws"


def newest(lines: Iterable[LogLine], pids: Container[int]) -> Address | None:
    """The last one said by a process that still lives."""
    found = [_SAID.search(line.text) for line in lines if line.pid in pids]
    said = [one for one in found if one]
    return Address(int(said[-1]["port"]), said[-1]["path"] or "/") if said else None


async def find_address(shell: Shell, package: str) -> Address:
    """Of the app as it runs now; `ChannelLost` where it said nothing."""
    command = ["logcat", "-d", *FORMAT, "-s", "flutter:I"]
    running, log = await asyncio.gather(
        processes_of(shell, package), shell.run(command, timeout_ms=LOG_MS, check=False)
    )
    found = newest(Lines().feed(log.stdout + b"\n"), running)
    if found is None:
        raise ChannelLost(f"no running process of {package} has told the log where its Dart VM listens")
    return found
