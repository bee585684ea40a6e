"""One stream by itself: what is read when, and when the device may go on."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.direct import ByteQueue, DirectStream
from handrail.errors import AdbConnectionError
from tests.unit.adb.lone_stream import CLSE, KEPT, LOCAL, OKAY, REMOTE, Recorder, deliver
from tests.unit.adb.wires import now, run_without_complaints, turns

ASYNC_RUNNER = run_without_complaints


async def test_what_came_is_read_in_order_and_answered_at_once(stream: DirectStream, line: Recorder) -> None:
    deliver(stream, line, b"one", b"two")
    assert line.took() == [OKAY, OKAY]
    assert [await now(stream.read()), await now(stream.read())] == [b"one", b"two"]
    assert line.took() == []


async def test_nothing_is_answered_before_something_came(stream: DirectStream, line: Recorder) -> None:
    stream.send_okay()
    assert line.took() == []


async def test_what_is_read_before_the_answer_was_due_is_answered_once(
    stream: DirectStream, line: Recorder
) -> None:
    stream.deliver(b"x")
    assert await now(stream.read()) == b"x"
    line.send_okay()
    assert line.took() == [OKAY]


async def test_a_device_is_let_go_on_while_little_lies_unread(stream: DirectStream, line: Recorder) -> None:
    deliver(stream, line, bytes(KEPT - 1), b"x")
    assert line.took() == [OKAY, OKAY]


async def test_a_device_waits_for_its_okay_while_too_much_lies_unread(
    stream: DirectStream, line: Recorder
) -> None:
    deliver(stream, line, b"a" * 10, b"b" * KEPT)
    assert line.took() == [OKAY]
    stream.send_okay()
    await turns()
    assert line.took() == []
    assert await now(stream.read()) == b"a" * 10
    assert line.took() == [OKAY]
    assert await now(stream.read()) == b"b" * KEPT
    assert line.took() == []


async def test_reading_answers_only_when_enough_was_read(stream: DirectStream, line: Recorder) -> None:
    deliver(stream, line, b"a", b"b", bytes(KEPT))
    line.took()
    await now(stream.read())
    assert line.took() == []
    await now(stream.read())
    assert line.took() == [OKAY]


async def test_a_device_that_writes_without_its_okay_is_cut_off_before_it_fills_the_memory(
    line: Recorder,
) -> None:
    stream = DirectStream(line, LOCAL, "tcp:1" + "x" * 90)
    stream.acknowledge(REMOTE)
    deliver(stream, line, bytes(KEPT + 1))
    assert line.took() == []
    stream.deliver(b"more")
    assert (line.took(), line.unanswered) == ([CLSE], [])
    assert line.forgotten == [stream]
    assert await now(stream.read()) == bytes(KEPT + 1)
    with pytest.raises(AdbConnectionError) as caught:
        await now(stream.read())
    shown = "tcp:1" + "x" * 75
    assert caught.value.message == f"the device sends more of '{shown}' than was asked for"
    assert caught.value.hint == "What listens there breaks adb's rules: reconnect the phone."
    assert caught.value.details == {"delivery": "unknown"}


async def test_two_packets_at_once_are_no_flood_while_there_is_room(
    stream: DirectStream, line: Recorder
) -> None:
    stream.deliver(bytes(KEPT))
    stream.deliver(b"more")
    line.send_okay()
    assert line.took() == []
    await now(stream.read())
    assert line.took() == [OKAY]
    assert await now(stream.read()) == b"more"


async def test_a_reader_waits_for_what_comes(stream: DirectStream, line: Recorder) -> None:
    reading = asyncio.ensure_future(stream.read())
    await turns()
    assert not reading.done()
    deliver(stream, line, b"x")
    assert await now(reading) == b"x"


# the queue of bytes


async def test_what_arrived_before_the_end_is_read_before_the_error() -> None:
    queue = ByteQueue()
    queue.put(b"a")
    queue.end(OSError("gone"))
    queue.put(b"too late")
    queue.end(OSError("again"))
    assert (queue.size, queue.ended) == (1, True)
    assert await now(queue.get()) == b"a"
    with pytest.raises(OSError, match="gone"):
        await now(queue.get())


async def test_a_queue_knows_how_much_is_in_it() -> None:
    queue = ByteQueue()
    assert (queue.size, queue.ended) == (0, False)
    for part in (b"ab", b"", b"cde"):
        queue.put(part)
    assert queue.size == 5
    assert await now(queue.get()) == b"ab"
    assert queue.size == 3
    queue.drop()
    assert queue.size == 0
    queue.put(b"f")
    assert await now(queue.get()) == b"f"
    queue.end()
    assert await now(queue.get()) == b""


async def test_who_waits_at_an_empty_queue_is_woken_by_its_end() -> None:
    queue = ByteQueue()
    waiting = [asyncio.ensure_future(queue.get()) for _ in range(2)]
    await turns()
    queue.put(b"")
    await turns()
    assert not any(task.done() for task in waiting)
    queue.end()
    assert await now(asyncio.gather(*waiting)) == [b"", b""]
