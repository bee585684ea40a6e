"""One socket to the adb server by itself: requests, answers, turns, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from handrail.adb.server import REQUEST_MAX, SmartSocket, refusal
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, DeviceOffline
from tests.cases import each
from tests.unit.adb.wires import Transport, now, run_without_complaints, turns

KEPT = 262_144
"""Unread bytes up to which the socket is read on."""
HINT = "`handrail devices` shows whether the phone is still there."
CUT = "the adb server closed the connection in the middle of its answer"
TWO = ("host:transport:x", "tcp:9")
ASYNC_RUNNER = run_without_complaints


@pytest.fixture
def transport() -> Transport:
    return Transport()


@pytest.fixture
def socket(transport: Transport, options: dict[str, Any]) -> AbstractAsyncContextManager[SmartSocket]:
    return socket_on(transport, **options)


@asynccontextmanager
async def socket_on(transport: Transport, requests: Sequence[str] = ()) -> AsyncIterator[SmartSocket]:
    """A socket whose only request has been granted; or one that has just sent the first of these."""
    socket = SmartSocket(requests or ["shell:x"], "x")
    socket.connection_made(transport)
    if not requests:
        socket.data_received(b"OKAY")
        transport.took()
    yield socket


async def failure(work: Awaitable[object]) -> DeviceError:
    with pytest.raises(DeviceError) as caught:
        await now(work)
    return caught.value


# requests


@pytest.mark.options(requests=["x" * REQUEST_MAX])
async def test_the_longest_request_has_four_digits(socket: SmartSocket, transport: Transport) -> None:
    assert transport.took().startswith(b"ffffxxx")


@pytest.mark.options(requests=TWO)
async def test_a_refusal_names_what_was_refused(socket: SmartSocket) -> None:
    for piece in (b"OKAY", b"FA", b"IL", b"0006", b"close"):
        socket.data_received(piece)
        assert not socket.granted.done()
    socket.data_received(b"d")
    error = await failure(socket.granted)
    assert error.message == "x refused 'tcp:9': closed"


@pytest.mark.parametrize("said", [b"HTTP", b"FAIL00zz", b"okay", b"\0\0\0\0"])
@pytest.mark.options(requests=["host:version"])
async def test_something_else_at_the_port_is_told_apart(said: bytes, socket: SmartSocket) -> None:
    socket.data_received(said)
    error = await failure(socket.granted)
    shown = said[4:] or said
    assert error.message == f"what listens there is not an adb server: it answered {shown!r}"
    assert isinstance(error, AdbConnectionError)
    assert (error.hint, error.details) == (HINT, {"delivery": "unknown"})


@pytest.mark.options(requests=TWO)
async def test_a_failure_that_nobody_waits_for_is_no_complaint(socket: SmartSocket) -> None:
    socket.eof_received()
    socket.connection_lost(OSError("reset"))


# reading


async def test_the_socket_stays_paused_while_too_much_lies_unread(
    socket: SmartSocket, transport: Transport
) -> None:
    for part in (b"a", b"b", bytes(KEPT)):
        socket.data_received(part)
    await now(socket.read())
    assert not transport.reading
    await now(socket.read())
    assert transport.reading


async def test_too_much_after_the_socket_was_lost_pauses_nothing(
    socket: SmartSocket, transport: Transport
) -> None:
    socket.data_received(bytes(KEPT + 1))
    socket.connection_lost(None)
    assert len(await now(socket.read())) == KEPT + 1
    assert not transport.reading


@pytest.mark.parametrize("said", [b"", b"00", b"0004", b"0004abc"])
async def test_an_answer_that_breaks_off_is_an_error(said: bytes, socket: SmartSocket) -> None:
    socket.data_received(said)
    socket.eof_received()
    error = await failure(socket.text())
    assert (error.message, error.hint, error.details) == (CUT, HINT, {"delivery": "unknown"})


# writing


async def test_nothing_is_written_to_a_server_that_was_never_reached() -> None:
    socket = SmartSocket(["shell:x"])
    assert "accepts no more input" in (await failure(socket.write(b"x"))).message
    await now(socket.close())


async def test_a_write_goes_at_once(socket: SmartSocket, transport: Transport) -> None:
    await now(socket.write(b"hello"))
    assert transport.took() == b"hello"


async def test_a_writer_that_gave_up_takes_nobody_along(socket: SmartSocket, transport: Transport) -> None:
    socket.pause_writing()
    first, second = (asyncio.ensure_future(socket.write(text)) for text in (b"first", b"second"))
    await turns()
    first.cancel()
    await turns()
    assert first.cancelled()
    assert not second.done()
    third = asyncio.ensure_future(socket.write(b"third"))
    await turns()
    assert transport.took() == b""
    socket.resume_writing()
    await now(asyncio.gather(second, third))
    assert transport.took() == b"secondthird"


async def test_writers_wait_again_when_the_first_of_them_filled_the_socket(
    socket: SmartSocket, transport: Transport
) -> None:
    socket.pause_writing()
    writing = [asyncio.ensure_future(socket.write(text)) for text in (b"first", b"second")]
    await turns()
    transport.after_write = socket.pause_writing
    socket.resume_writing()
    await turns()
    assert transport.took() == b"first"
    socket.resume_writing()
    await now(asyncio.gather(*writing))
    assert transport.took() == b"second"


# what refusals mean


@each(
    ("said", "kind", "message", "hint", "details"),
    [
        ("device offline", DeviceOffline, "x is offline: device offline", "", {"state": "offline"}),
        ("device\nstill connecting", DeviceOffline, "x is offline: device still", "", {"state": "offline"}),
        (
            "device unauthorized.\nSee keys",
            DeviceOffline,
            "x has not authorised this host: device unauthorized. See keys",
            "Unlock the phone",
            {"state": "unauthorized"},
        ),
        ("device still authorizing", DeviceOffline, "x has not", "Unlock", {"state": "unauthorized"}),
        ("failed to authenticate to x", DeviceOffline, "x has not", "Unlock", {"state": "unauthorized"}),
        (
            "insufficient permissions for device",
            DeviceOffline,
            "x can't be opened by the adb server: insufficient permissions for device",
            "Give your user access to the USB device",
            {"state": "no permissions"},
        ),
        ("device 'x' not found", AdbConnectionError, "x: device 'x' not found", "", {}),
        ("no devices/emulators found", AdbConnectionError, "x: no devices", "", {}),
        ("more than one device/emulator", AdbConnectionError, "x: more than one", "", {}),
        (
            "closed",
            AdbCommandError,
            "x refused 'shell:",
            "`closed` means that nothing on the phone serves it.",
            {"command": "shell:" + "x" * 74},
        ),
        (
            "unknown host service",
            AdbCommandError,
            "x refused 'shell:" + "x" * 74 + "': unknown host service",
            "Read the text after the colon.",
            {"command": "shell:" + "x" * 74},
        ),
    ],
)
def test_every_refusal_has_its_error(
    said: str, kind: type[DeviceError], message: str, hint: str, details: dict[str, str]
) -> None:
    error = refusal(said, "shell:" + "x" * 90, "x")
    assert type(error) is kind
    assert error.message.startswith(message)
    assert error.hint.startswith(hint)
    assert error.details == {**details, "delivery": "not_delivered"}


def test_a_refusal_without_a_device_is_the_servers() -> None:
    assert refusal("no", "host:version", "").message == "the adb server refused 'host:version': no"
