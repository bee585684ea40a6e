"""A connection without a socket: packets are put in, and what it sends is taken out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from handrail.adb.direct import AdbdConnection, DirectStream
from handrail.adb.wire import MAX_PAYLOAD, VERSION, Command, Packet, Parser, encode
from tests.unit.adb.wires import Transport, now, turns

NAME = "phone:5555"
BANNER = b"device::ro.product.name=old;features=cmd,shell_v2"
WELCOME = Packet(Command.CNXN, VERSION, MAX_PAYLOAD, BANNER)


class Key(NamedTuple):
    """A key whose signatures can be read."""

    name: str

    def sign(self, token: bytes) -> bytes:
        return f"{self.name} signs ".encode() + token

    def public(self) -> bytes:
        return f"{self.name} in public".encode()


class Lone:
    """The connection and its wire."""

    def __init__(self, keys: Callable[[], Sequence[Any]]) -> None:
        self.transport = Transport()
        self.connection = AdbdConnection(NAME, keys)
        self.connection.connection_made(self.transport)
        self.summed = False

    def comes(self, *packets: Packet) -> None:
        """All of them in one read."""
        data = b"".join(encode(Packet(*packet), summed=self.summed) for packet in packets)
        self.connection.data_received(data)

    def sent(self) -> list[Packet]:
        """What was written since the last time."""
        return list(Parser(MAX_PAYLOAD, summed=self.summed).feed(self.transport.took()))

    async def opened(self, service: str = "tcp:1", remote: int = 7) -> DirectStream:
        """A stream that the device has taken."""
        opening = asyncio.ensure_future(self.connection.open(service))
        await turns()
        (packet,) = self.sent()
        self.comes(Packet(Command.OKAY, remote, packet.arg0))
        return await now(opening)


@asynccontextmanager
async def connected(
    welcome: Packet | None = WELCOME, keys: Callable[[], Sequence[Any]] = list
) -> AsyncIterator[Lone]:
    """A connection that the device has welcomed."""
    lone = Lone(keys)
    if welcome is not None:
        lone.comes(welcome)
        lone.transport.took()
    yield lone
