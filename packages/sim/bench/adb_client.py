"""The smallest adb client that can measure a phone: one connection, one stream after the other."""

from __future__ import annotations

import asyncio

from handrail_sim.adbd.wire import MAX_PAYLOAD, VERSION, Command, Packet, Parser, encode


class Client(asyncio.Protocol):
    """`await connect(host, port)`, then `await client.run("exec:…")`."""

    def __init__(self) -> None:
        self._parser = Parser(MAX_PAYLOAD)
        self._ident = 0
        self._answer = bytearray()
        self._done: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send(Command.CNXN, VERSION, MAX_PAYLOAD, b"host::features=shell_v2,cmd")

    def data_received(self, data: bytes) -> None:
        """One write for all that is to be said."""
        replies = []
        for command, remote, _, payload in self._parser.feed(data):
            if command == Command.WRTE:
                self._answer += payload
                replies.append(encode(Packet(Command.OKAY, self._ident, remote, b"")))
            elif command == Command.CLSE:
                if remote:
                    replies.append(encode(Packet(Command.CLSE, self._ident, remote, b"")))
                self._finish(bytes(self._answer))
            elif command == Command.CNXN:
                self._finish(payload)
        if replies:
            self._transport.write(b"".join(replies))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(exc or ConnectionResetError())

    def _finish(self, answer: bytes) -> None:
        if not self._done.done():
            self._done.set_result(answer)

    def _send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None:
        self._transport.write(encode(Packet(command, arg0, arg1, payload)))

    async def ready(self) -> bytes:
        return await self._done

    async def run(self, service: str) -> bytes:
        """Open a service and give back all it says."""
        self._ident += 1
        self._answer.clear()
        self._done = asyncio.get_running_loop().create_future()
        self._send(Command.OPEN, self._ident, 0, service.encode() + b"\0")
        return await self._done

    def close(self) -> None:
        self._done.cancel()
        self._transport.abort()


async def connect(host: str, port: int) -> Client:
    """A connection that has shaken hands."""
    _, client = await asyncio.get_running_loop().create_connection(Client, host, port)
    await client.ready()
    return client
