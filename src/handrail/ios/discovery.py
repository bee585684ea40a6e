"""Which iPhones there are, what their names mean, and why one can't be used.

`ios:UDID` is an iPhone on a cable or a simulator, `ios:simulator-NAME` a simulator of this Mac, and
`ios:http://host:8100` a WebDriverAgent anywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal
from urllib.parse import urlsplit

from handrail.clock import Clock
from handrail.config import wda_port
from handrail.errors import HandrailError, InvalidAction, IosConnectionError, Timeout
from handrail.ios.programs import Simulator, list_simulators
from handrail.ios.usbmux import UsbIphone, Usbmux
from handrail.ios.wda import Dial, Wda
from handrail.surface.listing import DiscoveredDevice, Listing
from handrail.waiting import Background, Deadline, Expired

PROBE_MS = 3_000.0
EVERY_MS = 3_000.0
"""How often a watcher asks again: nobody tells that a WebDriverAgent was started."""
HOST = "127.0.0.1"
QUICKSTART = "docs/quickstart/iphone.md"
EXPERIMENTAL = "iPhones are experimental: not run on Apple hardware by us"
_OLD_TUNNEL = ((17, 0), (17, 4))
"""Versions whose developer services need a tunnel that only root can open."""


@dataclass(frozen=True, slots=True)
class IosPlace:
    """Where one iPhone's WebDriverAgent is."""

    name: str
    """As `--device` names it."""
    kind: Literal["usb", "simulator", "http"]
    udid: str
    dial: Dial
    simulator: Simulator | None = None


async def place_of(name: str, clock: Clock, env: Mapping[str, str]) -> IosPlace:
    """Raises `InvalidAction` for a name that is none, `IosConnectionError` for what is not there."""
    _, _, address = name.partition(":")
    port = wda_port(env)
    if address.startswith(("http://", "https://")):
        return IosPlace(name, "http", "", _address(name, address))
    usb, udid = Usbmux(env, clock), address
    simulators = await list_simulators(clock, env)
    if address.startswith("simulator-"):
        wanted = address.removeprefix("simulator-")
        named = [simulator for simulator in simulators if wanted in (simulator.name, simulator.udid)]
        chosen = next((simulator for simulator in named if simulator.booted), None)
        if chosen is None:
            raise _no_simulator(wanted, named, simulators)
        return _simulator_place(name, chosen, port)
    by_udid = next((simulator for simulator in simulators if simulator.udid == address), None)
    if by_udid is not None:
        return _simulator_place(name, by_udid, port)
    if not address:
        booted = [simulator for simulator in simulators if simulator.booted]
        phones = [] if booted else await usb.iphones()
        if len(phones) + len(booted) != 1:
            raise IosConnectionError(
                f"{len(phones) + len(booted)} iPhones are there, and none was named",
                hint="Name one: --device ios:UDID; `handrail devices` lists them.",
            )
        if booted:
            return _simulator_place(f"ios:simulator-{booted[0].name}", booted[0], port)
        udid = phones[0].udid
    return IosPlace(f"ios:{udid}", "usb", udid, partial(usb.connect, udid, port))


def _address(name: str, url: str) -> Dial:
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port or 8100
    except ValueError:
        host, port = None, 0
    if not host or parts.scheme != "http" or parts.path.strip("/") or parts.username:
        raise InvalidAction(
            f"{name} names no WebDriverAgent", hint="Give ios:http://HOST:8100.", path="device"
        )
    return partial(dial, host, port)


def _simulator_place(name: str, simulator: Simulator, port: int) -> IosPlace:
    return IosPlace(name, "simulator", simulator.udid, partial(dial, HOST, port), simulator)


