"""The server's end of a WebSocket on a port inside the phone. Knows texts, not what they say."""

from __future__ import annotations

from websockets.exceptions import ProtocolError
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN, SERVER, Protocol
from websockets.utils import accept_key

from handrail_sim.channels.http import Request, Response
from handrail_sim.stream import Stream

LARGEST = 1 << 24
"""Bytes of one message; a client that sends more is cut off."""


class WebSocket:
    """One connection after its handshake."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._protocol = Protocol(SERVER, state=OPEN, max_size=LARGEST)
        self._parts: list[bytes] = []
        self._ready: list[str] = []

    async def read(self) -> str | None:
        """The next text; None when the client has gone."""
        while not self._ready:
            data = await self._stream.read()
            if not data:
                return None
            self._protocol.receive_data(data)
            for event in self._protocol.events_received():
                if isinstance(event, Frame):
                    self._take(event)
            await self._flush()
            if self._protocol.close_expected():
                return None
        return self._ready.pop(0)

    def _take(self, frame: Frame) -> None:
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return
        self._parts.append(bytes(frame.data))
        if frame.fin:
            self._ready.append(b"".join(self._parts).decode("utf-8", "replace"))
            self._parts.clear()

    async def write(self, text: str) -> None:
        """Raises BrokenPipeError when the client has disconnected."""
        try:
            self._protocol.send_text(text.encode())
        except (ProtocolError, RuntimeError):
            raise BrokenPipeError from None
        await self._flush()

    async def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                await self._stream.write(data)

    def close(self) -> None:
        self._stream.close()


async def accept(request: Request, stream: Stream) -> WebSocket | None:
    """Answer the handshake; None when it was none."""
    key = request.headers.get("sec-websocket-key", "")
    if not key or request.headers.get("sec-websocket-version") != "13":
        await stream.write(Response(b"", 400).encode(keep_alive=False))
        return None
    lines = (
        "HTTP/1.1 101 Switching Protocols",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Accept: {accept_key(key)}",
    )
    await stream.write("\r\n".join([*lines, "", ""]).encode())
    return WebSocket(stream)
