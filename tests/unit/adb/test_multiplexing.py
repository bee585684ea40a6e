"""A connection by itself: many streams on it, which packet belongs to whom, and what was given up."""

from __future__ import annotations

import asyncio

import pytest

from handrail.adb.direct import DirectStream
from handrail.adb.wire import MAX_PAYLOAD, VERSION, Command, Packet, encode
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceOffline, InvalidAction
from tests.cases import each
from tests.unit.adb.lone_connection import BANNER, NAME, Lone, with_connection
from tests.unit.adb.wires import now, turns

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


def hello_and_end(local: int) -> list[bytes]:
    return [
        encode(Packet(Command.WRTE, REMOTE, local, b"hello")),
        encode(Packet(Command.CLSE, REMOTE, local)),
    ]


# opening


def test_every_service_is_opened_under_an_id_of_its_own() -> None:
    async def story(lone: Lone) -> None:
        tasks = [await opening(lone, service) for service in ("exec:cat", "exec:\udcff")]
        payloads = [b"exec:cat\0", b"exec:\xff\0"]
        assert lone.sent() == [Packet(Command.OPEN, at + 1, 0, payloads[at]) for at in range(2)]
        for task in tasks:
            task.cancel()

    with_connection(story)


def test_ids_start_again_after_the_last_one() -> None:
    async def story(lone: Lone) -> None:
        lone.connection._last_id = 0xFFFFFFFE
        tasks = [await opening(lone) for _ in range(2)]
        assert [packet.arg0 for packet in lone.sent()] == [0xFFFFFFFF, 1]
        for task in tasks:
            task.cancel()

    with_connection(story)


def test_a_service_fits_into_one_packet_or_is_refused() -> None:
    async def story(lone: Lone) -> None:
        assert (await lone.opened("x" * 4095)).service == "x" * 4095
        with pytest.raises(InvalidAction) as caught:
            await now(lone.connection.open("x" * 4096))
        assert caught.value.message == "a command of 4097 bytes is too long, 4096 fit into one request"
        assert caught.value.hint == "Send the data on stdin, or push it as a file."
        assert caught.value.details == {"path": "command", "delivery": "not_delivered"}
        assert lone.sent() == []

    with_connection(story, welcome=Packet(Command.CNXN, VERSION, 4096, BANNER))


def test_a_device_refuses_a_service_by_closing_it() -> None:
    async def story(lone: Lone) -> None:
        task = await opening(lone)
        lone.comes(Packet(Command.CLSE, 0, 1))
        with pytest.raises(AdbCommandError, match="refused to open 'tcp:1'"):
            await now(task)

    with_connection(story)


def test_an_okay_without_an_id_takes_nothing() -> None:
    async def story(lone: Lone) -> None:
        task = await opening(lone)
        lone.comes(Packet(Command.OKAY, 0, 1))
        await turns()
        assert not task.done()
        lone.comes(Packet(Command.OKAY, REMOTE, 1))
        assert (await now(task)).remote == REMOTE

    with_connection(story)


# packets and whose they are


def test_a_packet_goes_to_the_stream_that_it_names() -> None:
    async def story(lone: Lone) -> None:
        one, two = await lone.opened(remote=7), await lone.opened(remote=8)
        lone.comes(
            Packet(Command.WRTE, 8, two.local, b"for two"), Packet(Command.WRTE, 7, one.local, b"for one")
        )
        assert [await now(one.read()), await now(two.read())] == [b"for one", b"for two"]
        await now(two.write(b"x"))
        assert lone.sent()[-1] == Packet(Command.WRTE, two.local, 8, b"x")

    with_connection(story)


@each("command", [Command.OKAY, Command.WRTE, Command.CLSE, Command.OPEN, 0x12345678])
@each(("sender", "receiver"), [(8, 1), (7, 2)], ids=["stranger", "nobody"])
def test_what_belongs_to_nobody_is_left_alone(command: int, sender: int, receiver: int) -> None:
    async def story(lone: Lone) -> None:
        stream = await lone.opened(remote=7)
        await now(stream.write(b"first"))
        lone.sent()
        lone.comes(Packet(command, sender, receiver, b"?"))
        reading, writing = (asyncio.ensure_future(work) for work in (stream.read(), stream.write(b"second")))
        await turns()
        assert (reading.done(), writing.done()) == (False, False)
        assert (lone.sent(), lone.connection.usable) == ([], True)
        for task in (reading, writing):
            task.cancel()

    with_connection(story)


@pytest.mark.parametrize("command", [Command.OPEN, 0x12345678])
def test_a_command_that_means_nothing_to_a_stream_is_left_alone(command: int) -> None:
    async def story(lone: Lone) -> None:
        stream = await lone.opened(remote=7)
        await now(stream.write(b"first"))
        lone.comes(Packet(command, 7, stream.local, b"?"))
        reading, writing = (asyncio.ensure_future(work) for work in (stream.read(), stream.write(b"second")))
        await turns()
        assert (reading.done(), writing.done()) == (False, False)
        for task in (reading, writing):
            task.cancel()

    with_connection(story)


def test_what_comes_before_the_stream_was_taken_is_dropped() -> None:
    async def story(lone: Lone) -> None:
        task = await opening(lone)
        lone.comes(Packet(Command.WRTE, REMOTE, 1, b"early"), Packet(Command.OKAY, REMOTE, 1))
        stream = await now(task)
        lone.comes(Packet(Command.WRTE, REMOTE, 1, b"in time"))
        assert await now(stream.read()) == b"in time"

    with_connection(story)


