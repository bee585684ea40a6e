"""A connection by itself, from its first word to the device's welcome, and how it is lost."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Sequence

import pytest

from handrail.adb.direct import AdbdConnection
from handrail.adb.wire import MAX_PAYLOAD, VERSION, Auth, Command, Packet, checksum, encode
from handrail.errors import AdbConnectionError, DeviceOffline, HandrailError
from tests.unit.adb.lone_connection import BANNER, NAME, Key, Lone, connected
from tests.unit.adb.wires import now, run_without_complaints

ASYNC_RUNNER = run_without_complaints

TOKEN = b"twenty bytes, random"
CHALLENGE = Packet(Command.AUTH, Auth.TOKEN, 0, TOKEN)
FEATURES = b"host::features=shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,sendrecv_v2"


async def failure(lone: Lone) -> HandrailError:
    with pytest.raises(HandrailError) as caught:
        await now(lone.connection.welcome)
    return caught.value


# the first words


@pytest.mark.options(welcome=None)
async def test_this_side_speaks_first_and_says_what_it_can(lone: Lone) -> None:
    assert lone.transport.socket.options == [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    hello = Packet(Command.CNXN, VERSION, MAX_PAYLOAD, FEATURES)
    assert lone.transport.took() == encode(hello, summed=True)
    assert checksum(FEATURES)
    connection = lone.connection
    assert (connection.online, connection.usable, connection.offered) == (False, False, False)
    assert (connection.max_payload, connection.name) == (4096, NAME)
    assert connection.banner == ("", {}, ())
    assert not connection.welcome.done()


# keys


async def signed(lone: Lone) -> list[Packet]:
    """What was sent once the keys are there, which a thread reads."""
    ring = lone.connection._ring
    assert ring is not None
    await asyncio.wait({ring})
    return lone.sent()


async def test_every_key_signs_once_and_then_the_first_is_offered() -> None:
    readers: list[int] = []

    def keys() -> Sequence[Key]:
        readers.append(threading.get_ident())
        return (Key("one"), Key("two"))

    async with connected(welcome=None, keys=keys) as lone:
        lone.transport.took()
        for name in (b"one", b"two"):
            lone.comes(CHALLENGE)
            answer = Packet(Command.AUTH, Auth.SIGNATURE, 0, name + b" signs " + TOKEN)
            assert await signed(lone) == [answer]
            assert not lone.connection.offered
        lone.comes(CHALLENGE)
        assert await signed(lone) == [Packet(Command.AUTH, Auth.PUBLIC_KEY, 0, b"one in public")]
        assert lone.connection.offered
        lone.comes(CHALLENGE, CHALLENGE)
        assert await signed(lone) == []
        assert len(readers) == 1
        assert readers[0] != threading.get_ident()
        assert not lone.connection.welcome.done()


@pytest.mark.options(welcome=None, keys=lambda: [Key("one")])
async def test_only_a_token_is_signed(lone: Lone) -> None:
    lone.transport.took()
    for kind in (Auth.SIGNATURE, Auth.PUBLIC_KEY, 0, 4):
        lone.comes(Packet(Command.AUTH, kind, 0, TOKEN))
    assert lone.connection._ring is None
    assert lone.sent() == []


@pytest.mark.parametrize("size", [0, 19, 21])
@pytest.mark.options(welcome=None, keys=lambda: [Key("one")])
async def test_a_token_of_another_size_is_not_signed(size: int, lone: Lone) -> None:
    lone.comes(Packet(Command.AUTH, Auth.TOKEN, 0, bytes(size)))
    assert (await failure(lone)).message == f"{NAME} does not speak ADB: its token has {size} bytes"
    assert lone.connection._ring is None


@pytest.mark.options(welcome=None)
async def test_a_link_without_keys_says_so(lone: Lone) -> None:
    lone.comes(CHALLENGE)
    await signed(lone)
    assert (await failure(lone)).message == f"{NAME} requires a key, and this link has none"


@pytest.mark.parametrize("coded", [True, False])
async def test_keys_that_can_not_be_had_end_the_connection(coded: bool) -> None:
    def keys() -> Sequence[Key]:
        raise AdbConnectionError("damaged") if coded else RuntimeError("unknown")

    async with connected(welcome=None, keys=keys) as lone:
        lone.comes(CHALLENGE)
        await signed(lone)
        error = await failure(lone)
        expected = "damaged" if coded else "this host's adb keys can't be used: RuntimeError('unknown')"
        assert error.message == expected
        assert isinstance(error, AdbConnectionError if coded else DeviceOffline)
        assert lone.transport.aborted


@pytest.mark.options(welcome=None, keys=lambda: [Key("one")])
async def test_a_program_that_ends_while_keys_are_read_is_no_complaint(lone: Lone) -> None:
    lone.comes(CHALLENGE)
    ring = lone.connection._ring
    ring.cancel()
    await asyncio.wait({ring})


# the end


async def test_more_than_was_agreed_ends_the_connection(lone: Lone) -> None:
    lone.comes(Packet(Command.WRTE, 1, 2, bytes(1 << 20)))
    assert lone.connection.usable
    lone.comes(Packet(Command.WRTE, 1, 2, bytes((1 << 20) + 1)))
    assert (lone.connection.online, lone.transport.aborted) == (False, True)


@pytest.mark.parametrize(("why", "added"), [(None, ""), (OSError("reset"), ": reset")])
@pytest.mark.options(welcome=None)
async def test_a_connection_that_is_dropped_may_be_tried_again(
    why: Exception | None, added: str, lone: Lone
) -> None:
    lone.connection.connection_lost(why)
    error = await failure(lone)
    assert error.message == f"{NAME} dropped the connection{added}"
    assert (error.retryable, error.details) == (True, {"delivery": "not_delivered"})
    lone.transport.took()
    lone.connection.send(Command.CLSE, 1, 2)
    lone.comes(Packet(Command.CNXN, VERSION, MAX_PAYLOAD, BANNER))
    assert not lone.connection.usable
    assert lone.sent() == []


async def test_a_connection_that_was_never_made_can_be_ended() -> None:
    connection = AdbdConnection(NAME, list)
    assert not connection.usable
    connection.send(Command.CLSE, 1, 2)
    connection.abort()
    with pytest.raises(DeviceOffline, match="was closed"):
        await now(connection.welcome)