async def dial(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        return await asyncio.open_connection(host, port)
    except OSError as error:
        raise IosConnectionError(
            f"No WebDriverAgent answers at {host}:{port}: {error.strerror or error}",
            hint=f"Start it: {QUICKSTART}.",
            reason="refused",
            delivery="not_delivered",
        ) from None


def _no_simulator(wanted: str, named: Sequence[Simulator], there: Sequence[Simulator]) -> IosConnectionError:
    if named:
        return IosConnectionError(
            f"The simulator {wanted} is not booted", hint=f'Boot it: `xcrun simctl boot "{wanted}"`.'
        )
    names = ", ".join(simulator.name for simulator in there[:8]) or "none: there is no Xcode here"
    return IosConnectionError(
        f"There is no simulator {wanted!r}; there are: {names}", hint="Name one of them."
    )


async def discover_iphones(clock: Clock, env: Mapping[str, str]) -> Listing:
    """iPhones on cables and booted simulators, each asked whether its WebDriverAgent answers.

    A missing usbmuxd is no note: most computers have no iPhone.
    """
    usb, port = Usbmux(env, clock), wda_port(env)
    try:
        phones = await usb.iphones()
    except IosConnectionError as error:
        phones = []
        is_named = bool(env.get("USBMUXD_SOCKET_ADDRESS", "").strip())
        notes = (f"{error.message}. {error.hint}",) if is_named else ()
    else:
        notes = ()
    simulators = [simulator for simulator in await list_simulators(clock, env) if simulator.booted]
    devices = await asyncio.gather(
        *(_probe_phone(phone, usb, port, clock) for phone in phones),
        *(_probe_simulator(simulator, port, clock) for simulator in simulators),
    )
    return Listing(tuple(devices), (*notes, EXPERIMENTAL) if devices else notes)


async def watch_iphones(
    clock: Clock, env: Mapping[str, str]
) -> AsyncGenerator[tuple[DiscoveredDevice, ...], None]:
    """Yields all of them now and after every change. Never ends by itself; close it."""
    changed = asyncio.Event()
    last: tuple[DiscoveredDevice, ...] | None = None

    async def listen() -> None:
        while True:
            with suppress(IosConnectionError):
                async with aclosing(Usbmux(env, clock).changes()) as changes:
                    async for _ in changes:
                        changed.set()
            await clock.sleep_ms(EVERY_MS)

    async with Background() as listening:
        listening.start(listen(), "iPhones that come and go")
        while True:
            changed.clear()
            now = (await discover_iphones(clock, env)).devices
            if now != last:
                last = now
                yield now
            with suppress(Expired):
                async with Deadline(clock, EVERY_MS):
                    await changed.wait()


async def _probe_phone(phone: UsbIphone, usb: Usbmux, port: int, clock: Clock) -> DiscoveredDevice:
    name = f"ios:{phone.udid}"
    try:
        version = await _status_version(Wda(partial(usb.connect, phone.udid, port), clock, name))
    except HandrailError as error:
        values = await usb.lockdown_values(phone.udid)
        model = values.get("ProductType") or "iPhone"
        reason, remedy = await _why_not(error, phone, usb, values)
        return DiscoveredDevice(name, "offline", "direct", model, reason=reason, remedy=remedy)
    return DiscoveredDevice(name, via="direct", model=f"iPhone, iOS {version}" if version else "iPhone")


async def _why_not(
    error: HandrailError, phone: UsbIphone, usb: Usbmux, values: Mapping[str, str]
) -> tuple[str, str]:
    """Why an iPhone's WebDriverAgent does not answer, and the one thing to do."""
    if await usb.is_trusted(phone.udid) is False:
        return "it does not trust this computer", "Unlock the iPhone and tap Trust on its screen."
    version = values.get("ProductVersion", "")
    number = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if number and _OLD_TUNNEL[0] <= number < _OLD_TUNNEL[1]:
        return (
            f"iOS {version} lets WebDriverAgent be started only through a tunnel that needs root",
            "Update the iPhone to iOS 17.4 or later.",
        )
    if error.details.get("reason") == "refused":
        if values.get("DeveloperModeStatus") == "False":
            remedy = "Settings → Privacy & Security → Developer Mode: on; the iPhone starts anew."
            return "no WebDriverAgent runs on it, and its Developer Mode is off", remedy
        return (
            "no WebDriverAgent runs on it",
            f"Start it as {QUICKSTART} says. If it ended at once: its signature is missing or has expired "
            "(7 days with a free Apple ID), or Developer Mode is off.",
        )
    if isinstance(error, Timeout):
        return (
            "its WebDriverAgent accepts connections and answers nothing",
            f"Unlock the iPhone and start WebDriverAgent again: {QUICKSTART}.",
        )
    return error.message, error.hint


async def _probe_simulator(simulator: Simulator, port: int, clock: Clock) -> DiscoveredDevice:
    name, model = f"ios:simulator-{simulator.name}", f"{simulator.name}, {simulator.runtime}"
    try:
        await _status_version(Wda(partial(dial, HOST, port), clock, name))
    except HandrailError as error:
        is_other = "no WebDriver JSON" in error.message
        reason = f"port {port} is taken by another program" if is_other else "no WebDriverAgent runs on it"
        remedy = f"Start it as {QUICKSTART} says" + (
            ", with USE_PORT=8101, and set HANDRAIL_WDA_PORT=8101." if is_other else "."
        )
        return DiscoveredDevice(name, "offline", "direct", model, reason=reason, remedy=remedy)
    return DiscoveredDevice(name, via="direct", model=model)


async def _status_version(wda: Wda) -> str:
    try:
        system = (await wda.status(PROBE_MS)).get("os")
    finally:
        await wda.close()
    return str(system.get("version", "")) if isinstance(system, dict) else ""
