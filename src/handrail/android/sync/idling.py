"""The idling bridge: a provider in the app's own debug build that names what the app itself is waiting for.

Asked by `content query`, which costs a phone a process each time: only apps that have the provider pay it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from handrail.adb.shell import DeviceShell
from handrail.android.packages import check_package
from handrail.android.sync.answers import ChannelLost, Rest
from handrail.clock import Clock
from handrail.errors import Timeout

VERSION = 1
QUERY_MS = 2_000.0
PAUSE_MS = 50.0
_ROW = re.compile(r"Row: \d+ (?P<row>.*)", re.DOTALL)
_COLUMN = re.compile(r"(?:^|, )(?P<name>idle_count|idle_names|version)=")


@dataclass(frozen=True, slots=True)
class IdlingState:
    """The provider's one row."""

    busy: int
    names: tuple[str, ...]
    version: int

    @property
    def told(self) -> tuple[str, ...]:
        """Who is busy; a count where the app gives no names."""
        if not self.busy:
            return ()
        return self.names or (f"{self.busy} idling resources",)


def read_state(text: str) -> IdlingState | None:
    """None where the provider has no such row. A name may hold commas: columns are found by their names."""
    found = _ROW.search(text)
    if found is None:
        return None
    row = found["row"].strip()
    marks = list(_COLUMN.finditer(row))
    ends = [mark.start() for mark in marks[1:]] + [len(row)]
    columns = {mark["name"]: row[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)}
    if not columns.get("idle_count", "").isdigit():
        return None
    names = [] if columns.get("idle_names") in (None, "NULL") else columns["idle_names"].split(",")
    version = columns.get("version", "")
    return IdlingState(
        int(columns["idle_count"]),
        tuple(name.strip() for name in names if name.strip()),
        int(version) if version.isdigit() else 0,
    )


async def open_bridge(shell: DeviceShell, package: str, clock: Clock) -> tuple[IdlingBridge, str]:
    """The bridge and a line about it; `ChannelLost` where the app has none, or one that can't be read."""
    bridge = IdlingBridge(shell, package, clock)
    state = await bridge.ask(QUERY_MS)
    if state.version != VERSION:
        raise ChannelLost(
            f"the app's bridge has version {state.version}, this one reads {VERSION}; "
            "rebuild the app with the bridge's present version"
        )
    return bridge, f"attached, version {state.version}"


class IdlingBridge:
    """The channel to one app's provider."""

    def __init__(self, shell: DeviceShell, package: str, clock: Clock) -> None:
        self._shell = shell
        self._uri = f"content://{check_package(package)}.agentest.idling/state"
        self._clock = clock

    async def ask(self, timeout_ms: float) -> IdlingState:
        command = ["content", "query", "--uri", self._uri]
        told = await self._shell.run(command, timeout_ms=timeout_ms, check=False)
        state = read_state(told.text)
        if state is None:
            raise ChannelLost(f"the app answers no query of {self._uri}")
        return state

    async def wait_idle(self, timeout_ms: float) -> Rest:
        end = self._clock.monotonic_ms() + timeout_ms
        waited: dict[str, None] = {}
        while True:
            try:
                state = await self.ask(QUERY_MS)
            except Timeout:
                return Rest(False, (*waited, "idling bridge"))
            waited |= dict.fromkeys(state.told)
            if not state.busy:
                return Rest(True, tuple(waited))
            left = end - self._clock.monotonic_ms()
            if left <= 0:
                return Rest(False, tuple(waited))
            await self._clock.sleep_ms(min(PAUSE_MS, left))

    async def close(self) -> None:
        """Nothing is held open between two questions."""
