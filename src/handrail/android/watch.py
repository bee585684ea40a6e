"""Devices that come, go and change: the list of `discovery` again, whenever it is another one.

The adb server tells of its devices itself; addresses are asked in turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field

from handrail.adb.server import Server
from handrail.android.discovery import Found, addresses, from_server, list_server, merge, probe_all, server_of
from handrail.clock import Clock
from handrail.config import Config
from handrail.errors import DeviceError
from handrail.waiting import Background

EVERY_MS = 2_000.0
"""Between two rounds of asking the addresses."""
FIRST_PAUSE_MS, LONGEST_PAUSE_MS = 250.0, 8_000.0
"""Between attempts to reach an adb server that went away."""


@dataclass
class _Board:
    """What each source said last."""

    changed: asyncio.Event = field(default_factory=asyncio.Event)
    said: dict[str, Sequence[Found]] = field(default_factory=dict)

    def say(self, source: str, found: Sequence[Found]) -> None:
        self.said[source] = found
        self.changed.set()

    @property
    def devices(self) -> tuple[Found, ...]:
        return tuple(merge([*self.said["addresses"], *self.said["server"]]))


async def watch(
    config: Config, clock: Clock, env: Mapping[str, str]
) -> AsyncGenerator[tuple[Found, ...], None]:
    """The whole list at once, and again whenever it has changed. Never ends by itself; close it."""
    board = _Board()
    last: tuple[Found, ...] | None = None
    async with Background() as asking:
        server = _follow_server(server_of(config, clock, env), clock, board)
        tasks = [
            asking.start(server, "devices of the adb server", log_failure=False),
            asking.start(_ask_addresses(config, clock, board), "devices by address", log_failure=False),
        ]
        for task in tasks:
            task.add_done_callback(lambda _: board.changed.set())
        while True:
            await board.changed.wait()
            board.changed.clear()
            for task in tasks:
                if task.done():
                    task.result()
            if len(board.said) == len(tasks) and (now := board.devices) != last:
                last = now
                yield now


async def _ask_addresses(config: Config, clock: Clock, board: _Board) -> None:
    while True:
        board.say("addresses", await probe_all(config, clock))
        if addresses(config):
            await clock.sleep_ms(EVERY_MS)
        else:
            await asyncio.Event().wait()


async def _follow_server(server: Server, clock: Clock, board: _Board) -> None:
    """The server is started at the beginning only: whoever kills it later has a reason."""
    board.say("server", (await list_server(server)).devices)
    pause = FIRST_PAUSE_MS
    while True:
        try:
            async for listed in server.track():
                pause = FIRST_PAUSE_MS
                board.say("server", [from_server(one) for one in listed])
        except DeviceError:
            pause = min(pause * 2, LONGEST_PAUSE_MS)
        board.say("server", [])
        await clock.sleep_ms(pause)
