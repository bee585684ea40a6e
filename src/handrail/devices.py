"""All devices of this computer, whatever their kind, and the one that a name means. Opens none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from handrail.android import discovery as android
from handrail.android.choose import pick as pick_android
from handrail.clock import Clock
from handrail.config import Config, host_port, named_kind
from handrail.ios.discovery import discover_iphones, place_of, watch_iphones
from handrail.local_socket import ask_open_phones
from handrail.surface.listing import DiscoveredDevice, Listing
from handrail.waiting import Background

Devices = tuple[DiscoveredDevice, ...]


async def list_open_phones(config: Config) -> dict[str, dict[str, Any]]:
    """What all running Handrails of this home have open, simulated phones too, by serial."""
    home = str(config.home)
    answers = [await asyncio.to_thread(ask_open_phones, home, name) for name in ("daemon", "desk")]
    return {str(phone["serial"]): phone for phones in answers for phone in phones}


async def discover(config: Config, clock: Clock, env: Mapping[str, str]) -> Listing:
    """Android phones, iPhones, what only a running Handrail knows. Browsers are started by their names."""
    phones, iphones, opened = await asyncio.gather(
        android.discover(config, clock, env), discover_iphones(clock, env), list_open_phones(config)
    )
    reachable = [*phones.devices, *iphones.devices]
    others = _beside(reachable, opened)
    return Listing(tuple(android.merge([*reachable, *others])), (*phones.notes, *iphones.notes))


def _beside(reachable: Sequence[DiscoveredDevice], opened: Mapping[str, Any]) -> list[DiscoveredDevice]:
    listed = {device.identity for device in reachable}
    rows = [
        DiscoveredDevice(serial, via="handrail", model=str(phone.get("model", "")))
        for serial, phone in opened.items()
        if named_kind(serial) != "browser"
    ]
    return [device for device in rows if device.identity not in listed]


async def watch(config: Config, clock: Clock, env: Mapping[str, str]) -> AsyncGenerator[Devices, None]:
    """Yields the complete list now and after every change. Never ends by itself; close it."""
    by_kind: dict[int, Devices] = {}
    changed = asyncio.Event()

    async def follow(kind: int, lists: AsyncGenerator[Devices, None]) -> None:
        async with aclosing(lists):
            async for devices in lists:
                by_kind[kind] = devices
                changed.set()

    async with Background() as following:
        kinds = (android.watch(config, clock, env), watch_iphones(clock, env))
        tasks = [
            following.start(follow(kind, lists), "devices", log_failure=False)
            for kind, lists in enumerate(kinds)
        ]
        for task in tasks:
            task.add_done_callback(lambda _: changed.set())
        while True:
            await changed.wait()
            changed.clear()
            for task in tasks:
                if task.done():
                    task.result()
            if len(by_kind) == len(kinds):
                yield tuple(device for kind in sorted(by_kind) for device in by_kind[kind])


async def pick(wanted: str | None, config: Config, clock: Clock, env: Mapping[str, str]) -> DiscoveredDevice:
    """The named device, else HANDRAIL_DEVICE, else the only usable one. A whole name is taken as it is."""
    name = wanted or config.device or ""
    if name == "ios":
        name = (await place_of(name, clock, env)).name
    if named_kind(name) or host_port(name):
        return DiscoveredDevice(name, via="direct")
    iphones, opened = await asyncio.gather(discover_iphones(clock, env), list_open_phones(config))
    beside = (*iphones.devices, *_beside(iphones.devices, opened))
    return await pick_android(wanted, config, clock, env, beside)
