"""Which device is meant. Pure: rules over a list, and an error that shows the list when they do not suffice.

A device that is not ready is listed and explained, and never chosen, not even when it is the only one.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.server import ServerLink
from handrail.android.contact.known_phones import KnownPhone, KnownPhones, reach, reach_known
from handrail.android.discovery import Found, discover, server_of
from handrail.clock import Clock
from handrail.config import Config, canonical, host_port
from handrail.errors import AdbConnectionError, DeviceError, DeviceOffline, HandrailError, InvalidAction

NOTHING_HINT = (
    "Plug in a phone with USB debugging on, or run `handrail sim` and name its address with --device; "
    "--sim gives a command a phone of its own."
)


def choose(found: Sequence[Found], wanted: str | None = None, default: str | None = None) -> Found:
    """`wanted` is what the caller named, `default` is HANDRAIL_DEVICE; without either the only usable one."""
    if wanted:
        return _named(found, wanted, "--device")
    if default:
        return _named(found, default, "HANDRAIL_DEVICE")
    usable = [one for one in found if one.usable]
    if len(usable) == 1:
        return usable[0]
    raise _several(usable) if usable else _none(found)


def _named(found: Sequence[Found], wanted: str, source: str) -> Found:
    matches = match(found, wanted)
    if not matches:
        raise _unknown(found, wanted, source)
    if len(matches) > 1:
        raise InvalidAction(
            f"{wanted!r} ({source}) fits {len(matches)} devices: {_list(matches)}",
            hint="Give the whole serial of one of them.",
            path="device",
            devices=[one.to_dict() for one in matches],
        )
    if not matches[0].usable:
        raise _not_ready(matches)
    return matches[0]


def match(found: Sequence[Found], wanted: str) -> list[Found]:
    """The devices that a name fits by the strictest rule that fits any: whole, start, end, model."""
    name = wanted.casefold()
    model = _plain(wanted)
    rules: tuple[Callable[[Found], bool], ...] = (
        lambda one: one.serial == wanted,
        lambda one: one.identity == canonical(wanted),
        lambda one: one.serial.casefold().startswith(name) or one.serial.casefold().endswith(name),
        lambda one: bool(model) and _plain(one.model) == model,
        lambda one: bool(model) and model in _plain(one.model),
    )
    fitting = ([one for one in found if rule(one)] for rule in rules)
    return next(filter(None, fitting), [])


def _plain(model: str) -> str:
    """adb writes `Pixel_8` where the phone says `Pixel 8`."""
    return "".join(one for one in model.casefold() if one.isalnum())


def _list(found: Sequence[Found]) -> str:
    return "; ".join(str(one) for one in found)


def _several(usable: Sequence[Found]) -> HandrailError:
    return InvalidAction(
        f"{len(usable)} devices are ready, and none was named: {_list(usable)}",
        hint=f"Name one: --device {usable[0].serial}, or set HANDRAIL_DEVICE.",
        path="device",
        devices=[one.to_dict() for one in usable],
    )


def _none(found: Sequence[Found]) -> HandrailError:
    if found:
        return _not_ready(found)
    return AdbConnectionError("no device is connected", hint=NOTHING_HINT)


def _not_ready(found: Sequence[Found]) -> HandrailError:
    return DeviceOffline(
        f"not ready: {_list(found)}",
        hint=found[0].what_to_do,
        devices=[one.to_dict() for one in found],
    )


def _unknown(found: Sequence[Found], wanted: str, source: str) -> HandrailError:
    serials = [one.serial for one in found]
    near = difflib.get_close_matches(wanted, serials, 1)
    listed = f"connected: {_list(found)}" if found else "no device is connected"
    return AdbConnectionError(
        f"no device {wanted!r} ({source}); {listed}",
        hint=f"Did you mean {near[0]}?" if near else "See `handrail devices`." if found else NOTHING_HINT,
        devices=[one.to_dict() for one in found],
    )


async def pick(wanted: str | None, config: Config, clock: Clock, env: Mapping[str, str]) -> Found:
    """The device that is meant; an address means itself, and nobody else is asked for."""
    named = wanted or config.device
    if named and host_port(named):
        return Found(named, via="direct")
    listing = await discover(config, clock, env)
    try:
        return choose(listing.devices, wanted, config.device)
    except (AdbConnectionError, DeviceOffline) as error:
        if (serial := await reach_known(named, config, clock, env)) is not None:
            return Found(serial)
        if isinstance(error, DeviceOffline):
            raise
        message = "; ".join([error.message, *listing.notes])
        raise AdbConnectionError(message, hint=error.hint, **error.details) from None


async def open_device(serial: str, config: Config, clock: Clock, env: Mapping[str, str]) -> AdbDevice:
    """A whole serial. Addresses are opened without any adb; by the server where only it can."""
    if phone := next(iter(KnownPhones(config.home).named(serial)), None):
        return AdbDevice(_reviving(serial, phone, config, clock, env), clock)
    if place := host_port(serial):
        return await _open_address(serial, place, config, clock, env)
    server = server_of(config, clock, env)
    await server.start()
    return AdbDevice(server.link(serial), clock)


def _reviving(
    serial: str, phone: KnownPhone, config: Config, clock: Clock, env: Mapping[str, str]
) -> ServerLink:
    """A phone without a cable sleeps and moves to other networks: what is open on it goes on afterwards."""
    server, known = server_of(config, clock, env), KnownPhones(config.home)

    async def revive() -> str | None:
        await server.start()
        latest = next(iter(known.named(phone.guid or phone.name)), phone)
        return await reach(latest, known, server, clock)

    return server.link(serial, revive)


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
