"""A connection by itself: many streams on it, which packet belongs to whom, and what was given up."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.direct import DirectStream
from handrail.adb.wire import MAX_PAYLOAD, VERSION, Command, Packet
from handrail.errors import AdbConnectionError, DeviceOffline, InvalidAction
from tests.unit.adb.lone_connection import BANNER, NAME, Lone
from tests.unit.adb.wires import now, run_without_complaints, turns

ASYNC_RUNNER = run_without_complaints

REMOTE = 7


async def opening(lone: Lone, service: str = "tcp:1") -> asyncio.Task[DirectStream]:
    """An OPEN that was sent, and that nobody has answered."""
    task = asyncio.ensure_future(lone.connection.open(service))
    await turns()
    assert not task.done()
    return task


async def given_up(lone: Lone) -> int:
    """The id of a stream whose opener was cancelled before the device had answered."""
    task = await opening(lone)
    (packet,) = lone.sent()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await now(task)
    assert lone.sent() == []
    return packet.arg0


# opening


@pytest.mark.options(welcome=Packet(Command.CNXN, VERSION, 4096, BANNER))
async def test_a_service_fits_into_one_packet_or_is_refused(lone: Lone) -> None:
    assert (await lone.opened("x" * 4095)).service == "x" * 4095
    with pytest.raises(InvalidAction) as caught:
        await now(lone.connection.open("x" * 4096))
    assert caught.value.message == "a command of 4097 bytes is too long, 4096 fit into one request"
    assert caught.value.hint == "Send the data on stdin, or push it as a file."
    assert caught.value.details == {"path": "command", "delivery": "not_delivered"}
    assert lone.sent() == []


# packets and whose they are


@pytest.mark.parametrize("command", [Command.OPEN, 0x12345678])
async def test_a_command_that_means_nothing_to_a_stream_is_left_alone(command: int, lone: Lone) -> None:
    stream = await lone.opened(remote=7)
    await now(stream.write(b"first"))
    lone.comes(Packet(command, 7, stream.local, b"?"))
    reading, writing = (asyncio.ensure_future(work) for work in (stream.read(), stream.write(b"second")))
    await turns()
    assert (reading.done(), writing.done()) == (False, False)
    for task in (reading, writing):
        task.cancel()


async def test_what_comes_before_the_stream_was_taken_is_dropped(lone: Lone) -> None:
    task = await opening(lone)
    lone.comes(Packet(Command.WRTE, REMOTE, 1, b"early"), Packet(Command.OKAY, REMOTE, 1))
    stream = await now(task)
    lone.comes(Packet(Command.WRTE, REMOTE, 1, b"in time"))
    assert await now(stream.read()) == b"in time"


async def test_a_device_that_is_not_read_is_stopped_and_one_that_does_not_stop_is_cut_off(lone: Lone) -> None:
    stream, other = await lone.opened(remote=7), await lone.opened(remote=8)
    flood = Packet(Command.WRTE, 7, stream.local, bytes(1 << 20))
    lone.comes(flood)
    assert lone.sent() == []
    for _ in range(5):
        lone.comes(flood)
    assert lone.sent() == [Packet(Command.CLSE, stream.local, 7)]
    assert len(await now(stream.read())) == 1 << 20
    with pytest.raises(AdbConnectionError, match="than was asked for"):
        await now(stream.read())
    lone.comes(Packet(Command.WRTE, 8, other.local, b"x"))
    assert await now(other.read()) == b"x"


# giving up


async def test_a_stream_that_was_given_up_is_closed_once_the_device_has_taken_it(lone: Lone) -> None:
    local = await given_up(lone)
    lone.comes(Packet(Command.WRTE, REMOTE, local, b"early"))
    assert lone.sent() == []
    lone.comes(Packet(Command.OKAY, REMOTE, local))
    assert lone.sent() == [Packet(Command.CLSE, local, REMOTE)]
    for command in (Command.OKAY, Command.WRTE, Command.CLSE):
        lone.comes(Packet(command, REMOTE, local))
    assert lone.sent() == []


async def test_a_stream_that_was_given_up_and_refused_is_forgotten(lone: Lone) -> None:
    local = await given_up(lone)
    lone.comes(Packet(Command.CLSE, 0, local), Packet(Command.OKAY, REMOTE, local))
    assert lone.sent() == []


async def test_a_stream_that_is_given_up_just_when_it_was_taken_is_closed_at_once(lone: Lone) -> None:
    task = await opening(lone)
    lone.sent()
    lone.comes(Packet(Command.OKAY, REMOTE, 1))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await now(task)
    assert lone.sent() == [Packet(Command.CLSE, 1, REMOTE)]
    lone.comes(Packet(Command.WRTE, REMOTE, 1, b"x"), Packet(Command.OKAY, REMOTE, 1))
    assert lone.sent() == []


async def test_a_stream_that_is_given_up_just_when_it_was_refused_needs_no_word(lone: Lone) -> None:
    task = await opening(lone)
    lone.sent()
    lone.comes(Packet(Command.CLSE, 0, 1))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await now(task)
    lone.comes(Packet(Command.OKAY, REMOTE, 1))
    assert lone.sent() == []


# the end of all of them


async def test_a_connection_that_starts_anew_has_forgotten_its_streams(lone: Lone) -> None:
    await now(lone.connection.welcome)
    abandoned = await given_up(lone)
    stream = await lone.opened("exec:" + "x" * 90)
    lone.comes(Packet(Command.CNXN, VERSION, MAX_PAYLOAD, b"device::features=cmd"))
    shown = "exec:" + "x" * 75
    with pytest.raises(DeviceOffline) as caught:
        await now(stream.read())
    assert caught.value.message == f"{NAME} started its connection anew while '{shown}' was running"
    assert caught.value.details == {"delivery": "unknown"}
    assert lone.connection.banner.features == ("cmd",)
    lone.comes(Packet(Command.OKAY, REMOTE, abandoned))
    assert (lone.sent(), lone.connection.usable) == ([], True)


async def test_all_streams_learn_that_the_connection_is_lost(lone: Lone) -> None:
    stream = await lone.opened()
    waiting = await opening(lone, "tcp:2")
    lone.connection.connection_lost(OSError("reset"))
    for work, service in ((stream.read(), "tcp:1"), (waiting, "tcp:2")):
        with pytest.raises(DeviceOffline) as caught:
            await now(work)
        message = f"{NAME} dropped the connection: reset while '{service}' was running"
        assert (caught.value.message, caught.value.retryable) == (message, False)
        assert caught.value.details == {"delivery": "unknown"}
    assert (lone.connection.online, lone.connection.usable) == (False, False)
    lone.transport.took()
    await now(stream.close())
    assert lone.sent() == []


async def test_streams_learn_what_to_do_when_the_connection_goes_over_to_tls(lone: Lone) -> None:
    stream = await lone.opened()
    lone.comes(Packet(Command.STLS, 0x01000000, 0))
    with pytest.raises(DeviceOffline, match="requires TLS") as caught:
        await now(stream.read())
    assert caught.value.hint == "Use the adb server for this phone."
