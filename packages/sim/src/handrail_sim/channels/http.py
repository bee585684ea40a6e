"""A small HTTP/1.1 server for ports inside the phone: requests from a stream, answers from a function.

Knows no path and no phone.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Container
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from handrail_sim.faults import Faults
from handrail_sim.stream import Stream, peer_uid

MAX_HEAD = 65536
MAX_BODY = 1 << 24
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}
REASONS |= {
    408: "Request Timeout",
    413: "Payload Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
}


@dataclass(frozen=True, slots=True)
class Request:
    """One request; header names are lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = b""
    version: str = "HTTP/1.1"

    @property
    def keeps_alive(self) -> bool:
        wish = self.headers.get("connection", "").lower()
        return wish != "close" if self.version == "HTTP/1.1" else wish == "keep-alive"


@dataclass(frozen=True, slots=True)
class Response:
    """One answer."""

    body: bytes
    status: int = 200
    content_type: str = "text/plain"
    headers: dict[str, str] = field(default_factory=dict)

    def encode(self, *, keep_alive: bool) -> bytes:
        head = {
            "Content-Type": self.content_type,
            **self.headers,
            "Connection": "keep-alive" if keep_alive else "close",
            "Content-Length": str(len(self.body)),
        }
        lines = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Error')}"]
        lines += [f"{name}: {value}" for name, value in head.items()]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


def json_response(value: Any, status: int = 200, **headers: str) -> Response:
    """JSON as compact as Java's libraries write it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "surrogatepass"), status, "application/json", headers)


class Hangup(Exception):
    """Raised by an answer that never comes: the server's process died."""


class BadRequest(Exception):
    """The bytes are no request, or too many."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


Answer = Callable[[Request], Awaitable[Response]]
Upgrade = Callable[[Request, Stream], Awaitable[None]]
"""Takes over a connection that asks for another protocol."""


async def serve(stream: Stream, answer: Answer, upgrade: Upgrade | None = None) -> None:
    """Answer the requests of one connection until it ends."""
    held = bytearray()
    try:
        while (request := await _read(stream, held)) is not None:
            if upgrade is not None and request.headers.get("upgrade", "").lower() == "websocket":
                await upgrade(request, stream)
                break
            response = await answer(request)
            await stream.write(response.encode(keep_alive=request.keeps_alive))
            if not request.keeps_alive:
                break
    except BadRequest as refusal:
        await stream.write(Response(b"", refusal.status).encode(keep_alive=False))
    except (BrokenPipeError, Hangup):
        pass
    finally:
        stream.close()


async def _read(stream: Stream, held: bytearray) -> Request | None:
    while (end := held.find(b"\r\n\r\n")) < 0:
        if len(held) > MAX_HEAD:
            raise BadRequest(413)
        data = await stream.read()
        if not data:
            return None
        held += data
    head = bytes(held[:end])
    del held[: end + 4]
    request = _parse_head(head)
    size = _body_size(request.headers)
    if "100-continue" in request.headers.get("expect", "").lower() and len(held) < size:
        await stream.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    while len(held) < size:
        data = await stream.read()
        if not data:
            return None
        held += data
    body = bytes(held[:size])
    del held[:size]
    return Request(request.method, request.path, request.query, request.headers, body, request.version)


def _parse_head(head: bytes) -> Request:
    first, *rest = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest(400)
    pairs = [line.partition(":") for line in rest]
    headers = {name.strip().lower(): value.strip() for name, colon, value in pairs if colon}
    parts = urlsplit(words[1])
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    return Request(words[0].upper(), unquote(parts.path), query, headers, version=words[2])


def _body_size(headers: dict[str, str]) -> int:
    if "transfer-encoding" in headers:
        raise BadRequest(501)
    length = headers.get("content-length", "0")
    if not length.isdigit():
        raise BadRequest(400)
    if int(length) > MAX_BODY:
        raise BadRequest(413)
    return int(length)


Ports = dict[str, Callable[[Stream], Awaitable[None]]]


@asynccontextmanager
async def listening(
    ports: Ports, name: str, answer: Answer, uids: Container[int] | None = None
) -> AsyncIterator[None]:
    """Serve a port of the phone while the block runs; at its end open connections are cut.

    Processes of other users than `uids` get no word.
    """
    streams: set[Stream] = set()

    async def connection(stream: Stream) -> None:
        if uids is not None and peer_uid(stream) not in uids:
            stream.close()
            return
        streams.add(stream)
        try:
            await serve(stream, answer)
        finally:
            streams.discard(stream)

    ports[name] = connection
    try:
        yield
    finally:
        if ports.get(name) is connection:
            del ports[name]
        for stream in list(streams):
            stream.close()


class HelperLife:
    """One helper process."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._requests = 0
        self.ended = asyncio.Event()
        self.is_dead = False

    def count_request(self) -> None:
        """A request came in; a helper that dies now never answers it."""
        fault = self._faults.active("helper_dies")
        if fault is None:
            self._requests = 0
            return
        self._requests += 1
        if self._requests > int(fault.options["requests"]) and self._faults.get("helper_dies") is not None:
            self.is_dead = True
            self.ended.set()
            raise Hangup
