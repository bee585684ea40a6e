"""The interface between connections and devices: a `Link` opens services, a `Stream` is one of them.

It has two implementations: `direct` (a connection to adbd) and `server` (the adb server's smart socket).
Their errors carry `delivery`: "not_delivered" while no byte of the service can have reached the device,
"unknown" from then on.
"""

from __future__ import annotations

from typing import Protocol

ACCEPT_HINT = 'Unlock the phone and accept the debugging prompt (tick "always allow"), then try again.'


class Stream(Protocol):
    """One open service: bytes both ways. Concurrent writers are serialised, and so are readers."""

    async def read(self) -> bytes:
        """The next bytes; b"" once the other side has closed. A broken connection raises `DeviceError`."""

    async def write(self, data: bytes) -> None:
        """Waits until the other side has taken what was written before.

        Raises `DeviceError` once the other side has closed.
        """

    async def close(self) -> None:
        """May be called repeatedly."""


class Link(Protocol):
    """One device. Reconnects by itself; a stream never outlives the connection it was opened on."""

    @property
    def serial(self) -> str: ...

    async def features(self) -> frozenset[str]:
        """Features of the device's banner, such as `shell_v2`."""

    async def open(self, service: str) -> Stream:
        """Raises `DeviceOffline`, `AdbConnectionError`, or `AdbCommandError` if the device refuses."""

    async def check(self) -> None:
        """Raises `DeviceOffline` or `AdbConnectionError` if the device can't be used now."""

    async def close(self) -> None: ...
