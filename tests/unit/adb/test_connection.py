"""Peers that a simulated phone never is: old ones, impolite ones, ones that start anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from handrail.adb.direct import Direct
from handrail.adb.wire import MAX_PAYLOAD, VERSION, Auth, Command, Packet, Parser, encode
from handrail.errors import DeviceOffline
from tests.cases import each

BANNER = b"device::ro.product.name=old;features=cmd"


class Peer:
    """The device's end of one connection, one packet at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._parser = Parser(MAX_PAYLOAD, summed=True)
        self._got: list[Packet] = []
        self.summed = False

    async def packet(self) -> Packet:
        """The next packet; checksums are looked at, and all that come are right."""
        while not self._got:
            data = await self._reader.read(65536)
            if not data:
                raise EOFError
            self._got += self._parser.feed(data)
        return self._got.pop(0)

    def send(self, command: int, arg0: int, arg1: int, payload: bytes = b"") -> None:
        self._writer.write(encode(Packet(command, arg0, arg1, payload), summed=self.summed))

    async def welcome(self, version: int = VERSION, limit: int = MAX_PAYLOAD) -> Packet:
        hello = await self.packet()
        self._parser.summed = self.summed = version < VERSION
        self.send(Command.CNXN, version, limit, BANNER)
        return hello

    def raw(self, data: bytes) -> None:
        self._writer.write(data)


@asynccontextmanager
async def peer(act: Callable[[Peer], Awaitable[None]]) -> AsyncIterator[Direct]:
    """A device that does what it is told, and the link to it."""
    failures: list[Exception] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await act(Peer(reader, writer))
            while await reader.read(65536):
                pass
        except (EOFError, ConnectionError):
            pass
        except AssertionError as failure:
            failures.append(failure)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    link = Direct("127.0.0.1", server.sockets[0].getsockname()[1], patience_ms=5_000)
    try:
        yield link
    finally:
        await link.close()
        server.close()
        await server.wait_closed()
        await asyncio.sleep(0)
    assert not failures


@each(
    ("answer", "why"),
    [
        (b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "does not speak ADB"),
        (encode(Packet(Command.STLS, 0x01000000, 0)), "requires TLS"),
        (encode(Packet(Command.AUTH, Auth.TOKEN, 0, bytes(19))), "its token has 19 bytes"),
        (encode(Packet(Command.AUTH, Auth.TOKEN, 0, bytes(21))), "its token has 21 bytes"),
    ],
)
def test_something_else_at_the_port_is_recognised(answer: bytes, why: str) -> None:
    async def act(device: Peer) -> None:
        device.raw(answer)

    async def story() -> None:
        async with peer(act) as link:
            with pytest.raises(DeviceOffline, match=why):
                await link.open("exec:echo")

    asyncio.run(story())
