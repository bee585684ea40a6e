"""Whole messages to and from a browser: by pipe, by WebSocket, or by a WebSocket inside any byte stream.

A wire carries JSON text and does not read it. A message longer than `MOST_BYTES` ends the wire.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as connect_websocket
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed, InvalidURI, WebSocketException
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from handrail.errors import BrowserConnectionError, HandrailError

MOST_BYTES = 64 * 1024 * 1024
"""Of one message. A picture of a large screen takes less than a quarter."""
OPEN_S = 10.0


class WireClosed(Exception):
    """Nothing will come or go by this wire any more; the text says why."""


class Wire(Protocol):
    """One way to one browser."""

    async def send(self, message: bytes) -> None:
        """Returns when the message was taken; waits while the browser reads slowly. Raises `WireClosed`."""

    async def receive(self) -> bytes:
        """The next whole message. Raises `WireClosed`."""

    async def close(self) -> None: ...


class PipeWire:
    """Messages that end in a zero byte, over two pipes of a browser that we started."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """`reader` has `MOST_BYTES` as its limit."""
        self._reader = reader
        self._writer = writer

    async def send(self, message: bytes) -> None:
        try:
            self._writer.write(message + b"\0")
            await self._writer.drain()
        except (OSError, RuntimeError) as error:
            raise WireClosed(f"the browser closed its pipe: {error}") from None

    async def receive(self) -> bytes:
        try:
            return (await self._reader.readuntil(b"\0"))[:-1]
        except asyncio.IncompleteReadError:
            raise WireClosed("the browser has ended") from None
        except asyncio.LimitOverrunError:
            raise WireClosed(f"a message of the browser is longer than {MOST_BYTES:,} bytes") from None
        except OSError as error:
            raise WireClosed(f"the pipe of the browser broke: {error}") from None

    async def close(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()


class SocketWire:
    """A WebSocket of its own, to a browser that somebody else started."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    @classmethod
    async def open(cls, url: str) -> SocketWire:
        """Without an Origin: browsers refuse those of web pages. Raises `BrowserConnectionError`."""
        try:
            socket = await connect_websocket(
                url,
                max_size=MOST_BYTES,
                compression=None,
                proxy=None,
                open_timeout=OPEN_S,
                ping_interval=None,
            )
        except (OSError, TimeoutError, WebSocketException, ValueError) as error:
            raise BrowserConnectionError(f"No browser answers at {url}: {error}") from None
        return cls(socket)

    async def send(self, message: bytes) -> None:
        try:
            await self._socket.send(message, text=True)
        except ConnectionClosed as error:
            raise WireClosed(f"the connection to the browser is closed: {error}") from None

    async def receive(self) -> bytes:
        try:
            return await self._socket.recv(decode=False)
        except ConnectionClosed as error:
            raise WireClosed(f"the connection to the browser is closed: {error}") from None

    async def close(self) -> None:
        await self._socket.close()


class ByteStream(Protocol):
    """A connected stream of bytes, whatever carries it: a tunnel to a phone, for example."""

    async def read(self) -> bytes:
        """Some bytes; none at the end."""

    async def write(self, data: bytes) -> None: ...

    async def close(self) -> None: ...


class StreamWire:
    """A WebSocket inside a byte stream: the library speaks the protocol, the stream carries it."""

    def __init__(self, stream: ByteStream, protocol: ClientProtocol) -> None:
        self._stream = stream
        self._protocol = protocol
        self._parts: list[bytes] = []
        self._whole: list[bytes] = []
        self._writing = asyncio.Lock()

    @classmethod
    async def open(cls, stream: ByteStream, url: str, most_bytes: int = MOST_BYTES) -> StreamWire:
        """Shakes hands. The caller sets the deadline, and closes the stream if it fails.

        Raises `WireClosed`.
        """
        try:
            protocol = ClientProtocol(parse_uri(url), max_size=most_bytes)
        except InvalidURI as error:
            raise WireClosed(f"{url[:120]!r} is no WebSocket address: {error}") from None
        wire = cls(stream, protocol)
        protocol.send_request(protocol.connect())
        await wire._flush()
        while protocol.state is State.CONNECTING and protocol.handshake_exc is None:
            await wire._more()
        if protocol.handshake_exc is not None:
            raise WireClosed(f"no WebSocket was opened: {protocol.handshake_exc}")
        return wire

    async def send(self, message: bytes) -> None:
        try:
            self._protocol.send_text(message)
        except WebSocketException as error:
            raise WireClosed(f"the WebSocket is closed: {error}") from None
        await self._flush()

    async def receive(self) -> bytes:
        while not self._whole:
            if self._protocol.state is not State.OPEN:
                why = self._protocol.parser_exc or self._protocol.close_rcvd
                raise WireClosed(f"the WebSocket ended: {why}")
            await self._more()
        return self._whole.pop(0)

    async def close(self) -> None:
        """Says goodbye and does not wait for the answer."""
        try:
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(1000)
                await self._flush()
        except WireClosed:
            pass
        finally:
            await self.hang_up()

    async def hang_up(self) -> None:
        """Without a goodbye: the other side may take no more bytes."""
        await self._stream.close()

    async def _more(self) -> None:
        """What has come, as whole messages; pings are answered on the way."""
        try:
            data = await self._stream.read()
        except (HandrailError, OSError) as error:
            raise WireClosed(f"the stream broke: {error}") from None
        if not data:
            raise WireClosed("the other side hung up")
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take(event)
        await self._flush()

    def _take(self, frame: Frame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self._parts.append(bytes(frame.data))
            if frame.fin:
                self._whole.append(b"".join(self._parts))
                self._parts.clear()

    async def _flush(self) -> None:
        async with self._writing:  # frames of two senders must not mix
            for data in self._protocol.data_to_send():
                if data:
                    try:
                        await self._stream.write(data)
                    except (HandrailError, OSError) as error:
                        raise WireClosed(f"the stream broke: {error}") from None
