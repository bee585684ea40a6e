"""One stream by itself: how it is taken, whose turn it is to write, and how it is closed."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.direct import DirectStream
from handrail.adb.wire import Command
from handrail.errors import DeviceOffline
from tests.unit.adb.lone_stream import KEPT, LOCAL, REMOTE, Recorder, stream_on
from tests.unit.adb.wires import now, run_without_complaints, turns

ASYNC_RUNNER = run_without_complaints

# being taken


@pytest.mark.options(taken=False)
async def test_the_first_okay_takes_the_stream_and_gives_the_devices_id(stream: DirectStream) -> None:
    assert (stream.local, stream.remote, stream.service) == (LOCAL, 0, "tcp:1")
    assert not stream.taken.done()
    stream.acknowledge(REMOTE)
    assert stream.remote == REMOTE
    await now(stream.taken)
    stream.acknowledge(8)
    assert stream.remote == REMOTE


@pytest.mark.options(taken=False)
async def test_a_line_that_breaks_before_the_service_was_taken_says_so_itself(stream: DirectStream) -> None:
    broken = DeviceOffline("gone")
    stream.hang_up(broken)
    with pytest.raises(DeviceOffline) as caught:
        await now(stream.taken)
    assert caught.value is broken


@pytest.mark.options(taken=False)
async def test_a_refusal_that_nobody_waits_for_is_no_complaint(stream: DirectStream) -> None:
    stream.hang_up()


@pytest.mark.options(taken=False)
async def test_a_stream_whose_opener_was_cancelled_may_be_taken_or_refused(
    stream: DirectStream, line: Recorder
) -> None:
    other = DirectStream(line, LOCAL + 1, "tcp:2")
    for stream_ in (stream, other):
        stream_.taken.cancel()
    stream.acknowledge(REMOTE)
    assert stream.remote == REMOTE
    other.hang_up()
    assert line.forgotten == [other]


# writing


async def test_a_write_goes_as_one_packet(stream: DirectStream, line: Recorder) -> None:
    await now(stream.write(b"hello"))
    assert line.took() == [(Command.WRTE, LOCAL, REMOTE, b"hello")]


@pytest.mark.options(taken=False)
async def test_nothing_is_written_before_the_device_has_taken_the_stream(
    stream: DirectStream, line: Recorder
) -> None:
    writing = asyncio.ensure_future(stream.write(b"hello"))
    await turns()
    assert line.took() == []
    stream.acknowledge(REMOTE)
    await now(writing)
    assert line.took() == [(Command.WRTE, LOCAL, REMOTE, b"hello")]


async def test_every_write_waits_for_the_okay_of_the_one_before(stream: DirectStream, line: Recorder) -> None:
    await now(stream.write(b"one"))
    second = asyncio.ensure_future(stream.write(b"two"))
    await turns()
    assert [packet[3] for packet in line.took()] == [b"one"]
    assert not second.done()
    stream.acknowledge(REMOTE)
    await now(second)
    assert [packet[3] for packet in line.took()] == [b"two"]


@pytest.mark.parametrize(("agreed", "size"), [(4096, 4096), (KEPT - 1, KEPT - 1), (1 << 20, KEPT)])
async def test_a_long_write_is_cut_into_packets_that_leave_room_for_others(agreed: int, size: int) -> None:
    line = Recorder(agreed)
    async with stream_on(line) as stream:
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


async def test_nothing_to_write_is_no_packet(stream: DirectStream, line: Recorder) -> None:
    await now(stream.write(b""))
    await now(stream.write(b"x"))
    assert [packet[3] for packet in line.took()] == [b"x"]


async def test_of_two_writers_both_get_their_turn(stream: DirectStream, line: Recorder) -> None:
    await now(stream.write(b"first"))
    waiting = [asyncio.ensure_future(stream.write(text)) for text in (b"second", b"third")]
    for text in (b"first", b"second", b"third"):
        await turns()
        assert [packet[3] for packet in line.took()] == [text]
        stream.acknowledge(REMOTE)
    assert all(task.done() for task in waiting)


@pytest.mark.options(max_payload=2)
async def test_one_writers_pieces_are_not_mixed_with_anothers(stream: DirectStream, line: Recorder) -> None:
    both = asyncio.gather(stream.write(b"aabb"), stream.write(b"cc"))
    for _ in range(3):
        await turns()
        stream.acknowledge(REMOTE)
    await now(both)
    assert [packet[3] for packet in line.took()] == [b"aa", b"bb", b"cc"]


@pytest.mark.options(taken=False)
async def test_a_writer_that_gives_up_leaves_its_turn_to_the_next(
    stream: DirectStream, line: Recorder
) -> None:
    first, second = (asyncio.ensure_future(stream.write(text)) for text in (b"first", b"second"))
    await turns()
    first.cancel()
    stream.acknowledge(REMOTE)
    await now(second)
    assert [packet[3] for packet in line.took()] == [b"second"]


# closing
