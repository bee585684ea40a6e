"""Phones for a while: for the length of a block, or for as long as a program runs."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail_sim.adbd.auth import PublicKey
from handrail_sim.adbd.server import Served, serve
from handrail_sim.clock import SystemClock
from handrail_sim.faults import read_file
from handrail_sim.phone import Phone
from handrail_sim.system.profiles import become, take_on
from handrail_sim.system.properties import make_userdebug


@dataclass(frozen=True, slots=True)
class Kind:
    """What phones are to be: a profile, an Android, a maker."""

    profile: str | None = None
    android: int | None = None
    vendor: str | None = None


@asynccontextmanager
async def simulated_phone(
    *, seed: int = 1, apps: Sequence[str] | None = None, profile: str | None = None
) -> AsyncIterator[str]:
    phone = Phone(clock=SystemClock(), seed=seed, apps=apps)
    _shape(phone, Kind(profile))
    async with serve([phone], port=0) as [served]:
        yield served.address


def make_phones(
    count: int,
    *,
    seed: int = 1,
    apps: Sequence[str] | None = None,
    faults: Path | None = None,
    first_port: int | None = None,
    userdebug: bool = False,
    kind: Kind | None = None,
) -> list[Phone]:
    """Phones with seeds in a row; an emulator is named after its console, the port below its ADB port."""
    entries = [] if faults is None else read_file(faults)
    phones = []
    for number in range(count):
        serial = "handrail-sim" if number == 0 else f"handrail-sim-{number + 1}"
        if first_port is not None:
            serial = f"emulator-{first_port + 2 * number - 1}"
        phone = Phone(clock=SystemClock(), seed=seed + number, serial=serial, apps=apps)
        _shape(phone, kind or Kind())
        phone.faults.load(entries)
        if userdebug:
            make_userdebug(phone.props)
        phones.append(phone)
    return phones


def _shape(phone: Phone, kind: Kind) -> None:
    if kind.profile is not None:
        take_on(phone, kind.profile)
    if kind.android is not None or kind.vendor is not None:
        become(phone, android=kind.android, vendor=kind.vendor)


async def run(
    phones: list[Phone], host: str, port: int, *, auth: bool, emulator: bool, web: str = "own"
) -> None:
    """Serve until a signal comes; a line of JSON for each phone that is ready. `web` may be chromium."""
    stop = _stop_signal()
    async with AsyncExitStack() as stack:
        if web == "chromium":
            from handrail_sim.channels.web import web_by_chromium  # noqa: PLC0415 - by flag only

            await stack.enter_async_context(web_by_chromium(phones, os.environ))
        served = await stack.enter_async_context(serve(phones, host, port, auth=auth, emulator=emulator))
        for entry in served:
            _watch_keys(entry)
        if auth:
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, _accept_all, served)
        for entry in served:
            _say(entry.describe())
        await stop.wait()


async def run_iphones(
    count: int, host: str, port: int | None, *, seed: int, apps: Sequence[str] | None, faults: Path | None
) -> None:
    """iPhones until a signal comes: WebDriverAgent from port 8100 on, or from this one; 0 is any port."""
    from handrail_sim.iphone.doors import (  # noqa: PLC0415 - by flag only
        MJPEG_PORT,
        WDA_PORT,
        make_iphone,
        serve_iphone,
    )

    stop = _stop_signal()
    entries = [] if faults is None else read_file(faults)
    async with AsyncExitStack() as stack:
        for number in range(count):
            phone = make_iphone(clock=SystemClock(), seed=seed + number, apps=apps)
            first = (WDA_PORT if port is None else port) + number if port != 0 else 0
            pictures = first + MJPEG_PORT - WDA_PORT if first else 0
            served = await stack.enter_async_context(serve_iphone(phone, host, first, mjpeg_port=pictures))
            phone.faults.load(entries)
            _say(served.describe())
        await stop.wait()


def _stop_signal() -> asyncio.Event:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop


def ease_collection() -> None:
    """Look for circles less often: what a phone throws away goes without that, and what it was made of stays.

    For a program that does nothing else; a library must not decide this for others.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _watch_keys(served: Served) -> None:
    def tell(key: PublicKey) -> None:
        _say({"serial": served.phone.serial, "waiting_key": key.name, "fingerprint": key.fingerprint})

    if served.adbd.keys is not None:
        served.adbd.keys.on_ask(tell)


def _accept_all(served: list[Served]) -> None:
    for entry in served:
        if entry.adbd.keys is not None:
            entry.adbd.keys.accept()


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)  # noqa: T201  (a program reads this line by line)
