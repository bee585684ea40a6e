"""One stream by itself: how it is taken, whose turn it is to write, and how it is closed."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.direct import DirectStream
from handrail.adb.wire import Command
from handrail.errors import DeviceOffline
from tests.cases import each
from tests.unit.adb.lone_stream import KEPT, LOCAL, REMOTE, Recorder, with_stream
from tests.unit.adb.wires import now, turns

# being taken


def test_the_first_okay_takes_the_stream_and_gives_the_devices_id() -> None:
    async def story(stream: DirectStream, _: Recorder) -> None:
        assert (stream.local, stream.remote, stream.service) == (LOCAL, 0, "tcp:1")
        assert not stream.taken.done()
        stream.acknowledge(REMOTE)
        assert stream.remote == REMOTE
        await now(stream.taken)
        stream.acknowledge(8)
        assert stream.remote == REMOTE

    with_stream(story, taken=False)


def test_a_line_that_breaks_before_the_service_was_taken_says_so_itself() -> None:
    async def story(stream: DirectStream, _: Recorder) -> None:
        broken = DeviceOffline("gone")
        stream.hang_up(broken)
        with pytest.raises(DeviceOffline) as caught:
            await now(stream.taken)
        assert caught.value is broken

    with_stream(story, taken=False)


def test_a_refusal_that_nobody_waits_for_is_no_complaint() -> None:
    async def story(stream: DirectStream, _: Recorder) -> None:
        stream.hang_up()

    with_stream(story, taken=False)


def test_a_stream_whose_opener_was_cancelled_may_be_taken_or_refused() -> None:
    async def story(stream: DirectStream, line: Recorder) -> None:
        other = DirectStream(line, LOCAL + 1, "tcp:2")
        for stream_ in (stream, other):
            stream_.taken.cancel()
        stream.acknowledge(REMOTE)
        assert stream.remote == REMOTE
        other.hang_up()
        assert line.forgotten == [other]

    with_stream(story, taken=False)


# writing


def test_a_write_goes_as_one_packet() -> None:
    async def story(stream: DirectStream, line: Recorder) -> None:
        await now(stream.write(b"hello"))
        assert line.took() == [(Command.WRTE, LOCAL, REMOTE, b"hello")]

    with_stream(story)


def test_nothing_is_written_before_the_device_has_taken_the_stream() -> None:
    async def story(stream: DirectStream, line: Recorder) -> None:
        writing = asyncio.ensure_future(stream.write(b"hello"))
        await turns()
        assert line.took() == []
        stream.acknowledge(REMOTE)
        await now(writing)
        assert line.took() == [(Command.WRTE, LOCAL, REMOTE, b"hello")]

    with_stream(story, taken=False)


def test_every_write_waits_for_the_okay_of_the_one_before() -> None:
    async def story(stream: DirectStream, line: Recorder) -> None:
        await now(stream.write(b"one"))
        second = asyncio.ensure_future(stream.write(b"two"))
        await turns()
        assert [packet[3] for packet in line.took()] == [b"one"]
        assert not second.done()
        stream.acknowledge(REMOTE)
        await now(second)
        assert [packet[3] for packet in line.took()] == [b"two"]

    with_stream(story)


@each(("agreed", "size"), [(4096, 4096), (KEPT - 1, KEPT - 1), (1 << 20, KEPT)])
def test_a_long_write_is_cut_into_packets_that_leave_room_for_others(agreed: int, size: int) -> None:
    async def story(stream: DirectStream, line: Recorder) -> None:
        data = bytes(range(256)) * (size // 128 + 1)
        writing = asyncio.ensure_future(stream.write(data))
        parts: list[bytes] = []
        while not writing.done():
            await turns()
            (packet,) = line.took()
            parts.append(packet[3])
            stream.acknowledge(REMOTE)
        assert {len(part) for part in parts[:-1]} == {size}
        assert 0 < len(parts[-1]) <= size
        assert b"".join(parts) == data

    with_stream(story, max_payload=agreed)


def test_nothing_to_write_is_no_packet() -> None:
    async def story(stream: DirectStream, line: Recorder) -> None:
        await now(stream.write(b""))
        await now(stream.write(b"x"))
        assert [packet[3] for packet in line.took()] == [b"x"]

    with_stream(story)


def test_of_two_writers_both_get_their_turn() -> None:
    async def story(stream: DirectStream, line: Recorder) -> None:
        await now(stream.write(b"first"))
        waiting = [asyncio.ensure_future(stream.write(text)) for text in (b"second", b"third")]
        for text in (b"first", b"second", b"third"):
            await turns()
            assert [packet[3] for packet in line.took()] == [text]
            stream.acknowledge(REMOTE)
        assert all(task.done() for task in waiting)

    with_stream(story)


def test_one_writers_pieces_are_not_mixed_with_anothers() -> None:
    async def story(stream: DirectStream, line: Recorder) -> None:
        both = asyncio.gather(stream.write(b"aabb"), stream.write(b"cc"))
        for _ in range(3):
            await turns()
            stream.acknowledge(REMOTE)
        await now(both)
        assert [packet[3] for packet in line.took()] == [b"aa", b"bb", b"cc"]

    with_stream(story, max_payload=2)


def test_a_writer_that_gives_up_leaves_its_turn_to_the_next() -> None:
    async def story(stream: DirectStream, line: Recorder) -> None:
        first, second = (asyncio.ensure_future(stream.write(text)) for text in (b"first", b"second"))
        await turns()
        first.cancel()
        stream.acknowledge(REMOTE)
        await now(second)
        assert [packet[3] for packet in line.took()] == [b"second"]

    with_stream(story, taken=False)


# closing
