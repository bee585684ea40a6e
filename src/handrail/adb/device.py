"""One device: shell, files and services."""

from __future__ import annotations

from handrail.adb.adb_shell import AdbShell
from handrail.adb.files import Files
from handrail.adb.link import Link, Stream
from handrail.adb.shell import DeviceShell
from handrail.clock import Clock, SystemClock


class AdbDevice:
    """One device: shell, files and services over a `Link`."""

    def __init__(self, link: Link, clock: Clock | None = None) -> None:
        clock = clock or SystemClock()
        self.link = link
        self.shell: DeviceShell = AdbShell(link, clock)
        self.files = Files(link, clock)

    @property
    def serial(self) -> str:
        return self.link.serial

    async def open(self, service: str) -> Stream:
        """Any service of adbd: `tcp:9008`, `localabstract:NAME`, `reboot:`."""
        return await self.link.open(service)

    async def close(self) -> None:
        await self.link.close()
