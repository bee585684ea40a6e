"""HTTP/1.1 to a port of the phone, through adb streams: one stream a call, no port on this machine.

Owns framing, deadlines and how far a request came; knows no path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from handrail.adb.deadline import Deadline, Expired
from handrail.adb.link import Stream
from handrail.clock import Clock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, Timeout

MAX_HEAD = 64 << 10
MAX_BODY = 64 << 20
"""A screenshot in base64 is the largest answer."""


class Opens(Protocol):
    """The part of an `AdbDevice` or a `Link` that is needed here."""

    async def open(self, service: str) -> Stream: ...


class ServerGone(AdbConnectionError):
    """Nothing listens on the port, or what listened hung up in the middle."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; header names are lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class _Progress:
    """How far a request came, in the words of an error's `delivery`."""

    delivery: str = "not_delivered"


@dataclass(frozen=True, slots=True)
class HttpPort:
    """One port of one phone. Errors have `delivery` among their details."""

    device: Opens
    port: int
    clock: Clock
    max_body: int = MAX_BODY

    async def get(self, path: str, *, timeout_ms: float) -> Answer:
        return await self._ask(f"GET {path}", b"", timeout_ms)

    async def post(self, path: str, body: bytes, *, timeout_ms: float) -> Answer:
        """`body` is JSON."""
        return await self._ask(f"POST {path}", body, timeout_ms)

    async def _ask(self, what: str, body: bytes, timeout_ms: float) -> Answer:
        progress = _Progress()
        try:
            async with Deadline(self.clock, timeout_ms):
                return await self._exchange(what, body, progress)
        except Expired:
            sent = progress.delivery != "not_delivered"
            reason = f"{what} on port {self.port} of the phone: no answer within {timeout_ms:.0f} ms"
            raise Timeout(reason, retryable=not sent, delivery=progress.delivery) from None

    async def _exchange(self, what: str, body: bytes, progress: _Progress) -> Answer:
        try:
            stream = await self._open()
            try:
                progress.delivery = "unknown"
                await stream.write(_request(what, self.port, body))
                return await _Reader(stream, what, self.max_body).answer()
            finally:
                await stream.close()
        except DeviceError as error:
            error.details.setdefault("delivery", progress.delivery)
            raise

    async def _open(self) -> Stream:
        try:
            return await self.device.open(f"tcp:{self.port}")
        except AdbCommandError:
            hint = "The server on the phone is not running; the other channels go on without it."
            raise ServerGone(f"nothing listens on port {self.port} of the phone", hint=hint) from None


def _request(what: str, port: int, body: bytes) -> bytes:
    """Head and body in one write: two would wait 40 ms for a delayed acknowledgement in between."""
    lines = [f"{what} HTTP/1.1", f"Host: localhost:{port}", "Connection: close"]
    if body:
        lines += ["Content-Type: application/json; charset=utf-8", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


class _Reader:
    """Takes one answer off a stream."""

    def __init__(self, stream: Stream, what: str, max_body: int) -> None:
        self._stream = stream
        self._what = what
        self._max_body = max_body
        self._held = bytearray()

    async def answer(self) -> Answer:
        status, headers = self._head(await self._until(b"\r\n\r\n", MAX_HEAD))
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return Answer(status, headers, await self._chunks())
        length = headers.get("content-length")
        if length is None:
            return Answer(status, headers, await self._rest())
        return Answer(status, headers, await self._take(self._size(length, 10)))

    def _head(self, head: bytes) -> tuple[int, dict[str, str]]:
        first, *rest = head.decode("latin-1").split("\r\n")
        words = first.split(" ", 2)
        if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit():
            raise AdbConnectionError(f"{self._what} was not answered in HTTP: {first[:80]!r}")
        pairs = [line.partition(":") for line in rest]
        return int(words[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}

    async def _chunks(self) -> bytes:
        body = bytearray()
        while size := self._size((await self._until(b"\r\n", MAX_HEAD)).decode("latin-1").split(";")[0], 16):
            self._check(len(body) + size)
            body += await self._take(size)
            await self._take(2)
        return bytes(body)

    async def _rest(self) -> bytes:
        """All until the server closes: an answer without a length."""
        self._check(len(self._held))
        while await self._more():
            self._check(len(self._held))
        return bytes(self._held)

    async def _take(self, size: int) -> bytes:
        self._check(size)
        while len(self._held) < size:
            await self._need_more()
        return self._cut(size)

    async def _until(self, mark: bytes, limit: int) -> bytes:
        while (end := self._held.find(mark)) < 0:
            if len(self._held) > limit:
                raise AdbConnectionError(f"{self._what}: the answer has a head of more than {limit} bytes")
            await self._need_more()
        return self._cut(end + len(mark))[:end]

    def _cut(self, size: int) -> bytes:
        taken = bytes(self._held[:size])
        del self._held[:size]
        return taken

    async def _need_more(self) -> None:
        if not await self._more():
            raise ServerGone(f"{self._what}: the server on the phone hung up before it had answered")

    async def _more(self) -> bool:
        data = await self._stream.read()
        self._held += data
        return bool(data)

    def _size(self, text: str, base: int) -> int:
        try:
            size = int(text, base)
        except ValueError:
            size = -1
        if size < 0:
            raise AdbConnectionError(f"{self._what} was answered with a length of {text[:40]!r}")
        return size

    def _check(self, size: int) -> None:
        if size > self._max_body:
            reason = f"{self._what}: the answer has {size} bytes or more; the limit is {self._max_body}"
            raise AdbConnectionError(reason)
