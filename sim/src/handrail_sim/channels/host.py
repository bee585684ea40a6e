"""A port of this machine for something that otherwise listens inside the phone. Knows no protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from handrail_sim.stream import Stream
from handrail_sim.waiting import Background

CHUNK = 65536
Serve = Callable[[Stream, int], Awaitable[None]]
"""One connection, and the port it came to."""


@asynccontextmanager
async def listening(serve: Serve, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
    """Listen while the block runs; gives the port. Open connections are cut at its end."""
    held = Background()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.start(_served(serve, _Socket(reader, writer), bound), "a connection to the phone")

    server = await asyncio.start_server(connected, host, port)
    bound: int = server.sockets[0].getsockname()[1]
    try:
        yield bound
    finally:
        server.close()
        await held.close()
        await server.wait_closed()


async def _served(serve: Serve, stream: _Socket, port: int) -> None:
    try:
        await serve(stream, port)
    finally:
        await stream.gone()


class _Socket:
    """A TCP connection as a stream."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        try:
            return await self._reader.read(CHUNK)
        except ConnectionError:
            return b""

    async def write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError:
            raise BrokenPipeError from None

    def close(self) -> None:
        self._writer.close()

    async def gone(self) -> None:
        self.close()
        try:
            await self._writer.wait_closed()
        except ConnectionError:
            return
