"""A host on the other end of a connection, one packet at a time, so that tests say exactly what is sent."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from handrail_sim.adbd.connection import Connection
from handrail_sim.adbd.daemon import Adbd
from handrail_sim.adbd.wire import MAX_PAYLOAD, VERSION, Command, Packet, Parser, encode

BANNER = b"host::features=shell_v2,cmd,stat_v2,ls_v2,sendrecv_v2"


class Wire(asyncio.Transport):
    """The socket under a connection, in memory; what the phone sends is kept for the test."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = bytearray()
        self.closed = False
        self.reading = True

    def write(self, data: Any) -> None:
        assert not self.closed
        self.sent += data

    def is_closing(self) -> bool:
        return self.closed

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True


class Host:
    """Sends packets to a connection and reads what comes back."""

    def __init__(self, adbd: Adbd) -> None:
        self.wire = Wire()
        self.connection: Connection = adbd.connection()
        self.connection.connection_made(self.wire)
        self._parser = Parser(MAX_PAYLOAD)
        self._got: deque[Packet] = deque()

    def send(self, command: int, arg0: int, arg1: int, payload: bytes = b"") -> None:
        self.raw(encode(Packet(command, arg0, arg1, payload)))

    def raw(self, data: bytes) -> None:
        if not self.wire.closed:
            self.connection.data_received(data)
        if self.wire.closed:
            self.connection.connection_lost(None)

    async def packets(self) -> list[Packet]:
        """All that came, once the phone has nothing more to do."""
        await settle()
        self._got.extend(self._parser.feed(bytes(self.wire.sent)))
        self.wire.sent.clear()
        found = list(self._got)
        self._got.clear()
        return found

    async def connect(self, banner: bytes = BANNER, version: int = VERSION) -> list[Packet]:
        self.send(Command.CNXN, version, MAX_PAYLOAD, banner)
        return await self.packets()

    async def talk(self, service: str, *sent: bytes, ident: int = 1, close: bool = False) -> bytes:
        """Open a service, send, acknowledge what comes; all of it once the phone closes or rests."""
        self.send(Command.OPEN, ident, 0, service.encode() + b"\0")
        answer, todo, device = bytearray(), deque(sent), 0
        while got := await self.packets():
            for packet in got:
                device = device or packet.arg0
                if packet.command == Command.WRTE:
                    answer += packet.payload
                    self.send(Command.OKAY, ident, packet.arg0)
                if packet.command == Command.OKAY and todo:
                    self.send(Command.WRTE, ident, packet.arg0, todo.popleft())
                if packet.command == Command.CLSE:
                    self.send(Command.CLSE, ident, packet.arg0)
                    return bytes(answer)
        if close:
            self.send(Command.CLSE, ident, device)
        return bytes(answer)


async def settle() -> None:
    """Let every task of the phone run as far as it can without time passing."""
    for _ in range(30):
        await asyncio.sleep(0)
