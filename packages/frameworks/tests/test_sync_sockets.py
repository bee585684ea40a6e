from __future__ import annotations

import asyncio

import pytest
from packages.frameworks.tests.metro_stage import answering, at_rest, metro

from handrail.adb.link import Stream
from handrail.errors import Timeout
from handrail_frameworks.debugger import Cdp, ChannelLost, open_websocket
from handrail_frameworks.react_native import HostTcp
from tests.cases import each
from tests.scenario.world import FastClock


@each(
    ("said", "why"),
    [
        (b"220 mail ready\r\n\r\n", "the WebSocket was not opened"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "404"),
        (b"", "hung up"),
    ],
)
def test_a_port_that_speaks_something_else_opens_no_websocket(said: bytes, why: str) -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        await writer.drain()
        writer.close()

    async def story() -> None:
        server = await asyncio.start_server(other, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ChannelLost, match=why):
            await open_websocket(HostTcp("127.0.0.1", port), "tcp:1", "ws://127.0.0.1/x")
        with pytest.raises(ChannelLost, match="not a WebSocket address"):
            await open_websocket(HostTcp("127.0.0.1", port), "tcp:1", "http://127.0.0.1/x")
        server.close()
        await server.wait_closed()

    asyncio.run(story())


def test_a_peer_that_takes_no_more_bytes_is_left_all_the_same() -> None:
    class Full:
        """A stream whose other side reads nothing any more."""

        def __init__(self, stream: Stream) -> None:
            self.read, self._stream, self.is_full = stream.read, stream, False

        async def write(self, data: bytes) -> None:
            await (asyncio.Event().wait() if self.is_full else self._stream.write(data))

        async def close(self) -> None:
            await self._stream.close()

    class Opens:
        address = ("", 0)

        async def open(self, service: str) -> Full:
            self.stream = Full(await HostTcp(*self.address).open(service))
            return self.stream

    async def story() -> None:
        opens, clock = Opens(), FastClock()
        async with asyncio.timeout(60), metro(answering(at_rest)) as opens.address:
            cdp = await Cdp.open(opens, "tcp:1", "ws://127.0.0.1/inspector/debug?page=1", clock)
            opens.stream.is_full = True
            with pytest.raises(Timeout):
                await cdp.evaluate("1", timeout_ms=50)
            await cdp.close()

    asyncio.run(story())
