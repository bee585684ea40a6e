"""A WebSocket on any byte stream: through adb to a port of the phone, or to a port of this machine.

Owns handshake, frames and their end; knows nothing of what the messages mean.
"""

from __future__ import annotations

import asyncio

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidURI
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from handrail.adb.link import Stream
from handrail.android.http_over_adb import Opens
from handrail.android.sync.answers import ChannelLost
from handrail.errors import DeviceError

MAX_MESSAGE = 16 << 20
"""Bytes; a fiber list of the largest screens stays under one MiB."""


async def open_websocket(opens: Opens, service: str, uri: str) -> WebSocket:
    """Opens the service and shakes hands. The caller sets the deadline."""
    try:
        protocol = ClientProtocol(parse_uri(uri), max_size=MAX_MESSAGE)
    except InvalidURI as error:
        raise ChannelLost(f"{uri[:120]!r} is no WebSocket address: {error}") from None
    socket = WebSocket(await _open(opens, service), protocol)
    try:
        await socket.shake_hands()
    except BaseException:
        await socket.hang_up()
        raise
    return socket


async def _open(opens: Opens, service: str) -> Stream:
    try:
        return await opens.open(service)
    except DeviceError as error:
        raise ChannelLost(f"{service} can't be opened: {error.message}") from None


class WebSocket:
    """Text messages both ways, for one reader and any number of writers."""

    def __init__(self, stream: Stream, protocol: ClientProtocol) -> None:
        self._stream = stream
        self._protocol = protocol
        self._pieces: list[bytes] = []
        self._messages: list[str] = []
        self._writing = asyncio.Lock()

    async def shake_hands(self) -> None:
        self._protocol.send_request(self._protocol.connect())
        await self._flush()
        while self._protocol.state is State.CONNECTING and self._protocol.handshake_exc is None:
            await self._read()
        if self._protocol.handshake_exc is not None:
            raise ChannelLost(f"no WebSocket was opened: {self._protocol.handshake_exc}")

    async def send(self, text: str) -> None:
        if self._protocol.state is not State.OPEN:
            raise ChannelLost("the WebSocket is closed")
        self._protocol.send_text(text.encode())
        await self._flush()

    async def receive(self) -> str:
        """The next message; `ChannelLost` once there will be none."""
        while not self._messages:
            await self._read()
        return self._messages.pop(0)

    async def close(self) -> None:
        """Says goodbye and does not wait for the answer."""
        try:
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(1000)
                await self._flush()
        except DeviceError:
            pass
        finally:
            await self.hang_up()

    async def hang_up(self) -> None:
        await self._stream.close()

    async def _read(self) -> None:
        data = await self._stream.read()
        if not data:
            raise ChannelLost("the other side hung up")
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._take(event)
        await self._flush()
        if self._messages or self._protocol.state in (State.CONNECTING, State.OPEN):
            return
        raise ChannelLost(f"the WebSocket ended: {self._protocol.parser_exc or self._protocol.close_rcvd}")

    def _take(self, frame: Frame) -> None:
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return
        self._pieces.append(bytes(frame.data))
        if frame.fin:
            whole, self._pieces = b"".join(self._pieces), []
            self._messages.append(whole.decode("utf-8", "replace"))

    async def _flush(self) -> None:
        async with self._writing:
            for data in self._protocol.data_to_send():
                if data:
                    await self._stream.write(data)
