"""One ADB connection: its handshake, its streams, and the ports of `adb reverse`."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from handrail_sim.adbd import wire
from handrail_sim.adbd.auth import PublicKey, decode_key
from handrail_sim.adbd.services import Service, find_service
from handrail_sim.stream import PIPE_SIZE, Stream, join

if TYPE_CHECKING:
    from handrail_sim.adbd.daemon import Adbd


WRITE_SIZE = 65536
"""Longest WRTE we send: a thousand unread streams hold 64 MB at most."""
PART_COST = 64
"""What an unread part costs besides its bytes; a flood of one-byte WRTEs is counted for what it is."""


class Link(Protocol):
    """What a channel needs of its connection."""

    max_payload: int
    writable: bool

    def send(self, command: wire.Command, arg0: int, arg1: int, payload: bytes = b"") -> None: ...

    def reserve(self, size: int) -> bool:
        """Take (or give back) memory for unread data; False when too much is held already."""

    def hold(self, size: int) -> None:
        """Count what waits to be sent, and what is sent or lost as negative."""

    def flush_soon(self, channel: Channel) -> None:
        """Call `flush` in the next turn of the loop, or when the peer reads again."""

    def forget(self, channel: Channel) -> None:
        """The channel is over."""


class Channel:
    """The phone's end of one stream; a `Stream` for the service behind it."""

    def __init__(self, link: Link, local: int, remote: int = 0) -> None:
        self.local = local
        self.remote = remote
        self.on_hang_up: Callable[[], object] | None = None
        self._link = link
        self._unread: deque[bytes] = deque()
        self._unread_size = 0
        self._owed = 0
        self._unsent: deque[memoryview] = deque()
        self._unsent_size = 0
        self._credit = remote != 0
        self._closing = False
        self._over = False
        self._awaited = False
        self._changed = asyncio.Event()

    # the service's side

    async def read(self) -> bytes:
        while not self._unread:
            if self._over or self._closing:
                return b""
            self._awaited = True
            await self._wait()
            self._awaited = False
        data = self._unread.popleft()
        self._release(len(data) + PART_COST)
        while self._owed and self._unread_size <= PIPE_SIZE and not self._over:
            self._owed -= 1
            self._link.send(wire.Command.OKAY, self.local, self.remote)
        return data

    async def write(self, data: bytes) -> None:
        """Sent in the next turn of the loop: what a command writes in one go leaves in one packet."""
        if self._over or self._closing:
            raise BrokenPipeError
        if data:
            self._unsent.append(memoryview(data))
            self._unsent_size += len(data)
            self._link.hold(len(data))
            self._link.flush_soon(self)
        while self._unsent_size > PIPE_SIZE:
            await self._wait()
            if self._over:
                raise BrokenPipeError

    def close(self) -> None:
        """The service is done; what it wrote is sent before CLSE."""
        self._drop_unread()
        if not self._closing and not self._over:
            self._closing = True
            self._changed.set()
            self._link.flush_soon(self)

    def abort(self) -> None:
        """End at once, unsent data is lost: a stream reset."""
        self._drop_unread()
        if not self._over:
            if self.remote:
                self._link.send(wire.Command.CLSE, self.local, self.remote)
            self._finish()

    # the connection's side

    def deliver(self, data: bytes) -> None:
        """A WRTE arrived. A peer that doesn't wait for OKAY loses the stream when its share is full."""
        size = len(data) + PART_COST
        too_much = self._unread_size > PIPE_SIZE + self._link.max_payload
        if too_much or not self._link.reserve(size):
            self.abort()
            return
        self._unread_size += size
        if data:
            self._unread.append(data)
        else:
            self._release(size)
        if self._unread_size <= PIPE_SIZE:
            self._link.send(wire.Command.OKAY, self.local, self.remote)
        else:
            self._owed += 1
        self._changed.set()

    def acknowledge(self, remote: int) -> None:
        """An OKAY arrived; the first one of a stream that the phone opened tells the peer's id."""
        self.remote = self.remote or remote
        self._credit = True
        self._changed.set()
        self.flush()

    def hang_up(self) -> None:
        """The peer closed the stream, or the connection is lost; what it sent can still be read."""
        if not self._over:
            then = self.on_hang_up
            self._finish()
            if then is not None:
                then()

    @property
    def over(self) -> bool:
        return self._over

    @property
    def reading(self) -> bool:
        return self._awaited or bool(self._unread)

    async def opened(self) -> bool:
        """For streams that the phone opened: whether the peer took it."""
        while not self.remote and not self._over:
            await self._wait()
        return not self._over

    def flush(self) -> None:
        if self._over:
            return
        if not self._link.writable:
            self._link.flush_soon(self)
            return
        if self._unsent and self._credit:
            self._credit = False
            self._link.send(wire.Command.WRTE, self.local, self.remote, self._next_payload())
            self._changed.set()
        if self._closing and not self._unsent:
            self.abort()

    # inside

    def _next_payload(self) -> bytes:
        room = min(WRITE_SIZE, self._link.max_payload)
        parts: list[memoryview] = []
        while self._unsent and room:
            part = self._unsent.popleft()
            if len(part) > room:
                self._unsent.appendleft(part[room:])
                part = part[:room]
            parts.append(part)
            room -= len(part)
        payload = b"".join(parts)
        self._unsent_size -= len(payload)
        self._link.hold(-len(payload))
        return payload

    def _release(self, size: int) -> None:
        self._unread_size -= size
        self._link.reserve(-size)

    def _finish(self) -> None:
        self._over = True
        self.on_hang_up = None  # it holds this channel: without the circle both go at once
        self._unsent.clear()
        self._link.hold(-self._unsent_size)
        self._unsent_size = 0
        self._changed.set()
        self._link.forget(self)

    def _drop_unread(self) -> None:
        self._release(self._unread_size)
        self._unread.clear()

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()


