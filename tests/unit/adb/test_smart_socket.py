"""One socket to the adb server by itself: requests, answers, turns, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from handrail.adb.smart_socket import SmartSocket
from tests.unit.adb.wires import Transport, turns


def play(story: Callable[[SmartSocket, Transport], Awaitable[None]], *requests: str) -> None:
    """A socket whose requests have been granted, unless some are named here."""

    async def whole() -> None:
        transport = Transport()
        socket = SmartSocket(requests or ["shell:x"], "emulator-5554")
        socket.connection_made(transport)
        if not requests:
            socket.data_received(b"OKAY")
            transport.took()
        await story(socket, transport)

    asyncio.run(whole())


def test_a_writer_that_gave_up_takes_nobody_along() -> None:
    async def story(socket: SmartSocket, transport: Transport) -> None:
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
        await asyncio.gather(second, third)
        assert transport.took() == b"secondthird"

    play(story)


def test_writers_wait_again_when_the_first_of_them_filled_the_socket() -> None:
    async def story(socket: SmartSocket, transport: Transport) -> None:
        socket.pause_writing()
        writing = [asyncio.ensure_future(socket.write(text)) for text in (b"first", b"second")]
        await turns()
        transport.after_write = socket.pause_writing
        socket.resume_writing()
        await turns()
        assert transport.took() == b"first"
        socket.resume_writing()
        await asyncio.gather(*writing)
        assert transport.took() == b"second"

    play(story)


def test_a_writer_wakes_when_the_socket_is_lost() -> None:
    async def story(socket: SmartSocket, _: Transport) -> None:
        socket.pause_writing()
        writing = asyncio.ensure_future(socket.write(b"x"))
        await turns()
        socket.connection_lost(None)
        with pytest.raises(Exception, match="takes no more input"):
            await writing

    play(story)
