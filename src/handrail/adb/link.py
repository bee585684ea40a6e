"""The seam between bytes and devices: a `Link` opens services on one device, a `Stream` is one of them.

Two things fill it: `direct` (a connection to adbd itself) and `server` (the adb server's smart socket).
Their errors carry `delivery`: "not_delivered" while no byte of the service can have reached the device,
"unknown" from then on.
"""

from __future__ import annotations

from typing import Protocol

ACCEPT_HINT = 'Unlock the phone and accept the debugging prompt (tick "always allow"), then try again.'


class Stream(Protocol):
    """One open service: bytes both ways. Several writers take turns, and so do several readers."""

    async def read(self) -> bytes:
        """What came next; b"" once the other side has closed. Raises `DeviceError` when the line broke."""

    async def write(self, data: bytes) -> None:
        """Sends when the other side has taken what was written before: a slow reader slows its writer.

        Raises `DeviceError` once the other side has closed.
        """

    async def close(self) -> None:
        """Hangs up; as often as one likes."""


class Link(Protocol):
    """One device. Reconnects by itself; a stream never outlives the connection it was opened on."""

    @property
    def serial(self) -> str: ...

    async def features(self) -> frozenset[str]:
        """What the device's banner offers, such as `shell_v2`."""

    async def open(self, service: str) -> Stream:
        """Raises `DeviceOffline`, `AdbConnectionError`, or `AdbCommandError` when the device refuses."""

    async def check(self) -> None:
        """Raises `DeviceOffline` or `AdbConnectionError` when the device can't be used at the moment."""

    async def close(self) -> None: ...
