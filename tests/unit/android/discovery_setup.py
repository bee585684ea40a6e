"""What tests of discovery share: phones, machines with and without adb, and waiting for a state."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

from handrail.adb.server import Server
from handrail.android.discovery import discover, watch
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.surface.listing import DiscoveredDevice
from handrail_sim.phone import Phone
from tests.unit.android.private_adb import private_env

Lists = AsyncGenerator[tuple[DiscoveredDevice, ...], None]
CLOCK = SystemClock()
PATIENCE_S = 60
"""Never reached; a test that hangs says where."""


def run(story: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(story(), PATIENCE_S))


def a_phone() -> Phone:
    return Phone(clock=CLOCK, apps=["notes"])


def no_adb(folder: Path, **more: str) -> dict[str, str]:
    """A machine without any adb: nothing listens, nothing can be started."""
    return {**private_env(folder), "HANDRAIL_ADB": str(folder / "none"), **more}


async def find(env: dict[str, str]) -> dict[str, DiscoveredDevice]:
    return {one.serial: one for one in (await discover(Config.from_env(env), CLOCK, env)).devices}


def server_of(env: dict[str, str]) -> Server:
    return Server("127.0.0.1", int(env["ANDROID_ADB_SERVER_PORT"]), env=env)


async def until(lists: Lists, serial: str, state: str | None) -> DiscoveredDevice | None:
    """Once the phone is in this state; None: once it is not there."""
    async for found in lists:
        one = next((one for one in found if one.serial == serial), None)
        if state == (one and one.state):
            return one
    raise AssertionError("the watch ended")


async def seen(env: dict[str, str], serial: str, state: str) -> DiscoveredDevice:
    async with aclosing(watch(Config.from_env(env), CLOCK, env)) as lists:
        one = await until(lists, serial, state)
        assert one is not None
        return one
