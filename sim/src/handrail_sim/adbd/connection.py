"""One host's connection: handshake, streams, flow. What a stream serves is known by `services`.

A protocol error costs the peer its connection or its stream, never the phone.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from handrail_sim.adbd.auth import PublicKey, decode_key
from handrail_sim.adbd.channel import Channel
from handrail_sim.adbd.reverse import Reverse
from handrail_sim.adbd.services import Service, find_service
from handrail_sim.adbd.wire import (
    MAX_PAYLOAD,
    MAX_PAYLOAD_V1,
    TOKEN_SIZE,
    VERSION,
    Auth,
    BadPacket,
    Command,
    Packet,
    Parser,
    encode,
)

if TYPE_CHECKING:
    from handrail_sim.adbd.daemon import Adbd

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
        self.max_payload = MAX_PAYLOAD_V1
        self.writable = True
        self.online = False
        self._parser = Parser()
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
                self._handle(packet)
        except BadPacket as error:
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

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None:
        self._outbox.append(encode(Packet(command, arg0, arg1, payload), summed=self._summed))
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
        self.send(Command.OPEN, channel.local, 0, target.encode() + b"\0")
        return channel

    # packets

    def _handle(self, packet: Packet) -> None:
        handler = _ALWAYS.get(packet.command)
        if handler is None and self.online:
            handler = _ONLINE.get(packet.command)
        if handler is not None:
            handler(self, packet)

    def _connect(self, packet: Packet) -> None:
        self._reset()
        self._summed = packet.arg0 < VERSION
        self._parser.summed = self._summed
        self.max_payload = max(256, min(packet.arg1, MAX_PAYLOAD))
        if self.adbd.keys is None and not self.adbd.mute() and not self.adbd.silent_ms():
            self._accept()
        else:
            self._welcome = self._loop.create_task(self._answer())

    async def _answer(self) -> None:
        """Once the phone is up, welcome the host or ask who it is."""
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
        self._parser.limit = max(self.max_payload, MAX_PAYLOAD_V1)
        self.send(Command.CNXN, VERSION, MAX_PAYLOAD, self.adbd.banner())

    def _challenge(self) -> None:
        self._token = secrets.token_bytes(TOKEN_SIZE)
        self.send(Command.AUTH, Auth.TOKEN, 0, self._token)

    def _authenticate(self, packet: Packet) -> None:
        keys = self.adbd.keys
        if self.online or not self._token:
            return
        if packet.arg0 == Auth.SIGNATURE:
            if keys is not None and not self.adbd.mute() and keys.knows(self._token, packet.payload):
                self._accept()
            else:
                self._challenge()
        elif packet.arg0 == Auth.PUBLIC_KEY and keys is not None:
            key = decode_key(packet.payload)
            if key is not None:
                self._offered = key
                keys.ask(key)

    def keys_accepted(self, keys: list[PublicKey]) -> None:
        """Somebody said yes; to this host's key?"""
        if not self.online and self._offered in keys and not self.adbd.mute():
            self._accept()

    def _open(self, packet: Packet) -> None:
        remote = packet.arg0
        if not remote:
            return
        name = packet.payload.rstrip(b"\0").decode("utf-8", "surrogateescape")
        full = len(self._channels) >= STREAMS_MAX
        service = None if full else find_service(self, name)
        if service is None:
            self.send(Command.CLSE, 0, remote)
            return
        channel = self._channel(remote)
        self.send(Command.OKAY, channel.local, remote)
        task = self._loop.create_task(self._serve(service, channel))
        channel.on_hang_up = partial(self._hung_up, service, channel, task)

    def _okay(self, packet: Packet) -> None:
        channel = self._channel_for(packet)
        if channel is not None:
            channel.acknowledge(packet.arg0)

    def _write(self, packet: Packet) -> None:
        channel = self._channel_for(packet)
        if channel is not None:
            channel.deliver(packet.payload)

    def _close(self, packet: Packet) -> None:
        channel = self._channels.get(packet.arg1)
        if channel is not None and (packet.arg0 in (0, channel.remote) or not channel.remote):
            if channel.remote:
                self.send(Command.CLSE, channel.local, channel.remote)
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
        """One write for all that is to be said in this turn of the loop."""
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

    def _channel_for(self, packet: Packet) -> Channel | None:
        """The stream a packet belongs to: both ids must fit; others are ignored, as adbd does."""
        channel = self._channels.get(packet.arg1)
        if channel is None or not packet.arg0 or channel.remote not in (0, packet.arg0):
            return None
        return channel

    def _reset(self) -> None:
        """Forget all streams and who the peer is."""
        self.online = False
        self._token = b""
        self._parser.limit = MAX_PAYLOAD_V1
        if self._welcome is not None:
            self._welcome.cancel()
            self._welcome = None
        self.reverse.clear()
        for channel in list(self._channels.values()):
            channel.hang_up()


_ALWAYS: dict[int, Callable[[Connection, Packet], None]] = {
    Command.CNXN: Connection._connect,
    Command.AUTH: Connection._authenticate,
}
_ONLINE: dict[int, Callable[[Connection, Packet], None]] = {
    Command.OPEN: Connection._open,
    Command.OKAY: Connection._okay,
    Command.WRTE: Connection._write,
    Command.CLSE: Connection._close,
}