FIRST_FREE_PORT = 40000


class Reverse:
    """What one host has registered, and the answers to its `reverse:` requests."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ports = connection.phone.ports
        self.table: dict[str, str] = {}

    def request(self, command: str) -> bytes:
        """The answer to what follows `reverse:`."""
        verb, _, rest = command.partition(":")
        if verb == "list-forward":
            return _text("".join(f"(reverse) {here} {there}\n" for here, there in self.table.items()))
        if verb == "killforward-all":
            self.clear()
            return b"OKAY"
        if verb == "killforward":
            return self._remove(rest)
        if verb == "forward":
            rebind = not rest.startswith("norebind:")
            here, _, there = rest.removeprefix("norebind:").partition(";")
            return self._add(here, there, rebind)
        return _failure(f"unknown command '{command}'")

    def clear(self) -> None:
        for here in list(self.table):
            self._remove(here)

    async def connect(self, here: str, stream: Stream) -> None:
        """Something in the phone connects to a registered port: carry it to the host."""
        there = self.table.get(here)
        if there is None:
            stream.close()
            return
        channel = self._connection.open(there)
        try:
            if await channel.opened():
                await join(stream, channel)
        finally:
            channel.close()
            stream.close()

    def _add(self, here: str, there: str, rebind: bool) -> bytes:
        if not _is_socket(here) or not there:
            return _failure(f"bad forward: {here};{there}")
        if here in self.table and not rebind:
            return _failure("cannot rebind existing socket")
        if here not in self.table and here in self._ports:
            return _failure(f"cannot bind listener: Address already in use ({here})")
        chosen = here == "tcp:0"
        if chosen:
            port = FIRST_FREE_PORT
            while f"tcp:{port}" in self._ports:
                port += 1
            here = f"tcp:{port}"
        self.table[here] = there
        self._ports[here] = lambda stream: self.connect(here, stream)
        return b"OKAY" + (_text(here.removeprefix("tcp:")) if chosen else b"")

    def _remove(self, here: str) -> bytes:
        if self.table.pop(here, None) is None:
            return _failure(f"listener '{here}' not found")
        self._ports.pop(here, None)
        return b"OKAY"


def _is_socket(name: str) -> bool:
    kind, _, rest = name.partition(":")
    if kind == "tcp":
        return rest.isdecimal() and int(rest) <= 65535
    return kind in ("local", "localabstract", "localreserved", "localfilesystem") and bool(rest)


def _text(text: str) -> bytes:
    data = text.encode()
    return b"%04x" % len(data) + data


def _failure(text: str) -> bytes:
    return b"FAIL" + _text(text)


STREAMS_MAX = 2048
WRITE_HIGH = 1 << 20
"""Unsent bytes at which a connection stops reading: a peer that doesn't read is not served on."""
HELD_MAX = 16 << 20
"""Bytes of answers waiting for a peer that doesn't take them; above this nothing new is started for it."""
RETRY_MS = 100.0

log = logging.getLogger(__name__)


