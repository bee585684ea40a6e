"""Which apps can be debugged, told once or again at every change: `jdwp`, `track-jdwp`, `track-app`.

There is no debugger behind a pid: `jdwp:PID` is refused, as for a process that does not answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

from handrail_sim.channels.protobuf import encode
from handrail_sim.stream import Stream

if TYPE_CHECKING:
    from handrail_sim.phone import Phone

ARCHITECTURE = "arm64"


def _debuggable(phone: Phone) -> Iterator[int]:
    everything = phone.props.get("ro.debuggable") == "1"
    for name, process in phone.packages.processes.items():
        known = phone.packages.installed.get(name)
        if known is not None and (known.debuggable or everything):
            yield process.pid


def pids(phone: Phone) -> bytes:
    """One pid a line."""
    return "".join(f"{pid}\n" for pid in sorted(_debuggable(phone))).encode()


def apps(phone: Phone) -> bytes:
    """adb's AppProcesses: pid, debuggable, profileable, architecture of each."""
    return b"".join(
        encode((1, encode((1, pid), (2, True), (3, True), (4, ARCHITECTURE))))
        for pid in sorted(_debuggable(phone))
    )


def track(phone: Phone, tell: Callable[[Phone], bytes]) -> Callable[[Stream], Awaitable[None]]:
    """Four hex digits of length and the list, now and after each change, until the host has enough."""

    async def run(stream: Stream) -> None:
        changed = asyncio.Event()
        phone.packages.watchers.append(changed.set)
        told: bytes | None = None
        try:
            while True:
                now = tell(phone)
                if now != told:
                    await stream.write(f"{len(now):04x}".encode() + now)
                    told = now
                changed.clear()
                await changed.wait()
        finally:
            phone.packages.watchers.remove(changed.set)

    return run
