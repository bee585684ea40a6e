"""One socket to the adb server: a request with its length in hex, OKAY or FAIL, then a service's bytes.

A socket serves one request, or one transport and one service on it. The server drops what is sent before
its OKAY, so requests can't be sent ahead. `refusal` says what the server's FAIL texts mean.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import cast

from handrail.adb.link import ACCEPT_HINT
from handrail.adb.stream import UNREAD_MAX, ByteQueue
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, DeviceOffline

REQUEST_MAX = 0xFFFF


class SmartSocket(asyncio.Protocol):
    """Sends its requests one after the other; a `Stream` once the last one is granted.

    That happens as the answers come in, without a turn of the loop in between.
    """

    def __init__(self, requests: Sequence[str], serial: str = "") -> None:
        self.granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.asked = 0
        """How many requests have been sent."""
        self._requests = requests
        self._serial = serial
        self._answer = b""
        self._inbox = ByteQueue()
        self._held = b""
        self._transport: asyncio.Transport | None = None
        self._writing = asyncio.Lock()
        self._writable = asyncio.Event()
        self._writable.set()

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        raw = self._transport.get_extra_info("socket")
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._ask()

    def data_received(self, data: bytes) -> None:
        if not self.granted.done():
            self._answer += data
            data = self._read_answers()
        self._inbox.put(data)
        if self._inbox.size > UNREAD_MAX and self._transport is not None:
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        self._over(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._over(None if exc is None else lost(f"the adb server hung up: {exc}"))
        self.resume_writing()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # the stream

    async def read(self) -> bytes:
        data = await self._inbox.get()
        if self._inbox.size <= UNREAD_MAX and self._transport is not None:
            self._transport.resume_reading()
        return data

    async def write(self, data: bytes) -> None:
        async with self._writing:
            await self._writable.wait()
            if self._transport is None or self._inbox.ended:
                raise lost("the device or the adb server closed the stream and takes no more input")
            self._transport.write(data)

    async def close(self) -> None:
        self._inbox.end()
        self._inbox.drop()
        if self._transport is not None:
            self._transport.close()

    # requests

    def _ask(self) -> None:
        data = self._requests[self.asked].encode("utf-8", "surrogateescape")
        self.asked += 1
        if self._transport is not None:
            self._transport.write(b"%04x" % len(data) + data)

    def _read_answers(self) -> bytes:
        """OKAY lets the next request go; what follows the last one is the service's."""
        while self._answer.startswith(b"OKAY"):
            self._answer = self._answer[4:]
            if self.asked == len(self._requests):
                self.granted.set_result(None)
                return self._answer
            self._ask()
        if len(self._answer) >= 4:
            self._read_refusal(self._answer[:4], self._answer[4:8], self._answer[8:])
        return b""

    def _read_refusal(self, word: bytes, digits: bytes, rest: bytes) -> None:
        """FAIL, four hex digits, as many bytes of text; part of it may still be on its way."""
        try:
            if word != b"FAIL":
                raise no_server(word)
            if len(digits) == 4 and len(rest) >= (size := hex_number(digits)):
                said = rest[:size].decode("utf-8", "replace")
                raise refusal(said, self._requests[self.asked - 1], self._serial)
        except DeviceError as error:
            self._fail(error)

    def _over(self, error: DeviceError | None) -> None:
        """Before the last request was sent, nothing of it can have reached a device."""
        early = error or lost("the adb server closed the connection in the middle of its answer")
        if self.asked < len(self._requests):
            early.details["delivery"] = "not_delivered"
        self._fail(early)
        self._inbox.end(error)

    def _fail(self, error: DeviceError) -> None:
        if not self.granted.done():
            self.granted.set_exception(error)
            self.granted.exception()  # whoever asked may have been cancelled

    # answers of the server itself

    async def text(self) -> str:
        """A string with its length before it."""
        return (await self._exactly(hex_number(await self._exactly(4)))).decode("utf-8", "replace")

    async def _exactly(self, size: int) -> bytes:
        while len(self._held) < size:
            data = await self._inbox.get()
            if not data:
                raise lost("the adb server closed the connection in the middle of its answer")
            self._held += data
        found, self._held = self._held[:size], self._held[size:]
        return found


def hex_number(digits: bytes) -> int:
    """A length; something that is none ends the talk."""
    try:
        return int(digits, 16)
    except ValueError:
        raise no_server(digits) from None


def no_server(said: bytes) -> DeviceError:
    """Somebody else's port."""
    return lost(f"what listens there is no adb server: it said {said!r}")


def lost(why: str) -> DeviceError:
    """The socket is gone; whether the device got something can't be told from here."""
    return AdbConnectionError(
        why, hint="`handrail devices` shows whether the phone is still there.", delivery="unknown"
    )


def refusal(text: str, request: str, serial: str) -> DeviceError:
    """The server said FAIL: nothing of the request has run on a device."""
    said = " ".join(text.split())
    name = serial or "the adb server"
    if "unauthorized" in said or "authorizing" in said or "failed to authenticate" in said:
        why = f"{name} has not authorised this host: {said}"
        return DeviceOffline(why, hint=ACCEPT_HINT, state="unauthorized", delivery="not_delivered")
    if "permissions" in said:
        why = f"{name} can't be opened by the adb server: {said}"
        hint = "Give your user access to the USB device (udev rules, the plugdev group), then reconnect it."
        return DeviceOffline(why, hint=hint, state="no permissions", delivery="not_delivered")
    if "offline" in said or "still connecting" in said:
        return DeviceOffline(f"{name} is offline: {said}", state="offline", delivery="not_delivered")
    if "not found" in said or "no devices" in said or "more than one" in said:
        return AdbConnectionError(f"{name}: {said}", delivery="not_delivered")
    return AdbCommandError(
        f"{name} refused {request[:80]!r}: {said}",
        hint="`closed` means that nothing on the phone serves it."
        if said == "closed"
        else "Read the text after the colon.",
        command=request[:80],
        delivery="not_delivered",
    )
