"""The stock adb server with pairing: one in front of it that answers `host:pair` as a phone's dialog would.

The simulated phone has neither TLS nor SPAKE2. What Handrail says and hears is the wire of the real thing;
what the adb server and a phone say to each other when they pair is not played.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import Any, TypeVar

from zeroconf import IPVersion
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

T = TypeVar("T")


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()


class Announcer:
    """A phone's mDNS, on the loopback alone."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._voice = loop.run(self._open())
        self._said: set[str] = set()

    @staticmethod
    async def _open() -> AsyncZeroconf:
        return AsyncZeroconf(interfaces=["127.0.0.1"], ip_version=IPVersion.V4Only)

    def say(self, kind: str, name: str, port: int) -> None:
        """From now on, also where it said another port before."""
        service = f"_adb-tls-{kind}._tcp.local."
        address = [socket.inet_aton("127.0.0.1")]
        info = AsyncServiceInfo(service, f"{name}.{service}", addresses=address, port=port, server="a.local.")
        self._loop.run(self._announce(info, is_new=name not in self._said))
        self._said.add(name)

    async def _announce(self, info: AsyncServiceInfo, *, is_new: bool) -> None:
        if is_new:  # nobody else has this name: it need not be asked for
            told = await self._voice.async_register_service(info, cooperating_responders=True)
        else:
            told = await self._voice.async_update_service(info)
        await told

    def close(self) -> None:
        self._loop.run(self._voice.async_close())


class PairingAdb:
    """In front of a stock server: all but pairing goes through."""

    def __init__(self, behind: int, loop: Loop) -> None:
        self.code = "246802"
        self.guid = f"adb-SIM0001-{token_hex(4)}"
        """Another one each time: every test on this machine hears all of them."""
        self.asked: list[str] = []
        """Every `host:pair` request as it came."""
        self.on_paired: list[Any] = []
        self._behind = behind
        self._loop = loop
        self._server = loop.run(self._open())
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def _open(self) -> asyncio.Server:
        return await asyncio.start_server(self._visit, "127.0.0.1", 0)

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            size = await reader.readexactly(4)
            request = await reader.readexactly(int(size, 16))
            if request.startswith(b"host:pair:"):
                await self._pair(request.decode(), writer)
            else:
                await self._pass_on(size + request, reader, writer)
        writer.close()

    async def _pair(self, request: str, writer: asyncio.StreamWriter) -> None:
        self.asked.append(request)
        code, _, place = request.removeprefix("host:pair:").partition(":")
        if code == self.code:
            said = f"Successfully paired to {place} [guid={self.guid}]"
            for told in self.on_paired:
                await asyncio.to_thread(told)
        else:
            said = "Failed: Wrong password or connection was dropped."
        writer.write(b"OKAY" + b"%04x" % len(said) + said.encode())
        await writer.drain()

    async def _pass_on(
        self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        theirs, ours = await asyncio.open_connection("127.0.0.1", self._behind)
        ours.write(first)

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                while data := await source.read(65536):
                    sink.write(data)
                    await sink.drain()
                sink.close()

        await asyncio.gather(pump(reader, ours), pump(theirs, writer))

    def close(self) -> None:
        async def end() -> None:
            self._server.close()

        self._loop.run(end())


@contextmanager
def pairing_adb(behind: int) -> Iterator[tuple[PairingAdb, Announcer]]:
    """A server in front of the one on port `behind`, and the phone's voice on the network."""
    loop = Loop()
    try:
        server, voice = PairingAdb(behind, loop), Announcer(loop)
        try:
            yield server, voice
        finally:
            voice.close()
            server.close()
    finally:
        loop.close()
