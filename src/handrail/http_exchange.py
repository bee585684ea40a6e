"""One request and its answer in HTTP/1.1, over any stream of bytes. Bounded, and stricter than h11."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import h11

MAX_HEAD = 64 << 10
MAX_BODY = 64 << 20
"""A base64 screenshot is the largest answer."""


class HttpStream(Protocol):
    """Where the bytes go; an empty read is the end."""

    async def read(self) -> bytes: ...

    async def write(self, data: bytes, /) -> None: ...


class NotHttp(Exception):
    """The answer is not HTTP, or larger than it may be. Whoever asked gives the error its name."""


class HungUp(NotHttp):
    """The server closed the connection before it had answered."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """Header names are lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class HttpExchange:
    """Requests over one connection, one after another while `renew` allows it."""

    def __init__(self, max_body: int = MAX_BODY, *, keep_alive: bool = False) -> None:
        self._max_body = max_body
        self._keep_alive = keep_alive
        self._framing = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
        self._over = False

    def request(self, method: str, path: str, host: str, body: bytes, *more: tuple[str, str]) -> bytes:
        """Head and body in one write, because two would wait 40 ms for a delayed acknowledgement.

        `body` is JSON, or nothing; `more` are headers.
        """
        headers = [("Host", host), ("Connection", "keep-alive" if self._keep_alive else "close"), *more]
        if body:
            headers += [("Content-Type", "application/json; charset=utf-8")]
            headers += [("Content-Length", str(len(body)))]
        head = h11.Request(method=method, target=path, headers=headers)
        events = (head, h11.Data(data=body), h11.EndOfMessage())
        return b"".join(self._framing.send(event) or b"" for event in events)

    def renew(self) -> bool:
        """Whether the connection is ready for the next request: both sides keep it, nothing is left over."""
        if self._framing.their_state is h11.DONE and not self._framing.trailing_data[0]:
            self._framing.start_next_cycle()
        return self._framing.our_state is h11.IDLE

    async def answer(self, stream: HttpStream) -> HttpAnswer:
        """Raises `NotHttp`."""
        head = await self._event(stream)
        while isinstance(head, h11.InformationalResponse):
            head = await self._event(stream)
        if not isinstance(head, h11.Response):
            raise NotHttp("the answer is missing")
        # Refuses what h11 accepts: two lengths at once, and oversized heads or bodies.
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
        if sum(len(name) + len(value) for name, value in head.headers) > MAX_HEAD:
            raise NotHttp(f"a head of more than {MAX_HEAD} bytes")
        if "transfer-encoding" in headers and "content-length" in headers:
            raise NotHttp("both Content-Length and Transfer-Encoding")
        if "content-length" in headers:
            self._check_size(int(headers["content-length"]))
        body = bytearray()
        while isinstance(part := await self._event(stream), h11.Data):
            self._check_size(len(body) + len(part.data))
            body += part.data
        return HttpAnswer(head.status_code, headers, bytes(body))

    async def _event(self, stream: HttpStream) -> object:
        """The next event of h11; empty data tells it that the server hung up."""
        try:
            while (event := self._framing.next_event()) is h11.NEED_DATA:
                data = await stream.read()
                self._over = not data
                self._framing.receive_data(data)
        except h11.RemoteProtocolError as error:
            if self._over:
                raise HungUp("the server hung up before it had answered") from None
            raise NotHttp(str(error)) from None
        return event

    def _check_size(self, size: int) -> None:
        if size > self._max_body:
            raise NotHttp(f"the answer has {size} bytes or more; the limit is {self._max_body}")
