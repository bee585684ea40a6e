"""One stream by itself: whose turn it is to write, what waits to be read, and how it ends."""

from __future__ import annotations

import asyncio

from handrail.adb.stream import DirectStream
from handrail.adb.wire import Command
from tests.unit.adb.wires import turns


class Recorder:
    """A connection that keeps what a stream sends."""

    def __init__(self, max_payload: int = 1 << 20) -> None:
        self.max_payload = max_payload
        self.sent: list[tuple[int, int, int, bytes]] = []
        self.unanswered: list[DirectStream] = []
        self.forgotten: list[DirectStream] = []

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"") -> None:
        self.sent.append((command, arg0, arg1, payload))

    def answer_soon(self, stream: DirectStream) -> None:
        self.unanswered.append(stream)

    def forget(self, stream: DirectStream) -> None:
        self.forgotten.append(stream)


def test_of_two_writers_both_get_their_turn() -> None:
    async def story() -> None:
        line = Recorder()
        stream = DirectStream(line, 1, "tcp:1")
        stream.acknowledge(7)
        await stream.write(b"first")
        waiting = [asyncio.ensure_future(stream.write(text)) for text in (b"second", b"third")]
        await turns()
        stream.acknowledge(7)
        await turns()
        stream.acknowledge(7)
        await turns()
        assert [packet[3] for packet in line.sent] == [b"first", b"second", b"third"]
        assert all(task.done() for task in waiting)

    asyncio.run(story())


def test_one_writers_pieces_are_not_mixed_with_anothers() -> None:
    async def story() -> None:
        line = Recorder(max_payload=2)
        stream = DirectStream(line, 1, "tcp:1")
        both = asyncio.gather(stream.write(b"aabb"), stream.write(b"cc"))
        for _ in range(3):
            stream.acknowledge(7)
            await turns()
        await both
        assert [packet[3] for packet in line.sent] == [b"aa", b"bb", b"cc"]

    asyncio.run(story())


def test_a_writer_that_gives_up_leaves_its_turn_to_the_next() -> None:
    async def story() -> None:
        line = Recorder()
        stream = DirectStream(line, 1, "tcp:1")
        first = asyncio.ensure_future(stream.write(b"first"))
        second = asyncio.ensure_future(stream.write(b"second"))
        await turns()
        first.cancel()
        stream.acknowledge(7)
        await second
        assert [packet[3] for packet in line.sent] == [b"second"]

    asyncio.run(story())


def test_of_two_readers_both_get_something() -> None:
    async def story() -> None:
        stream = DirectStream(Recorder(), 1, "tcp:1")
        stream.acknowledge(7)
        readers = [asyncio.ensure_future(stream.read()) for _ in range(2)]
        await turns()
        stream.deliver(b"a")
        await turns()
        stream.deliver(b"b")
        assert await asyncio.gather(*readers) == [b"a", b"b"]

    asyncio.run(story())
