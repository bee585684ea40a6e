"""A stream without a connection: what it sends is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from handrail.adb.direct import DirectStream
from handrail.adb.wire import Command

LOCAL, REMOTE = 3, 7
KEPT = 262_144
"""Unread bytes up to which the device is let go on, and the most of one WRTE."""
OKAY = (Command.OKAY, LOCAL, REMOTE, b"")
CLSE = (Command.CLSE, LOCAL, REMOTE, b"")


class Recorder:
    """A connection that keeps what a stream sends."""

    def __init__(self, max_payload: int = 1 << 20) -> None:
        self.max_payload = max_payload
        self.sent: list[tuple[int, int, int, bytes]] = []
        self.unanswered: list[DirectStream] = []
        self.forgotten: list[DirectStream] = []

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None:
        self.sent.append((command, arg0, arg1, payload))

    def send_okay_soon(self, stream: DirectStream) -> None:
        self.unanswered.append(stream)

    def forget(self, stream: DirectStream) -> None:
        self.forgotten.append(stream)

    def send_okay(self) -> None:
        """What the connection does when all that came with a packet has been handled."""
        for stream in self.unanswered:
            stream.send_okay()
        self.unanswered.clear()

    def took(self) -> list[tuple[int, int, int, bytes]]:
        sent, self.sent = self.sent, []
        return sent


@asynccontextmanager
async def stream_on(line: Recorder, taken: bool = True) -> AsyncIterator[DirectStream]:
    """A stream that the device has taken."""
    stream = DirectStream(line, LOCAL, "tcp:1")
    if taken:
        stream.acknowledge(REMOTE)
    yield stream


def deliver(stream: DirectStream, line: Recorder, *parts: bytes) -> None:
    """WRTEs, each of which is handled before the next one."""
    for part in parts:
        stream.deliver(part)
        line.send_okay()
