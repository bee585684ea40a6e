"""From a device to its driver: opens the channels that this phone and this machine have, in one call."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Literal

from handrail.adb.device import AdbDevice
from handrail.android.adb_driver import AdbDriver
from handrail.android.channel import Channel
from handrail.android.console import console_port
from handrail.android.door import Door, Opener, Say
from handrail.android.driver import Driver
from handrail.android.routing import RoutedDriver
from handrail.android.syncs import Syncs
from handrail.clock import Clock
from handrail.config import switch

Helper = Literal["auto", "u2", "http", "none"]
DISABLING = ("HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER")
KEPT_LINES = 100
"""Diagnostics that nobody fetched; the oldest are dropped first."""


async def connect(
    device: AdbDevice, *, clock: Clock, helper: Helper = "auto", env: Mapping[str, str]
) -> Driver:
    """The driver of a phone. A channel that does not open is a line in its diagnostics, never an error."""
    adb = AdbDriver(device, clock)
    lines: deque[str] = deque(maxlen=KEPT_LINES)
    if off := next((name for name in DISABLING if env.get(name) == "1"), None):
        if helper != "none":
            lines.append(f"helper: not in use: {off}=1")
        helper = "none"
    doors = _doors(device, adb, clock, helper, env, lines.append)
    try:
        for door in doors:
            await door.open()
    except BaseException:
        for door in doors:
            await door.close()
        raise
    is_off = switch(env, "HANDRAIL_DISABLE_FRAMEWORK_SYNC")
    sync = None if is_off else Syncs(device, clock, env, lines.append)
    return RoutedDriver(adb, doors, clock, lines, sync)


def _doors(
    device: AdbDevice, adb: AdbDriver, clock: Clock, helper: Helper, env: Mapping[str, str], say: Say
) -> list[Door]:
    """gRPC where the serial is an emulator's; one helper at most, because UiAutomation has one user."""

    # Imported when it is opened: most commands need no channel but adb.
    async def grpc(said: Say) -> Channel | None:
        from handrail.android.emulator import open_emulator  # noqa: PLC0415

        return await open_emulator(adb.serial, env=env, clock=clock, display=adb.display, say=said)

    async def http(said: Say) -> Channel | None:
        from handrail.android.helper import open_helper  # noqa: PLC0415

        return await open_helper(device, env=env, clock=clock, say=said)

    async def u2(said: Say) -> Channel | None:
        from handrail.android.u2 import open_u2  # noqa: PLC0415

        return await open_u2(device, clock=clock, say=said)

    async def either(said: Say) -> Channel | None:
        return await http(said) or await u2(said)

    openers: dict[str, Opener] = {"http": http, "u2": u2, "auto": either}
    doors = [] if console_port(adb.serial) is None else [Door("grpc", grpc, clock, say)]
    if helper != "none":
        doors.append(Door("u2" if helper == "u2" else "helper", openers[helper], clock, say))
    return doors
