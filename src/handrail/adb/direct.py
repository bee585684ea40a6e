"""A device at its own TCP port: one connection to adbd with many streams, which reconnects.

A service is never opened twice: once its OPEN was written, the caller decides after a lost connection.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from handrail.adb import wire
from handrail.adb.link import ACCEPT_HINT
from handrail.clock import Clock, SystemClock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, DeviceOffline, InvalidAction
from handrail.waiting import Background, Deadline, Expired

if TYPE_CHECKING:
    from handrail.adb.keys import PrivateKey

UNREAD_MAX = 256 << 10
"""With more unread bytes the device gets no OKAY, which bounds memory."""
WRITE_SIZE = 256 << 10
"""Largest WRTE, so that streams share the connection."""


class DirectStream:
    """A stream that this side opened. `remote` is 0 until the device has accepted it."""

    def __init__(self, connection: AdbdConnection, local: int, service: str) -> None:
        self.local = local
        self.remote = 0
        self.service = service
        self.taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._connection = connection
        self._inbox = ByteQueue()
        self._owed = False
        self._closed = False
        self._error: Exception | None = None
        self._writing = asyncio.Lock()
        self._credit = asyncio.Event()
        """Set when the device has taken the last WRTE, and when no WRTE will follow."""

    # the user's side

    async def read(self) -> bytes:
        data = await self._inbox.get()
        if self._owed:
            self.send_okay()
        return data

    async def write(self, data: bytes) -> None:
        """Writes all of it or raises. Concurrent writers are served in order."""
        view = memoryview(data)
        step = min(self._connection.max_payload, WRITE_SIZE)
        async with self._writing:
            for at in range(0, len(view), step):
                await self._credit.wait()
                if self._closed:
                    raise self._error or AdbCommandError(
                        f"the device closed {self.service[:80]!r} and accepts no more input",
                        hint="Read its output from before it closed.",
                        command=self.service[:80],
                        delivery="unknown",
                    )
                self._credit.clear()
                self._connection.send(wire.Command.WRTE, self.local, self.remote, bytes(view[at : at + step]))

    async def close(self) -> None:
        if not self._closed:
            self._connection.send(wire.Command.CLSE, self.local, self.remote)
            self._finish(None)
        self._inbox.drop()

    # the connection's side

    def acknowledge(self, remote: int) -> None:
        """The first OKAY accepts the stream, each one allows the next WRTE."""
        self.remote = self.remote or remote
        if not self.taken.done():
            self.taken.set_result(None)
        self._credit.set()

    def deliver(self, data: bytes) -> None:
        """Handles a WRTE; it is answered once it is known whether the stream goes on.

        A device that keeps writing without an OKAY would fill the memory, so it is cut off.
        """
        if self._owed and self._inbox.size > UNREAD_MAX:
            self._connection.send(wire.Command.CLSE, self.local, self.remote)
            self.hang_up(
                AdbConnectionError(
                    f"the device sends more of {self.service[:80]!r} than was asked for",
                    hint="What listens there breaks adb's rules: reconnect the phone.",
                    delivery="unknown",
                )
            )
            return
        self._inbox.put(data)
        self._owed = True
        self._connection.send_okay_soon(self)

    def send_okay(self) -> None:
        """Sends the OKAY for a WRTE, unless too much is unread."""
        if self._owed and not self._closed and self._inbox.size <= UNREAD_MAX:
            self._owed = False
            self._connection.send(wire.Command.OKAY, self.local, self.remote)

    def hang_up(self, error: Exception | None = None) -> None:
        """The device closed the stream, or the connection broke with `error`."""
        if not self.taken.done():
            self.taken.set_exception(
                error
                or AdbCommandError(
                    f"the device refused to open {self.service[:80]!r}",
                    hint="Nothing on the phone serves it: check the service, or start what listens there.",
                    command=self.service[:80],
                    delivery="not_delivered",
                )
            )
            self.taken.exception()  # marks it as retrieved: the caller may have been cancelled
        self._finish(error)

    def _finish(self, error: Exception | None) -> None:
        self._closed = True
        self._error = error
        self._connection.forget(self)
        self._inbox.end(error)
        self._credit.set()


class ByteQueue:
    """A queue of bytes with an end."""

    __slots__ = ("_error", "_news", "_parts", "ended", "size")

    def __init__(self) -> None:
        self.size = 0
        self.ended = False
        self._parts: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._error: Exception | None = None

    def put(self, data: bytes) -> None:
        if data and not self.ended:
            self._parts.append(data)
            self.size += len(data)
            self._news.set()

    def end(self, error: Exception | None = None) -> None:
        """What is queued can still be read, then `error` is raised."""
        if not self.ended:
            self.ended = True
            self._error = error
            self._news.set()

    def drop(self) -> None:
        self._parts.clear()
        self.size = 0

    async def get(self) -> bytes:
        """The next part; b"" at the end."""
        while not self._parts:
            if self._error is not None:
                raise self._error
            if self.ended:
                return b""
            self._news.clear()
            await self._news.wait()
        data = self._parts.popleft()
        self.size -= len(data)
        return data


FEATURES = ("shell_v2", "cmd", "stat_v2", "ls_v2", "fixed_push_mkdir", "sendrecv_v2")
"""Features of this side. Without delayed_ack, every WRTE waits for its OKAY."""


class AdbdConnection(asyncio.Protocol):
    """A connection from its CNXN to the end of its socket; `welcome` resolves with the device's answer."""

    def __init__(self, name: str, keys: Callable[[], Sequence[PrivateKey]]) -> None:
        self.name = name
        self.max_payload = wire.MAX_PAYLOAD_V1
        self.online = False
        self.offered = False
        """Whether our public key was sent, so a person has to accept it."""
        self.banner = wire.Banner("", {}, ())
        self.welcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keys = keys
        self._ring: asyncio.Future[list[PrivateKey]] | None = None
        self._tried = 0
        self._parser = wire.Parser(wire.MAX_PAYLOAD)
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
        banner = wire.encode_banner(wire.Banner("host", {}, FEATURES))
        self.send(wire.Command.CNXN, wire.VERSION, wire.MAX_PAYLOAD, banner)

    def data_received(self, data: bytes) -> None:
        """All answers to one read leave in one write, because writes are expensive."""
        self._outbox = []
        try:
            for packet in self._parser.feed(data):
                self._handle(packet)
        except wire.BadPacket as error:
            self._lose(f"{self.name} does not speak ADB: {error}")
        for stream in self._unanswered:
            stream.send_okay()
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
        self.send(wire.Command.OPEN, stream.local, 0, payload)
        try:
            await stream.taken
        except asyncio.CancelledError:
            # Nobody waits for it: it is closed as soon as the device's id is known.
            if stream.remote:
                self.send(wire.Command.CLSE, stream.local, stream.remote)
            elif self._streams.get(stream.local) is stream:
                self._abandoned.add(stream.local)
            self.forget(stream)
            raise
        return stream

    def send(self, command: wire.Command, arg0: int, arg1: int, payload: bytes = b"") -> None:
        packet = wire.encode(wire.Packet(command, arg0, arg1, payload), summed=self._summed)
        if self._outbox is not None:
            self._outbox.append(packet)
        elif self._transport is not None:
            self._transport.write(packet)

    def send_okay_soon(self, stream: DirectStream) -> None:
        """The stream sends its OKAY after all data of the current packets was handled."""
        self._unanswered.append(stream)

    def forget(self, stream: DirectStream) -> None:
        self._streams.pop(stream.local, None)

    # packets

    def _handle(self, packet: wire.Packet) -> None:
        if packet.command == wire.Command.CNXN:
            # A CNXN resets the connection: open streams are lost.
            self._end_streams(f"{self.name} started its connection anew", None)
            self._summed = self._parser.summed = packet.arg0 < wire.VERSION
            self.max_payload = max(wire.MAX_PAYLOAD_V1, min(packet.arg1, wire.MAX_PAYLOAD))
            self.banner = wire.decode_banner(packet.payload)
            self.online = True
            if not self.welcome.done():
                self.welcome.set_result(None)
        elif packet.command == wire.Command.AUTH:
            self._authenticate(packet)
        elif packet.command == wire.Command.STLS:
            self._lose(f"{self.name} requires TLS (wireless debugging)", "Use the adb server for this phone.")
        elif packet.arg1 in self._abandoned:
            # The device accepted an abandoned stream, which is closed now, or refused it.
            if packet.command in (wire.Command.OKAY, wire.Command.CLSE):
                self._abandoned.remove(packet.arg1)
            if packet.command == wire.Command.OKAY:
                self.send(wire.Command.CLSE, packet.arg1, packet.arg0)
        else:
            self._to_stream(packet)

    def _to_stream(self, packet: wire.Packet) -> None:
        """Unknown ids and CLSE get no answer, as the protocol demands."""
        stream = self._streams.get(packet.arg1)
        if stream is None or stream.remote not in (0, packet.arg0 or stream.remote):
            return
        if packet.command == wire.Command.OKAY and packet.arg0:
            stream.acknowledge(packet.arg0)
        elif packet.command == wire.Command.WRTE and stream.remote:
            stream.deliver(packet.payload)
        elif packet.command == wire.Command.CLSE:
            stream.hang_up()

    def _authenticate(self, packet: wire.Packet) -> None:
        """Runs in a thread, because reading or creating keys takes time."""
        if packet.arg0 != wire.Auth.TOKEN or self.offered:
            return
        if len(packet.payload) != wire.TOKEN_SIZE:
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
            self.send(wire.Command.AUTH, wire.Auth.SIGNATURE, 0, keys[self._tried].sign(token))
            self._tried += 1
        else:
            self.offered = True
            self.send(wire.Command.AUTH, wire.Auth.PUBLIC_KEY, 0, keys[0].public())

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


