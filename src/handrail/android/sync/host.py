"""A port of this machine in the shape of a phone's: what is spoken over adb streams can be spoken to it."""

from __future__ import annotations

import asyncio

from handrail.android.sync.lost import ChannelLost

CHUNK = 64 << 10


class HostTcp:
    """Opens the same address whichever service is named: the port is the one that was configured."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    async def open(self, service: str) -> TcpStream:
        """`service` is what the phone would have been asked for."""
        try:
            reader, writer = await asyncio.open_connection(self.host, self.port)
        except OSError as error:
            reason = f"{self.host}:{self.port} can't be reached for {service}: {error.strerror or error}"
            raise ChannelLost(reason) from None
        return TcpStream(reader, writer)


class TcpStream:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        try:
            return await self._reader.read(CHUNK)
        except OSError as error:
            raise ChannelLost(f"the connection broke: {error}") from None

    async def write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise ChannelLost(f"the connection broke: {error}") from None

    async def close(self) -> None:
        """At once: what the other side has not taken by now it need not have."""
        self._writer.transport.abort()
        try:
            await self._writer.wait_closed()
        except OSError:
            return
