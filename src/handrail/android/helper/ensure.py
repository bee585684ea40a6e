"""Gets the HTTP helper running on a phone, or says in one line why not. Never raises: plain adb goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.android.constants import HELPER_PORT, HELPER_PROTOCOL_VERSION, HELPER_STARTUP_TIMEOUT_MS
from handrail.android.helper.answers import HelperStatus
from handrail.android.helper.apks import PACKAGES, find_apks, put_apks
from handrail.android.helper.client import HelperClient
from handrail.android.install import uninstall as remove_package
from handrail.android.resident import Resident
from handrail.clock import Clock
from handrail.errors import AdbCommandError, HandrailError

RUNNER = f"{PACKAGES[1]}/androidx.test.runner.AndroidJUnitRunner"
COMMAND = ["am", "instrument", "-w", "-r", RUNNER]
SWITCHES = ("HANDRAIL_DISABLE_HELPER", "AGENTEST_DISABLE_HELPER")
PROBE_TIMEOUT_MS = 500
POLL_MS = 100

Say = Callable[[str], None]


class NoHelper(Exception):
    """Why there is none, in one line."""


@dataclass(frozen=True, slots=True)
class HelperHandle:
    """A helper that answers. `resident` is its instrumentation; None if that was running already."""

    client: HelperClient
    status: HelperStatus
    device: AdbDevice
    resident: Resident | None

    async def shutdown(self, uninstall: bool = False) -> None:
        """Ends it on the phone; a helper or a phone that is gone is no error. As often as one likes."""
        await _quietly(self.client.shutdown())
        if self.resident is not None:
            await self.resident.stop()
        for package in reversed(PACKAGES) if uninstall else ():
            await _quietly(remove_package(self.device.shell, package))


async def ensure_helper(
    device: AdbDevice,
    *,
    env: Mapping[str, str],
    clock: Clock,
    say: Say,
    startup_timeout_ms: float = HELPER_STARTUP_TIMEOUT_MS,
) -> HelperHandle | None:
    """Installed if need be, started if need be, and answering; None, with the reason said, otherwise."""
    try:
        await _installed(device, env)
        client = HelperClient(device, clock)
        status = await _running(device, client, clock, startup_timeout_ms)
        if status is not None:
            return HelperHandle(client, status, device, None)
        return await _started(device, client, startup_timeout_ms)
    except NoHelper as reason:
        say(str(reason))
        return None


async def _installed(device: AdbDevice, env: Mapping[str, str]) -> None:
    if switch := next((name for name in SWITCHES if env.get(name) == "1"), None):
        raise NoHelper(f"the helper is switched off by {switch}=1")
    apks = find_apks(env)
    if isinstance(apks, str):
        raise NoHelper(apks)
    try:
        await put_apks(device, apks)
    except HandrailError as error:
        raise NoHelper(f"the helper could not be installed: {error.message}") from None


async def _running(
    device: AdbDevice, client: HelperClient, clock: Clock, timeout_ms: float
) -> HelperStatus | None:
    """One that an earlier session left, if it speaks our protocol; one that does not is ended."""
    try:
        await (await device.open(f"tcp:{HELPER_PORT}")).close()
    except AdbCommandError:
        return None  # refused: nothing listens
    except HandrailError as error:
        raise NoHelper(f"no stream to port {HELPER_PORT} of the phone: {error.message}") from None
    status = await client.status(PROBE_TIMEOUT_MS)
    if status is None or status.protocol_version == HELPER_PROTOCOL_VERSION:
        return status
    await _quietly(client.shutdown())
    end = clock.monotonic_ms() + timeout_ms
    while await client.status(PROBE_TIMEOUT_MS) is not None and clock.monotonic_ms() < end:
        await clock.sleep_ms(POLL_MS)
    return None


async def _started(device: AdbDevice, client: HelperClient, timeout_ms: float) -> HelperHandle:
    resident = Resident(device.shell, COMMAND)
    try:
        status = await _first_answer(client, resident, timeout_ms)
    except BaseException as error:
        await resident.stop()
        if isinstance(error, HandrailError):
            raise NoHelper(error.message) from None
        raise
    return HelperHandle(client, status, device, resident)


async def _first_answer(client: HelperClient, resident: Resident, timeout_ms: float) -> HelperStatus:
    """Whatever comes first: an answer, the end of the instrumentation, or of the time."""
    ready = asyncio.ensure_future(client.wait_for_ready(timeout_ms))
    gone = asyncio.ensure_future(resident.wait())
    try:
        await asyncio.wait({ready, gone}, return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            return ready.result()
        raise NoHelper(f"am instrument failed: {resident.last_words}")
    finally:
        ready.cancel()
        gone.cancel()
        await asyncio.gather(ready, gone, return_exceptions=True)


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    """Clearing up after something that may be gone."""
    try:
        await work
    except HandrailError:
        return
