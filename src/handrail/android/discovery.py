"""Lists devices: those of the adb server and those at configured addresses, each phone once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from functools import partial

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.server import Listed, Server
from handrail.adb.shell import Script
from handrail.clock import Clock
from handrail.config import EMULATED, LOOPBACK, Config, canonical, host_port
from handrail.errors import AdbConnectionError, DeviceError, InvalidAction, OutcomeError
from handrail.local_socket import phones_open_in_daemon
from handrail.surface.listing import STATES, USABLE, DiscoveredDevice, Listing
from handrail.waiting import Background

PROBE_MS = 3_000
"""A device at an address that does not answer within this time is listed as offline."""
PROPERTIES = Script("getprop ro.product.model; getprop ro.product.name")


async def discover(config: Config, clock: Clock, env: Mapping[str, str]) -> Listing:
    """Starts an adb server if there is a binary and no server runs."""
    served, direct = await asyncio.gather(
        list_server(server_of(config, clock, env)), probe_all(config, clock)
    )
    return Listing(tuple(merge([*direct, *served.devices])), served.notes)


def server_of(config: Config, clock: Clock, env: Mapping[str, str]) -> Server:
    return Server(config.adb_host, config.adb_port, env=env, clock=clock)


def merge(all_devices: Iterable[DiscoveredDevice]) -> list[DiscoveredDevice]:
    """Each phone once, by its best entry: usable, then direct, then the emulator's own serial."""
    best: dict[str, DiscoveredDevice] = {}
    for device in all_devices:
        previous = best.setdefault(device.identity, device)
        if _rank(device) < _rank(previous):
            best[device.identity] = device
    return sorted(best.values(), key=lambda device: (not device.usable, device.serial))


def _rank(device: DiscoveredDevice) -> tuple[bool, bool, bool]:
    return not device.usable, device.via != "direct", device.transport != "emulator"


async def list_server(server: Server) -> Listing:
    """A server that can't be started becomes a note."""
    try:
        await server.start()
        return Listing(tuple(map(from_server, await server.devices())))
    except DeviceError as error:
        return Listing((), (f"{error.message}. {error.hint}",))


def from_server(listed: Listed) -> DiscoveredDevice:
    model, product = (listed.props.get(name, "") for name in ("model", "product"))
    return DiscoveredDevice(listed.serial, state_of(listed.state), "server", model, product)


async def probe_all(config: Config, clock: Clock) -> list[DiscoveredDevice]:
    """Devices at the configured addresses, and those that the daemon of this home has open."""
    opened = [serial for serial in phones_open_in_daemon(str(config.home)) if host_port(serial)]
    places = {canonical(address): address for address in (*opened, *addresses(config))}
    return await asyncio.gather(*(probe(address, clock) for address in places.values()))


def addresses(config: Config) -> tuple[str, ...]:
    """HANDRAIL_DEVICES, and HANDRAIL_DEVICE if it is an address."""
    named = (config.device,) if config.device and host_port(config.device) else ()
    return tuple(dict.fromkeys((*config.devices, *named)))


async def probe(serial: str, clock: Clock) -> DiscoveredDevice:
    """Connects directly; a failure becomes the device's state."""
    place = host_port(serial)
    if place is None:
        raise InvalidAction(f"{serial!r} is not a valid address", hint="Give host:port.", path="device")
    link = Direct(*place, clock=clock, patience_ms=PROBE_MS)
    try:
        await link.features()
        output = await AdbDevice(link, clock).shell.run(PROPERTIES, timeout_ms=PROBE_MS, check=False)
    except (DeviceError, OutcomeError) as error:
        state, remedy = str(error.details.get("state", "offline")), error.hint
        if isinstance(error, AdbConnectionError):
            host, port = place
            if host.lower() not in LOOPBACK:
                remedy = f"With the phone on a cable, run `adb tcpip {port}`; both must be on one network."
            elif port in EMULATED:
                remedy = f"Start the emulator, or run `handrail sim --emulator --port {port}`."
            else:
                remedy = f"Run `handrail sim --port {port}`, or take the address out of HANDRAIL_DEVICES."
        return DiscoveredDevice(serial, state, "direct", reason=error.message, remedy=remedy)
    finally:
        await link.close()
    model, product = (*output.text.splitlines(), "", "")[:2]
    return DiscoveredDevice(serial, "device", "direct", model.strip(), product.strip())


def state_of(words: str) -> str:
    """Some versions append an explanation to the state."""
    return next((state for state in (USABLE, *STATES) if f"{words} ".startswith(f"{state} ")), words)


EVERY_MS = 2_000.0
"""Pause between two rounds of probing addresses."""
FIRST_PAUSE_MS, LONGEST_PAUSE_MS = 250.0, 8_000.0
"""Pause between attempts to reach an adb server that ended."""


async def watch(
    config: Config, clock: Clock, env: Mapping[str, str]
) -> AsyncGenerator[tuple[DiscoveredDevice, ...], None]:
    """Yields the complete list now and after every change. Never ends by itself; close it."""
    changed = asyncio.Event()
    by_source: dict[str, Sequence[DiscoveredDevice]] = {}
    last: tuple[DiscoveredDevice, ...] | None = None

    def report(source: str, devices: Sequence[DiscoveredDevice]) -> None:
        by_source[source] = devices
        changed.set()

    async def ask_addresses() -> None:
        while True:
            report("addresses", await probe_all(config, clock))
            if not addresses(config):
                await asyncio.Event().wait()
            await clock.sleep_ms(EVERY_MS)

    async with Background() as asking:
        server = _follow_server(server_of(config, clock, env), clock, partial(report, "server"))
        tasks = [
            asking.start(server, "devices of the adb server", log_failure=False),
            asking.start(ask_addresses(), "devices by address", log_failure=False),
        ]
        for task in tasks:
            task.add_done_callback(lambda _: changed.set())
        while True:
            await changed.wait()
            changed.clear()
            for task in tasks:
                if task.done():
                    task.result()
            if len(by_source) == len(tasks):
                now = tuple(merge([*by_source["addresses"], *by_source["server"]]))
                if now != last:
                    last = now
                    yield now


async def _follow_server(
    server: Server, clock: Clock, report: Callable[[Sequence[DiscoveredDevice]], None]
) -> None:
    """Starts the server only once: somebody who kills it later has a reason."""
    report((await list_server(server)).devices)
    pause = FIRST_PAUSE_MS
    while True:
        try:
            async for listed in server.track():
                pause = FIRST_PAUSE_MS
                report([from_server(device) for device in listed])
        except DeviceError:
            pause = min(pause * 2, LONGEST_PAUSE_MS)
        report([])
        await clock.sleep_ms(pause)