PATIENCE_MS = 10_000
"""Time that one `open` may take to connect, and to wait for a person to accept our key."""
REFUSED_MS = 3_000
"""Time if nobody listens: adbd restarts faster than that."""
FIRST_PAUSE_MS = 50.0
LONGEST_PAUSE_MS = 2_000.0


def _host_keys() -> Sequence[PrivateKey]:
    """Runs in a thread: the cryptography library loads slowly, and most links do not need it."""
    from handrail.adb.keys import load_or_make_keys  # noqa: PLC0415

    return load_or_make_keys()


class Direct:
    """A `Link` to `host:port`. Keys are loaded when a device asks for them."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        keys: Sequence[PrivateKey] | Callable[[], Sequence[PrivateKey]] = _host_keys,
        clock: Clock | None = None,
        patience_ms: float = PATIENCE_MS,
    ) -> None:
        self.host = host
        self.port = port
        self._keys = keys if callable(keys) else lambda: keys
        self._clock = clock or SystemClock()
        self._patience_ms = patience_ms
        self._line: AdbdConnection | None = None
        self._attempts = Background()
        self._attempt: asyncio.Task[AdbdConnection] | None = None
        self._waiting = 0
        self._was_up = False
        self._closed = False

    @property
    def serial(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def connected(self) -> bool:
        """The next `open` connects if it is not."""
        return self._line is not None and self._line.usable

    async def features(self) -> frozenset[str]:
        return frozenset((await self._connected()).banner.features)

    async def open(self, service: str) -> DirectStream:
        line = self._line if self._line is not None and self._line.usable else await self._connected()
        return await line.open(service)

    async def check(self) -> None:
        await self._connected()

    async def close(self) -> None:
        self._closed = True
        await self._attempts.close()
        if self._line is not None:
            self._line.abort()
            await asyncio.sleep(0)  # the transport closes its socket in the loop's next turn

    async def _connected(self) -> AdbdConnection:
        """Concurrent callers share one attempt."""
        if self._line is not None and self._line.usable:
            return self._line
        if self._closed:
            raise self._was_closed()
        attempt = self._attempt = self._attempt or self._attempts.start(
            self._connect(), f"connecting to {self.serial}", log_failure=False
        )
        self._waiting += 1
        try:
            return await asyncio.shield(attempt)
        except asyncio.CancelledError:
            if attempt.cancelled() and self._closed:
                raise self._was_closed() from None
            raise
        finally:
            self._waiting -= 1
            if attempt.done() or not self._waiting:
                attempt.cancel()
                self._attempt = None if self._attempt is attempt else self._attempt

    def _was_closed(self) -> AdbConnectionError:
        return AdbConnectionError(f"the link to {self.serial} was closed", delivery="not_delivered")

    async def _connect(self) -> AdbdConnection:
        """Retries with growing pauses, unless the address has never answered."""
        start, pause = self._clock.monotonic_ms(), FIRST_PAUSE_MS
        while True:
            left = self._patience_ms - (self._clock.monotonic_ms() - start)
            try:
                self._line = await self._once(left)
            except DeviceError as error:
                tried = self._clock.monotonic_ms() - start
                most = min(self._patience_ms, REFUSED_MS) if "refused" in error.details else self._patience_ms
                if not error.retryable or tried + pause >= most:
                    message = error.message
                    if tried >= FIRST_PAUSE_MS:
                        message += f" (tried for {tried / 1000:.1f} s)"
                    details = {name: value for name, value in error.details.items() if name != "refused"}
                    details["tried_ms"] = round(tried)
                    raise type(error)(message, hint=error.hint, **details) from None
            else:
                self._was_up = True
                return self._line
            await self._clock.sleep_ms(pause)
            pause = min(pause * 2, LONGEST_PAUSE_MS)

    async def _once(self, left_ms: float) -> AdbdConnection:
        """One connection and its handshake. Errors are `retryable` if another attempt may help."""
        line = AdbdConnection(self.serial, self._keys)
        loop = asyncio.get_running_loop()
        try:
            async with Deadline(self._clock, max(left_ms, 1)):
                await loop.create_connection(lambda: line, self.host, self.port)
                await line.welcome
        except OSError as error:
            why = f"nothing answers at {self.serial}: {os.strerror(error.errno) if error.errno else error}"
            raise AdbConnectionError(
                why, retryable=self._was_up, delivery="not_delivered", refused=True
            ) from None
        except Expired:  # the connection was accepted, but there was no CNXN
            line.abort()
            why, hint, state = f"{self.serial} has not authorised this host", ACCEPT_HINT, "unauthorized"
            if not line.offered:
                why = f"{self.serial} takes connections and does not answer"
                hint, state = "It may be starting up; try again, or reconnect it.", "offline"
            raise DeviceOffline(why, hint=hint, state=state, delivery="not_delivered") from None
        except asyncio.CancelledError:
            line.abort()
            raise
        return line
