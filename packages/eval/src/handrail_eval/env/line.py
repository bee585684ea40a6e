"""A line to a daemon of this process: what one end writes the other end has in the loop's next turn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from handrail.adb.direct import AdbdConnection, Direct

if TYPE_CHECKING:
    from handrail.clock import Clock
    from handrail_sim.adbd.daemon import Adbd


class MemoryTransport(asyncio.Transport):
    """One end. Bytes wait while it is paused; nothing else slows a writer."""

    peer: MemoryTransport

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._arrived: list[bytes] = []
        self._paused = self._closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._closing:
            self.peer._take(bytes(data))

    def _take(self, data: bytes) -> None:
        self._arrived.append(data)
        if len(self._arrived) == 1:
            self._loop.call_soon(self._hand_over)

    def _hand_over(self) -> None:
        if self._paused or not self._arrived:
            return
        data, self._arrived = b"".join(self._arrived), []
        if not self._closing:
            self._protocol.data_received(data)

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        self._loop.call_soon(self._hand_over)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        del high, low

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        """Both ends hear of it, once."""
        if not self._closing:
            self._closing = True
            self._loop.call_soon(self._protocol.connection_lost, None)
            self._loop.call_soon(self.peer.close)

    abort = close


class InProcessLink(Direct):
    """A `Link` to this daemon."""

    def __init__(self, adbd: Adbd, name: str, clock: Clock) -> None:
        super().__init__(name, 0, keys=(), clock=clock)
        self._adbd = adbd

    @property
    def serial(self) -> str:
        return self.host

    async def _once(self, left_ms: float) -> AdbdConnection:
        del left_ms
        line, theirs = AdbdConnection(self.serial, self._keys), self._adbd.connection()
        ends = MemoryTransport(line), MemoryTransport(theirs)
        ends[0].peer, ends[1].peer = ends[1], ends[0]
        theirs.connection_made(ends[1])
        line.connection_made(ends[0])
        await line.welcome
        return line
