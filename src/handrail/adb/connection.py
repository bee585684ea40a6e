"""One TCP connection to adbd: handshake, packets and their streams. `direct` reconnects."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from handrail.adb.stream import DirectStream
from handrail.adb.wire import (
    MAX_PAYLOAD,
    MAX_PAYLOAD_V1,
    TOKEN_SIZE,
    VERSION,
    Auth,
    BadPacket,
    Banner,
    Command,
    Packet,
    Parser,
    decode_banner,
    encode,
    encode_banner,
)
from handrail.errors import DeviceError, DeviceOffline, InvalidAction

if TYPE_CHECKING:
    from handrail.adb.keys import PrivateKey

FEATURES = ("shell_v2", "cmd", "stat_v2", "ls_v2", "fixed_push_mkdir", "sendrecv_v2")
"""Features of this side. Without delayed_ack, every WRTE waits for its OKAY."""


class AdbdConnection(asyncio.Protocol):
    """A connection from its CNXN to the end of its socket. `welcome` resolves when the device has
    answered."""

    def __init__(self, name: str, keys: Callable[[], Sequence[PrivateKey]]) -> None:
        self.name = name
        self.max_payload = MAX_PAYLOAD_V1
        self.online = False
        self.offered = False
        """Whether our public key was sent, so a person has to accept it."""
        self.banner = Banner("", {}, ())
        self.welcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keys = keys
        self._ring: asyncio.Future[list[PrivateKey]] | None = None
        self._tried = 0
        self._parser = Parser(MAX_PAYLOAD)
        self._summed = True
        self._streams: dict[int, DirectStream] = {}
        self._unanswered: list[DirectStream] = []
        self._abandoned: set[int] = set()
        self._last_id = 0
        self._transport: asyncio.Transport | None = None
        self._outbox: list[bytes] | None = None

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        raw = self._transport.get_extra_info("socket")
        if raw is not None:  # a transport within this process has no socket
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send(Command.CNXN, VERSION, MAX_PAYLOAD, encode_banner(Banner("host", {}, FEATURES)))

    def data_received(self, data: bytes) -> None:
        """All answers to one read leave in one write, because writes are expensive."""
        self._outbox = []
        try:
            for packet in self._parser.feed(data):
                self._handle(packet)
        except BadPacket as error:
            self._lose(f"{self.name} does not speak ADB: {error}")
        for stream in self._unanswered:
            stream.answer()
        self._unanswered.clear()
        outbox, self._outbox = self._outbox, None
        if outbox and self._transport is not None:
            self._transport.write(b"".join(outbox))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lose(f"{self.name} dropped the connection{f': {exc}' if exc else ''}", retryable=True)

    def abort(self) -> None:
        self._lose(f"the connection to {self.name} was closed")

    @property
    def usable(self) -> bool:
        return self.online and self._transport is not None and not self._transport.is_closing()

    # services

    async def open(self, service: str) -> DirectStream:
        """The caller has checked the connection; from here on the service may reach the device."""
        payload = service.encode("utf-8", "surrogateescape") + b"\0"
        if len(payload) > self.max_payload:
            raise too_long(len(payload), self.max_payload)
        self._last_id = self._last_id % 0xFFFFFFFF + 1
        stream = self._streams[self._last_id] = DirectStream(self, self._last_id, service)
        self.send(Command.OPEN, stream.local, 0, payload)
        try:
            await stream.taken
        except asyncio.CancelledError:
            # Nobody waits for it: it is closed as soon as the device's id is known.
            if stream.remote:
                self.send(Command.CLSE, stream.local, stream.remote)
            elif self._streams.get(stream.local) is stream:
                self._abandoned.add(stream.local)
            self.forget(stream)
            raise
        return stream

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None:
        packet = encode(Packet(command, arg0, arg1, payload), summed=self._summed)
        if self._outbox is not None:
            self._outbox.append(packet)
        elif self._transport is not None:
            self._transport.write(packet)

    def answer_soon(self, stream: DirectStream) -> None:
        self._unanswered.append(stream)

    def forget(self, stream: DirectStream) -> None:
        self._streams.pop(stream.local, None)

    # packets

    def _handle(self, packet: Packet) -> None:
        if packet.command == Command.CNXN:
            # A CNXN resets the connection: open streams are lost.
            self._end_streams(f"{self.name} started its connection anew", None)
            self._summed = self._parser.summed = packet.arg0 < VERSION
            self.max_payload = max(MAX_PAYLOAD_V1, min(packet.arg1, MAX_PAYLOAD))
            self.banner = decode_banner(packet.payload)
            self.online = True
            if not self.welcome.done():
                self.welcome.set_result(None)
        elif packet.command == Command.AUTH:
            self._authenticate(packet)
        elif packet.command == Command.STLS:
            self._lose(f"{self.name} requires TLS (wireless debugging)", "Use the adb server for this phone.")
        elif packet.arg1 in self._abandoned:
            # The device accepted an abandoned stream, which is closed now, or refused it.
            if packet.command in (Command.OKAY, Command.CLSE):
                self._abandoned.remove(packet.arg1)
            if packet.command == Command.OKAY:
                self.send(Command.CLSE, packet.arg1, packet.arg0)
        else:
            self._to_stream(packet)

    def _to_stream(self, packet: Packet) -> None:
        """Unknown ids and CLSE get no answer, as the protocol demands."""
        stream = self._streams.get(packet.arg1)
        if stream is None or stream.remote not in (0, packet.arg0 or stream.remote):
            return
        if packet.command == Command.OKAY and packet.arg0:
            stream.acknowledge(packet.arg0)
        elif packet.command == Command.WRTE and stream.remote:
            stream.deliver(packet.payload)
        elif packet.command == Command.CLSE:
            stream.hang_up()

    def _authenticate(self, packet: Packet) -> None:
        """Runs in a thread, because reading or creating keys takes time."""
        if packet.arg0 != Auth.TOKEN or self.offered:
            return
        if len(packet.payload) != TOKEN_SIZE:
            self._lose(f"{self.name} does not speak ADB: its token has {len(packet.payload)} bytes")
            return
        if self._ring is None:
            self._ring = asyncio.get_running_loop().run_in_executor(None, lambda: list(self._keys()))
        self._ring.add_done_callback(lambda ring: self._sign(ring, packet.payload))

    def _sign(self, ring: asyncio.Future[list[PrivateKey]], token: bytes) -> None:
        """Each key signs once; then the person is asked to accept the first."""
        if ring.cancelled():
            return
        if isinstance(error := ring.exception(), DeviceError):
            self._fail(error)
        elif error is not None:
            self._lose(f"this host's adb keys can't be used: {error!r}")
        elif not (keys := ring.result()):
            self._lose(f"{self.name} requires a key, and this link has none")
        elif self._tried < len(keys):
            self.send(Command.AUTH, Auth.SIGNATURE, 0, keys[self._tried].sign(token))
            self._tried += 1
        else:
            self.offered = True
            self.send(Command.AUTH, Auth.PUBLIC_KEY, 0, keys[0].public())

    # the end

    def _lose(self, why: str, hint: str | None = None, *, retryable: bool = False) -> None:
        self._fail(DeviceOffline(why, hint=hint, retryable=retryable, delivery="not_delivered"))
        self._end_streams(why, hint)

    def _fail(self, error: DeviceError) -> None:
        self.online = False
        if self._transport is not None:
            self._transport.abort()
        if not self.welcome.done():
            self.welcome.set_exception(error)
            self.welcome.exception()  # marks it as retrieved: there may be no waiter

    def _end_streams(self, why: str, hint: str | None) -> None:
        self._abandoned.clear()
        for stream in list(self._streams.values()):
            message = f"{why} while {stream.service[:80]!r} was running"
            stream.hang_up(DeviceOffline(message, hint=hint, delivery="unknown"))


def too_long(size: int, limit: int) -> InvalidAction:
    return InvalidAction(
        f"a command of {size} bytes is too long, {limit} fit into one request",
        hint="Send the data on stdin, or push it as a file.",
        path="command",
        delivery="not_delivered",
    )
