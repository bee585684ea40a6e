"""A simulated phone on a real port and our client to it; whoever leaves something open fails here."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.link import Link, Stream
from handrail.android.uiautomator2 import release
from handrail.clock import SystemClock
from handrail.errors import HandrailError
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone

CONTACTS = "com.google.android.contacts"


class CountedStream:
    """Tells its link when it is closed."""

    def __init__(self, stream: Stream, link: CountingLink) -> None:
        self.read = stream.read
        self.write = stream.write
        self._stream = stream
        self._link = link

    async def close(self) -> None:
        self._link.streams.discard(self)
        await self._stream.close()


class CountingLink:
    """Knows which streams are open."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.serial = link.serial
        self.features = link.features
        self.close = link.close
        self.streams: set[CountedStream] = set()
        self.opened: list[str] = []

    async def open(self, service: str) -> Stream:
        self.opened.append(service)
        stream = CountedStream(await self._link.open(service), self)
        self.streams.add(stream)
        return stream


@dataclass(frozen=True)
class Bench:
    """What a story works with."""

    phone: Phone
    device: AdbDevice
    link: CountingLink
    clock: SystemClock
    said: list[str]

    def touches(self) -> list[tuple[str, float, float, int]]:
        """What fingers did, in order."""
        log = [one for one in self.phone.input_log if "pointer" in one]
        return [(one["action"], one["x"], one["y"], one["pointer"]) for one in log]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for a state of the phone."""
        async with asyncio.timeout(60):
            while not holds():
                await asyncio.sleep(0.005)


@asynccontextmanager
async def bench(*, port: int = 0, emulator: bool = False) -> AsyncIterator[Bench]:
    """A phone and a device; at the end no stream, no server on the phone and no task may be left."""
    before = asyncio.all_tasks()
    clock = SystemClock()
    phone = Phone(clock=clock)
    async with serve([phone], port=port, emulator=emulator) as (one,):
        link = CountingLink(Direct(one.host, one.port, clock=clock))
        device = AdbDevice(link, clock)
        made = Bench(phone, device, link, clock, [])
        try:
            yield made
            assert not link.streams
            with suppress(HandrailError):  # the u2 server stays until somebody says so
                await release(device)
            await made.until(lambda: not phone.ports)
        finally:
            await device.close()
    await made.until(lambda: asyncio.all_tasks() == before)


def play(story: Callable[[Bench], Awaitable[None]], **options: Any) -> None:
    """Run a story on a fresh phone."""

    async def run() -> None:
        async with asyncio.timeout(60), bench(**options) as made:
            await story(made)

    asyncio.run(run())


def put_apk(folder: Path, package: str, code: int = 1, *, padding: int = 0) -> Path:
    """A file of an APK's shape."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        text = f'<manifest package="{package}" android:versionCode="{code}" android:versionName="{code}.0"/>'
        archive.writestr("AndroidManifest.xml", text + " " * padding)
    path = folder / f"{package.replace('.', '-')}.apk"
    path.write_bytes(made.getvalue())
    return path