class Connection(asyncio.Protocol):
    """One host, from its CNXN to the end of its socket."""

    def __init__(self, adbd: Adbd) -> None:
        self.adbd = adbd
        self.phone = adbd.phone
        self.reverse = Reverse(self)
        self.max_payload = wire.MAX_PAYLOAD_V1
        self.writable = True
        self.online = False
        self._parser = wire.Parser()
        self._summed = False
        self._token = b""
        self._channels: dict[int, Channel] = {}
        self._last_id = 0
        self._outbox: list[bytes] = []
        self._outbox_size = 0
        self._held = 0
        self._released = asyncio.Event()
        self._scheduled = False
        self._ready: dict[Channel, None] = {}
        self._waiting: dict[Channel, None] = {}
        self._loop = asyncio.get_running_loop()
        self._offered: PublicKey | None = None
        self._welcome: asyncio.Task[None] | None = None

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=WRITE_HIGH)
        if not self.adbd.join(self):
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._reset()
        self.adbd.leave(self)

    def data_received(self, data: bytes) -> None:
        """The flush is queued behind the services that start here: their answers leave with the OKAY."""
        self._scheduled = True
        try:
            for packet in self._parser.feed(data):
                if self._transport.is_closing():
                    return
                handler = _ALWAYS.get(packet.command)
                if handler is None and self.online:
                    handler = _ONLINE.get(packet.command)
                if handler is not None:
                    handler(self, packet)
        except wire.BadPacket as error:
            log.debug("%s: connection dropped: %s", self.phone.serial, error)
            self.drop()
        self._loop.call_soon(self._flush)

    def pause_writing(self) -> None:
        self.writable = False
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self.writable = True
        self._transport.resume_reading()
        self._ready |= self._waiting
        self._waiting = {}
        self._schedule()

    def drop(self) -> None:
        """End this connection; what is unsent is lost."""
        self._reset()
        self._transport.abort()

    def close(self) -> None:
        """End this connection after what was written has left."""
        self._flush()
        self._transport.close()

    # what channels need

    def send(self, command: wire.Command, arg0: int, arg1: int, payload: bytes = b"") -> None:
        self._outbox.append(wire.encode(wire.Packet(command, arg0, arg1, payload), summed=self._summed))
        self._outbox_size += len(payload)
        self._schedule()

    def reserve(self, size: int) -> bool:
        return self.adbd.reserve(size)

    def hold(self, size: int) -> None:
        self._held += size
        if self._held <= HELD_MAX:
            self._released.set()
        else:
            self._released.clear()

    def flush_soon(self, channel: Channel) -> None:
        if self.writable:
            self._ready[channel] = None
            self._schedule()
        else:
            self._waiting[channel] = None

    def forget(self, channel: Channel) -> None:
        self._channels.pop(channel.local, None)
        self._waiting.pop(channel, None)

    def open(self, target: str) -> Channel:
        """Open a stream on the host. Only `Reverse` may call this: an unknown target kills the adb server."""
        channel = self._channel()
        self.send(wire.Command.OPEN, channel.local, 0, target.encode() + b"\0")
        return channel

    # packets

    def _connect(self, packet: wire.Packet) -> None:
        self._reset()
        self._summed = packet.arg0 < wire.VERSION
        self._parser.summed = self._summed
        self.max_payload = max(256, min(packet.arg1, wire.MAX_PAYLOAD))
        if self.adbd.keys is None and not self.adbd.mute() and not self.adbd.silent_ms():
            self._accept()
        else:
            self._welcome = self._loop.create_task(self._answer())

    async def _answer(self) -> None:
        while (silent := self.adbd.silent_ms()) > 0:
            await self.phone.clock.sleep_ms(silent)
        if self.adbd.keys is not None or self.adbd.mute():
            self._challenge()
        while self.adbd.mute():
            await self.phone.clock.sleep_ms(RETRY_MS)
        if self.adbd.keys is None:
            self._accept()

    def _accept(self) -> None:
        self.online = True
        self._parser.limit = max(self.max_payload, wire.MAX_PAYLOAD_V1)
        self.send(wire.Command.CNXN, wire.VERSION, wire.MAX_PAYLOAD, self.adbd.banner())

    def _challenge(self) -> None:
        self._token = secrets.token_bytes(wire.TOKEN_SIZE)
        self.send(wire.Command.AUTH, wire.Auth.TOKEN, 0, self._token)

    def _authenticate(self, packet: wire.Packet) -> None:
        keys = self.adbd.keys
        if self.online or not self._token:
            return
        if packet.arg0 == wire.Auth.SIGNATURE:
            if keys is not None and not self.adbd.mute() and keys.knows(self._token, packet.payload):
                self._accept()
            else:
                self._challenge()
        elif packet.arg0 == wire.Auth.PUBLIC_KEY and keys is not None:
            key = decode_key(packet.payload)
            if key is not None:
                self._offered = key
                keys.ask(key)

    def keys_accepted(self, keys: list[PublicKey]) -> None:
        if not self.online and self._offered in keys and not self.adbd.mute():
            self._accept()

    def _open(self, packet: wire.Packet) -> None:
        remote = packet.arg0
        if not remote:
            return
        name = packet.payload.rstrip(b"\0").decode("utf-8", "surrogateescape")
        full = len(self._channels) >= STREAMS_MAX
        service = None if full else find_service(self, name)
        if service is None:
            self.send(wire.Command.CLSE, 0, remote)
            return
        channel = self._channel(remote)
        self.send(wire.Command.OKAY, channel.local, remote)
        task = self._loop.create_task(self._serve(service, channel))
        channel.on_hang_up = partial(self._hung_up, service, channel, task)

    def _okay(self, packet: wire.Packet) -> None:
        channel = self._channel_for(packet)
        if channel is not None:
            channel.acknowledge(packet.arg0)

    def _write(self, packet: wire.Packet) -> None:
        channel = self._channel_for(packet)
        if channel is not None:
            channel.deliver(packet.payload)

    def _close(self, packet: wire.Packet) -> None:
        channel = self._channels.get(packet.arg1)
        if channel is not None and (packet.arg0 in (0, channel.remote) or not channel.remote):
            if channel.remote:
                self.send(wire.Command.CLSE, channel.local, channel.remote)
            channel.hang_up()

    async def _serve(self, service: Service, channel: Channel) -> None:
        """The door of the phone: whatever a service trips over ends its stream and nothing else."""
        try:
            while self._held > HELD_MAX and not channel.over:
                await self._released.wait()
            await service.run(channel)
        except (BrokenPipeError, EOFError):
            pass
        except Exception:
            log.exception("a service failed")
            channel.abort()
        finally:
            channel.close()

    def _hung_up(self, service: Service, channel: Channel, task: asyncio.Task[None]) -> None:
        """A command that is reading finds the end of its input; any other is ended."""
        if service.drains and channel.reading:
            self.adbd.keep(task)
        elif service.hang_up is not None:
            service.hang_up(task)
            self.adbd.keep(task)
        else:
            task.cancel()

    # inside

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        ready, self._ready = self._ready, {}
        for channel in ready:
            channel.flush()
            if self._outbox_size > WRITE_HIGH:
                self._write_out()
        self._write_out()
        self._scheduled = False

    def _write_out(self) -> None:
        """May pause us: the channels that come next then wait until the peer reads."""
        outbox, self._outbox, self._outbox_size = self._outbox, [], 0
        if outbox and not self._transport.is_closing():
            self._transport.write(b"".join(outbox))

    def _channel(self, remote: int = 0) -> Channel:
        self._last_id = self._last_id % 0xFFFFFFFF + 1
        channel = self._channels[self._last_id] = Channel(self, self._last_id, remote)
        return channel

    def _channel_for(self, packet: wire.Packet) -> Channel | None:
        """The stream a packet belongs to: both ids must fit; others are ignored, as adbd does."""
        channel = self._channels.get(packet.arg1)
        if channel is None or not packet.arg0 or channel.remote not in (0, packet.arg0):
            return None
        return channel

    def _reset(self) -> None:
        self.online = False
        self._token = b""
        self._parser.limit = wire.MAX_PAYLOAD_V1
        if self._welcome is not None:
            self._welcome.cancel()
            self._welcome = None
        self.reverse.clear()
        for channel in list(self._channels.values()):
            channel.hang_up()


_ALWAYS: dict[int, Callable[[Connection, wire.Packet], None]] = {
    wire.Command.CNXN: Connection._connect,
    wire.Command.AUTH: Connection._authenticate,
}
_ONLINE: dict[int, Callable[[Connection, wire.Packet], None]] = {
    wire.Command.OPEN: Connection._open,
    wire.Command.OKAY: Connection._okay,
    wire.Command.WRTE: Connection._write,
    wire.Command.CLSE: Connection._close,
}