def test_an_okay_lets_the_next_write_go() -> None:
    async def story(lone: Lone) -> None:
        stream = await lone.opened()
        await now(stream.write(b"first"))
        second = asyncio.ensure_future(stream.write(b"second"))
        await turns()
        lone.comes(Packet(Command.OKAY, 0, stream.local))
        await turns()
        assert not second.done()
        lone.comes(Packet(Command.OKAY, REMOTE, stream.local))
        await now(second)
        assert [packet.payload for packet in lone.sent()] == [b"first", b"second"]

    with_connection(story)


@pytest.mark.parametrize("sender", [0, REMOTE])
def test_a_close_ends_its_stream_and_wants_no_answer(sender: int) -> None:
    async def story(lone: Lone) -> None:
        stream = await lone.opened()
        lone.comes(Packet(Command.CLSE, sender, stream.local))
        assert await now(stream.read()) == b""
        await now(stream.close())
        assert lone.sent() == []

    with_connection(story)


def test_all_answers_to_one_read_leave_in_one_write() -> None:
    async def story(lone: Lone) -> None:
        one, two, three = [await lone.opened(remote=remote) for remote in (7, 8, 9)]
        lone.comes(
            Packet(Command.WRTE, 7, one.local, b"x"),
            Packet(Command.WRTE, 8, two.local, b"x"),
            Packet(Command.WRTE, 9, three.local, b"last words"),
            Packet(Command.CLSE, 9, three.local),
        )
        assert len(lone.transport.writes) == 1
        assert lone.sent() == [Packet(Command.OKAY, 1, 7), Packet(Command.OKAY, 2, 8)]
        lone.comes(Packet(Command.CLSE, 7, one.local))
        assert lone.transport.writes == []
        await now(two.write(b"at once"))
        assert lone.sent() == [Packet(Command.WRTE, 2, 8, b"at once")]

    with_connection(story)


def test_a_packet_may_come_in_pieces() -> None:
    async def story(lone: Lone) -> None:
        stream = await lone.opened()
        data = b"".join(hello_and_end(stream.local))
        for at in range(len(data)):
            lone.connection.data_received(data[at : at + 1])
        assert [await now(stream.read()), await now(stream.read())] == [b"hello", b""]

    with_connection(story)


def test_a_device_that_is_not_read_is_stopped_and_one_that_does_not_stop_is_cut_off() -> None:
    async def story(lone: Lone) -> None:
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

    with_connection(story)


# giving up


def test_a_stream_that_was_given_up_is_closed_once_the_device_has_taken_it() -> None:
    async def story(lone: Lone) -> None:
        local = await given_up(lone)
        lone.comes(Packet(Command.WRTE, REMOTE, local, b"early"))
        assert lone.sent() == []
        lone.comes(Packet(Command.OKAY, REMOTE, local))
        assert lone.sent() == [Packet(Command.CLSE, local, REMOTE)]
        for command in (Command.OKAY, Command.WRTE, Command.CLSE):
            lone.comes(Packet(command, REMOTE, local))
        assert lone.sent() == []

    with_connection(story)


def test_a_stream_that_was_given_up_and_refused_is_forgotten() -> None:
    async def story(lone: Lone) -> None:
        local = await given_up(lone)
        lone.comes(Packet(Command.CLSE, 0, local), Packet(Command.OKAY, REMOTE, local))
        assert lone.sent() == []

    with_connection(story)


def test_a_stream_that_is_given_up_just_when_it_was_taken_is_closed_at_once() -> None:
    async def story(lone: Lone) -> None:
        task = await opening(lone)
        lone.sent()
        lone.comes(Packet(Command.OKAY, REMOTE, 1))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await now(task)
        assert lone.sent() == [Packet(Command.CLSE, 1, REMOTE)]
        lone.comes(Packet(Command.WRTE, REMOTE, 1, b"x"), Packet(Command.OKAY, REMOTE, 1))
        assert lone.sent() == []

    with_connection(story)


def test_a_stream_that_is_given_up_just_when_it_was_refused_needs_no_word() -> None:
    async def story(lone: Lone) -> None:
        task = await opening(lone)
        lone.sent()
        lone.comes(Packet(Command.CLSE, 0, 1))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await now(task)
        lone.comes(Packet(Command.OKAY, REMOTE, 1))
        assert lone.sent() == []

    with_connection(story)


# the end of all of them


def test_a_connection_that_starts_anew_has_forgotten_its_streams() -> None:
    async def story(lone: Lone) -> None:
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

    with_connection(story)


def test_all_streams_learn_that_the_connection_is_lost() -> None:
    async def story(lone: Lone) -> None:
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

    with_connection(story)


def test_streams_learn_what_to_do_when_the_connection_goes_over_to_tls() -> None:
    async def story(lone: Lone) -> None:
        stream = await lone.opened()
        lone.comes(Packet(Command.STLS, 0x01000000, 0))
        with pytest.raises(DeviceOffline, match="requires TLS") as caught:
            await now(stream.read())
        assert caught.value.hint == "Use the adb server for this phone."

    with_connection(story)


def test_a_bad_packet_does_not_undo_what_came_before_it() -> None:
    async def story(lone: Lone) -> None:
        stream = await lone.opened()
        good = hello_and_end(stream.local)[0]
        lone.connection.data_received(good + bytes(24))
        assert lone.transport.aborted
        assert await now(stream.read()) == b"hello"
        with pytest.raises(DeviceOffline, match="does not speak ADB"):
            await now(stream.read())

    with_connection(story)
