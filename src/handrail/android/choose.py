"""Chooses the device that a command means and opens it.

A device that is not ready is listed and explained, but never chosen, even if it is the only one.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.server import Listed
from handrail.android.discovery import discover, merge, server_of
from handrail.android.wireless import RememberedPhones, reach, reconnect_remembered
from handrail.clock import Clock
from handrail.config import Config, canonical, host_port
from handrail.errors import AdbConnectionError, DeviceError, DeviceOffline, HandrailError, InvalidAction
from handrail.surface.listing import DiscoveredDevice

NOTHING_HINT = (
    "Plug in a phone with USB debugging on, or run `handrail sim` and name its address with --device; "
    "--sim gives a command a phone of its own."
)


def choose(
    devices: Sequence[DiscoveredDevice], wanted: str | None = None, default: str | None = None
) -> DiscoveredDevice:
    """`wanted` is the caller's choice, `default` is HANDRAIL_DEVICE; without both, the only usable device."""
    if wanted:
        return _named(devices, wanted, "--device")
    if default:
        return _named(devices, default, "HANDRAIL_DEVICE")
    usable = [device for device in devices if device.usable]
    if len(usable) == 1:
        return usable[0]
    if usable:
        raise InvalidAction(
            f"{len(usable)} devices are ready, and none was named: {_list(usable)}",
            hint=f"Name one: --device {usable[0].serial}, or set HANDRAIL_DEVICE.",
            path="device",
            devices=[device.to_dict() for device in usable],
        )
    if devices:
        raise _not_ready(devices)
    raise AdbConnectionError("no device is connected", hint=NOTHING_HINT)


def _named(devices: Sequence[DiscoveredDevice], wanted: str, source: str) -> DiscoveredDevice:
    matches = match(devices, wanted)
    if not matches:
        serials = [device.serial for device in devices]
        near = difflib.get_close_matches(wanted, serials, 1)
        listed = f"connected: {_list(devices)}" if devices else "no device is connected"
        otherwise = "See `handrail devices`." if devices else NOTHING_HINT
        raise AdbConnectionError(
            f"no device {wanted!r} ({source}); {listed}",
            hint=f"Did you mean {near[0]}?" if near else otherwise,
            devices=[device.to_dict() for device in devices],
        )
    if len(matches) > 1:
        raise InvalidAction(
            f"{wanted!r} ({source}) fits {len(matches)} devices: {_list(matches)}",
            hint="Give the whole serial of one of them.",
            path="device",
            devices=[device.to_dict() for device in matches],
        )
    if not matches[0].usable:
        raise _not_ready(matches)
    return matches[0]


def match(devices: Sequence[DiscoveredDevice], wanted: str) -> list[DiscoveredDevice]:
    """By the strictest rule that matches any device: serial, address, start or end of serial, model."""
    name = wanted.casefold()
    model = _plain(wanted)
    rules: tuple[Callable[[DiscoveredDevice], bool], ...] = (
        lambda device: device.serial == wanted,
        lambda device: device.identity == canonical(wanted),
        lambda device: device.serial.casefold().startswith(name) or device.serial.casefold().endswith(name),
        lambda device: bool(model) and _plain(device.model) == model,
        lambda device: bool(model) and model in _plain(device.model),
    )
    fitting = ([device for device in devices if rule(device)] for rule in rules)
    return next(filter(None, fitting), [])


def _plain(model: str) -> str:
    """adb writes `Pixel_8` for `Pixel 8`."""
    return "".join(letter for letter in model.casefold() if letter.isalnum())


def _list(devices: Sequence[DiscoveredDevice]) -> str:
    return "; ".join(str(device) for device in devices)


def _not_ready(candidates: Sequence[DiscoveredDevice]) -> HandrailError:
    return DeviceOffline(
        f"not ready: {_list(candidates)}",
        hint=candidates[0].what_to_do,
        devices=[device.to_dict() for device in candidates],
    )


async def pick(
    wanted: str | None,
    config: Config,
    clock: Clock,
    env: Mapping[str, str],
    beside: Sequence[DiscoveredDevice] = (),
) -> DiscoveredDevice:
    """An address is taken without asking for other devices. `beside` are devices that adb does not know."""
    named = wanted or config.device
    if named and host_port(named):
        return DiscoveredDevice(named, via="direct")
    listing = await discover(config, clock, env)
    try:
        return choose(merge((*listing.devices, *beside)), wanted, config.device)
    except (AdbConnectionError, DeviceOffline) as error:
        if (serial := await reconnect_remembered(named, config, clock, env)) is not None:
            return DiscoveredDevice(serial)
        if isinstance(error, DeviceOffline):
            raise
        message = "; ".join([error.message, *listing.notes])
        raise AdbConnectionError(message, hint=error.hint, **error.details) from None


async def open_device(serial: str, config: Config, clock: Clock, env: Mapping[str, str]) -> AdbDevice:
    """`serial` is complete. Addresses are opened directly, or by the adb server if only it can."""
    if phone := next(iter(RememberedPhones(config.home).named(serial)), None):
        # Reconnects a wireless phone after it slept or changed its network, so open work goes on.
        link_server, known_phones = server_of(config, clock, env), RememberedPhones(config.home)

        async def revive() -> str | None:
            await link_server.start()
            latest = next(iter(known_phones.named(phone.guid or phone.name)), phone)
            return await reach(latest, known_phones, link_server, clock)

        return AdbDevice(link_server.link(serial, revive), clock)
    if place := host_port(serial):
        return await _open_address(serial, place, config, clock, env)
    server = server_of(config, clock, env)
    await server.start()
    return AdbDevice(server.link(serial), clock)


async def open_chosen(wanted: str | None, config: Config, clock: Clock, env: Mapping[str, str]) -> AdbDevice:
    return await open_device((await pick(wanted, config, clock, env)).serial, config, clock, env)


async def _open_address(
    serial: str, place: tuple[str, int], config: Config, clock: Clock, env: Mapping[str, str]
) -> AdbDevice:
    """The adb server handles TLS (wireless debugging) and phones that have accepted only its key."""
    link = Direct(*place, clock=clock)
    try:
        await link.features()
    except DeviceError:
        await link.close()
        server = server_of(config, clock, env)
        listed: Sequence[Listed] = ()
        with suppress(DeviceError):
            listed = await server.devices()  # does not start one
        if not any(device.serial == serial and device.state == "device" for device in listed):
            raise
        return AdbDevice(server.link(serial), clock)
    except BaseException:
        await link.close()
        raise
    return AdbDevice(link, clock)
