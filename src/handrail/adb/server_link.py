"""One device of an adb server, as a `Link`. Knows requests, not how the server is found or started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handrail.adb.line import too_long
from handrail.adb.refusal import refusal
from handrail.adb.smart_socket import REQUEST_MAX, SmartSocket

if TYPE_CHECKING:
    from handrail.adb.server import Server


class ServerLink:
    """A `Link` to one device of a server: a socket per service."""

    def __init__(self, server: Server, serial: str) -> None:
        self._server = server
        self._serial = serial
        self._features: frozenset[str] | None = None

    @property
    def serial(self) -> str:
        return self._serial

    async def features(self) -> frozenset[str]:
        """Asked once: they come from the device's build."""
        if self._features is None:
            said = await self._server.ask(f"host-serial:{self._serial}:features", self._serial)
            self._features = frozenset(said.split(","))
        return self._features

    async def open(self, service: str) -> SmartSocket:
        if (size := len(service.encode("utf-8", "surrogateescape"))) > REQUEST_MAX:
            raise too_long(size, REQUEST_MAX)
        return await self._server.dial([f"host:transport:{self._serial}", service], self._serial)

    async def check(self) -> None:
        state = await self._server.ask(f"host-serial:{self._serial}:get-state", self._serial)
        if state != "device":
            raise refusal(f"device {state}", "get-state", self._serial)

    async def close(self) -> None:
        """Nothing is kept open."""
