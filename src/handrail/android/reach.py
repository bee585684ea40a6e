"""From a name to an open device. The only place that decides between a direct line and the adb server."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.android.choose import choose
from handrail.android.discovery import discover, server_of
from handrail.android.found import Found
from handrail.clock import Clock
from handrail.config import Config, host_port
from handrail.errors import AdbConnectionError, DeviceError


async def pick(wanted: str | None, config: Config, clock: Clock, env: Mapping[str, str]) -> Found:
    """The device that is meant; an address means itself, and nobody else is asked for."""
    named = wanted or config.device
    if named and host_port(named):
        return Found(named, via="direct")
    listing = await discover(config, clock, env)
    try:
        return choose(listing.devices, wanted, config.device)
    except AdbConnectionError as error:
        message = "; ".join([error.message, *listing.notes])
        raise AdbConnectionError(message, hint=error.hint, **error.details) from None


async def open_device(serial: str, config: Config, clock: Clock, env: Mapping[str, str]) -> AdbDevice:
    """A whole serial. Addresses are opened without any adb; by the server where only it can."""
    if place := host_port(serial):
        return await _open_address(serial, place, config, clock, env)
    server = server_of(config, clock, env)
    await server.start()
    return AdbDevice(server.link(serial), clock)


async def open_chosen(wanted: str | None, config: Config, clock: Clock, env: Mapping[str, str]) -> AdbDevice:
    """The device that is meant, open."""
    return await open_device((await pick(wanted, config, clock, env)).serial, config, clock, env)


async def _open_address(
    serial: str, place: tuple[str, int], config: Config, clock: Clock, env: Mapping[str, str]
) -> AdbDevice:
    """Wireless debugging speaks TLS, which is the server's business; so is a phone that took its key only."""
    link = Direct(*place, clock=clock)
    try:
        await link.features()
    except DeviceError:
        await link.close()
        if not await _server_has(serial, config, clock, env):
            raise
        return AdbDevice(server_of(config, clock, env).link(serial), clock)
    except BaseException:
        await link.close()
        raise
    return AdbDevice(link, clock)


async def _server_has(serial: str, config: Config, clock: Clock, env: Mapping[str, str]) -> bool:
    """Only a server that runs already is asked."""
    try:
        listed = await server_of(config, clock, env).devices()
    except DeviceError:
        return False
    return any(one.serial == serial and one.state == "device" for one in listed)
