"""Peers that a simulated phone never is: old ones, impolite ones, ones that start anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from handrail.adb.direct import Direct
from handrail.adb.wire import (
    MAX_PAYLOAD,
    VERSION,
    VERSION_WITH_CHECKSUM,
    Auth,
    Command,
    Packet,
    Parser,
    encode,
)
from handrail.errors import DeviceOffline, InvalidAction
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


def test_the_handshake_says_what_this_side_can() -> None:
    async def act(device: Peer) -> None:
        hello = await device.welcome()
        assert (hello.command, hello.arg0, hello.arg1) == (Command.CNXN, VERSION, MAX_PAYLOAD)
        assert hello.payload.startswith(b"host::features=shell_v2,")

    async def story() -> None:
        async with peer(act) as link:
            assert await link.features() == {"cmd"}

    asyncio.run(story())


def test_an_old_peer_gets_checksums_and_small_packets() -> None:
    async def act(device: Peer) -> None:
        await device.welcome(VERSION_WITH_CHECKSUM, 4096)
        opened = await device.packet()
        assert opened.payload == b"exec:cat\0"
        device.send(Command.OKAY, 7, opened.arg0)
        sizes = []
        for _ in range(3):
            sizes.append(len((await device.packet()).payload))
            device.send(Command.OKAY, 7, opened.arg0)
        assert sizes == [4096, 4096, 1808]
        device.send(Command.WRTE, 7, opened.arg0, b"thanks")

    async def story() -> None:
        async with peer(act) as link:
            stream = await link.open("exec:cat")
            await stream.write(bytes([200]) * 10_000)
            assert await stream.read() == b"thanks"
            with pytest.raises(InvalidAction, match="4096 fit"):
                await link.open("exec:" + "x" * 5000)

    asyncio.run(story())


def test_nothing_is_sent_before_the_last_write_was_taken() -> None:
    go, written = asyncio.Event(), []

    async def act(device: Peer) -> None:
        await device.welcome()
        opened = await device.packet()
        device.send(Command.OKAY, 7, opened.arg0)
        assert (await device.packet()).payload == b"one"
        await go.wait()
        assert written == [b"one"]
        device.send(Command.OKAY, 7, opened.arg0)
        assert (await device.packet()).payload == b"two"
        device.send(Command.CLSE, 7, opened.arg0)

    async def story() -> None:
        async with peer(act) as link:
            stream = await link.open("tcp:1")
            await stream.write(b"one")
            written.append(b"one")
            second = asyncio.ensure_future(stream.write(b"two"))
            await asyncio.sleep(0)
            assert not second.done()
            go.set()
            await second
            assert await stream.read() == b""

    asyncio.run(story())


def test_a_connection_that_starts_anew_ends_its_streams() -> None:
    async def act(device: Peer) -> None:
        await device.welcome()
        opened = await device.packet()
        device.send(Command.OKAY, 7, opened.arg0)
        device.send(Command.WRTE, 7, opened.arg0, b"last words")
        device.send(Command.CNXN, VERSION, MAX_PAYLOAD, b"device::features=shell_v2")

    async def story() -> None:
        async with peer(act) as link:
            stream = await link.open("exec:cat")
            assert await stream.read() == b"last words"
            with pytest.raises(DeviceOffline, match="anew"):
                await stream.read()
            assert await link.features() == {"shell_v2"}

    asyncio.run(story())


def test_packets_for_streams_that_nobody_knows_are_left_alone() -> None:
    async def act(device: Peer) -> None:
        await device.welcome()
        for command in (Command.OKAY, Command.WRTE, Command.CLSE):
            device.send(command, 99, 1234, b"x" if command == Command.WRTE else b"")
        device.send(0x12345678, 1, 2)
        opened = await device.packet()
        assert opened.command == Command.OPEN
        device.send(Command.WRTE, 7, opened.arg0, b"before it was taken")
        device.send(Command.OKAY, 7, opened.arg0)
        device.send(Command.WRTE, 8, opened.arg0, b"from a stranger")
        device.send(Command.WRTE, 7, opened.arg0, b"hello")

    async def story() -> None:
        async with peer(act) as link:
            assert await (await link.open("tcp:1")).read() == b"hello"

    asyncio.run(story())


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


def test_a_stream_that_was_given_up_is_closed_when_the_device_takes_it() -> None:
    answers: asyncio.Queue[Packet] = asyncio.Queue()
    cancelled = asyncio.Event()

    async def act(device: Peer) -> None:
        await device.welcome()
        opened = await device.packet()
        await cancelled.wait()
        device.send(Command.OKAY, 7, opened.arg0)
        answers.put_nowait(await device.packet())

    async def story() -> None:
        async with peer(act) as link:
            await link.features()
            opening = asyncio.ensure_future(link.open("exec:sleep 9"))
            await asyncio.sleep(0)
            opening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await opening
            cancelled.set()
            async with asyncio.timeout(60):
                assert (await answers.get())[:3] == (Command.CLSE, 1, 7)

    asyncio.run(story())
