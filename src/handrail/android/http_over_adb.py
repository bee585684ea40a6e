"""HTTP/1.1 over a stream of adb, one connection per request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import h11

from handrail.adb.link import Stream
from handrail.clock import Clock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, Timeout
from handrail.waiting import Deadline, Expired

MAX_HEAD = 64 << 10
MAX_BODY = 64 << 20
"""A base64 screenshot is the largest answer."""


class Opens(Protocol):
    """The part of `AdbDevice` and `Link` that is needed here."""

    async def open(self, service: str) -> Stream: ...


class ServerGone(AdbConnectionError):
    """Nothing listens on the port, or the server hung up before it answered."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """Header names are lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpPort:
    """One port of one phone. Errors have `delivery` among their details."""

    device: Opens
    port: int | str
    """A number, or the name of a service that speaks HTTP, such as `localabstract:NAME`."""
    clock: Clock
    max_body: int = MAX_BODY

    async def get(self, path: str, *, timeout_ms: float) -> HttpAnswer:
        return await self._ask("GET", path, b"", timeout_ms)

    async def post(self, path: str, body: bytes, *, timeout_ms: float) -> HttpAnswer:
        """`body` is JSON."""
        return await self._ask("POST", path, body, timeout_ms)

    async def _ask(self, method: str, path: str, body: bytes, timeout_ms: float) -> HttpAnswer:
        delivery = "not_delivered"
        exchange = _Exchange(f"{method} {path}", self.max_body)
        is_number = isinstance(self.port, int)
        request = exchange.request(method, path, f"localhost:{self.port}" if is_number else "localhost", body)
        try:
            async with Deadline(self.clock, timeout_ms):
                try:
                    stream = await self.device.open(f"tcp:{self.port}" if is_number else str(self.port))
                except AdbCommandError:
                    hint = "The server on the phone is not running; the other channels go on without it."
                    raise ServerGone(f"nothing listens on port {self.port} of the phone", hint=hint) from None
                try:
                    delivery = "unknown"
                    await stream.write(request)
                    return await exchange.answer(stream)
                finally:
                    await stream.close()
        except DeviceError as error:
            error.details.setdefault("delivery", delivery)
            raise
        except Expired:
            reason = f"{exchange.what} on port {self.port} of the phone: no answer within {timeout_ms:.0f} ms"
            raise Timeout(reason, retryable=delivery == "not_delivered", delivery=delivery) from None


class _Exchange:
    """One request and its answer, on its own stream."""

    def __init__(self, what: str, max_body: int) -> None:
        self.what = what
        self._max_body = max_body
        self._framing = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
        self._over = False

    def request(self, method: str, path: str, host: str, body: bytes) -> bytes:
        """Head and body in one write, because two would wait 40 ms for a delayed acknowledgement."""
        headers = [("Host", host), ("Connection", "close")]
        if body:
            headers += [("Content-Type", "application/json; charset=utf-8")]
            headers += [("Content-Length", str(len(body)))]
        head = h11.Request(method=method, target=path, headers=headers)
        events = (head, h11.Data(data=body), h11.EndOfMessage())
        return b"".join(self._framing.send(event) or b"" for event in events)

    async def answer(self, stream: Stream) -> HttpAnswer:
        """Bytes after the end are ignored."""
        head = await self._event(stream)
        while isinstance(head, h11.InformationalResponse):
            head = await self._event(stream)
        if not isinstance(head, h11.Response):
            raise self._no_answer("the answer is missing")
        # Refuses what h11 accepts: two lengths at once, and oversized heads or bodies.
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
        if sum(len(name) + len(value) for name, value in head.headers) > MAX_HEAD:
            raise self._no_answer(f"a head of more than {MAX_HEAD} bytes")
        if "transfer-encoding" in headers and "content-length" in headers:
            raise self._no_answer("both Content-Length and Transfer-Encoding")
        if "content-length" in headers:
            self._check_size(int(headers["content-length"]))
        body = bytearray()
        while isinstance(part := await self._event(stream), h11.Data):
            self._check_size(len(body) + len(part.data))
            body += part.data
        return HttpAnswer(head.status_code, headers, bytes(body))

    async def _event(self, stream: Stream) -> object:
        """The next event of h11; empty data tells it that the server hung up."""
        try:
            while (event := self._framing.next_event()) is h11.NEED_DATA:
                data = await stream.read()
                self._over = not data
                self._framing.receive_data(data)
        except h11.RemoteProtocolError as error:
            if self._over:
                why = f"{self.what}: the server on the phone hung up before it had answered"
                raise ServerGone(why) from None
            raise self._no_answer(str(error)) from None
        return event

    def _check_size(self, size: int) -> None:
        if size > self._max_body:
            reason = f"{self.what}: the answer has {size} bytes or more; the limit is {self._max_body}"
            raise AdbConnectionError(reason)

    def _no_answer(self, why: str) -> AdbConnectionError:
        return AdbConnectionError(f"{self.what} was not answered in HTTP: {why}")
