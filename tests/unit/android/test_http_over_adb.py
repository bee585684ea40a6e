from __future__ import annotations

import asyncio

import pytest

from handrail.android.http_over_adb import HttpPort, ServerGone
from handrail.errors import AdbConnectionError
from handrail_sim.stream import Stream
from tests.cases import each
from tests.unit.android.sim_phone import Bench, play

PORT = 7001


class Script:
    """A server on the phone that says what it is told to, in these pieces, and keeps what it heard."""

    def __init__(self, bench: Bench, *pieces: bytes, hangs: bool = False) -> None:
        self.heard = b""
        self.answered = asyncio.Event()
        self._bench = bench
        self._pieces = pieces
        self._hangs = hangs
        bench.phone.ports[f"tcp:{PORT}"] = self._serve

    async def _serve(self, stream: Stream) -> None:
        self.heard = await stream.read()
        for piece in self._pieces:
            await stream.write(piece)
        self.answered.set()
        if self._hangs:
            await stream.read()

    def end(self) -> None:
        del self._bench.phone.ports[f"tcp:{PORT}"]


def http(bench: Bench, **options: int) -> HttpPort:
    return HttpPort(bench.device, PORT, bench.clock, **options)


def test_a_word_in_between_is_not_the_answer() -> None:
    async def story(bench: Bench) -> None:
        between = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"
        server = Script(bench, between, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", hangs=True)
        answer = await http(bench).get("/", timeout_ms=20_000)
        assert (answer.status, answer.body, "x" in answer.headers) == (200, b"hi", False)
        server.end()

    play(story)


@each(
    "pieces",
    [
        (),
        (b"HTTP/1.1 200 OK\r\n",),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",),
        (b"HTTP/1.1 100 Continue\r\n\r\n",),
    ],
    ids=["at once", "in the head", "in the body", "in a chunk", "between chunks", "before the answer"],
)
def test_a_server_that_hangs_up_early_is_an_error_not_an_answer(pieces: tuple[bytes, ...]) -> None:
    async def story(bench: Bench) -> None:
        server = Script(bench, *pieces)
        with pytest.raises(ServerGone) as caught:
            await http(bench).get("/", timeout_ms=20_000)
        assert caught.value.details["delivery"] == "unknown"
        server.end()

    play(story)


@each(
    "answer",
    [
        b"SSH-2.0-dropbear\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + b"x" * 101,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + b"x" * 101,
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 101,
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 40_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 70_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhiXX0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nName: \0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"\r\n\r\n",
    ],
)
def test_what_is_no_answer_or_too_much_of_one_is_refused(answer: bytes) -> None:
    async def story(bench: Bench) -> None:
        server = Script(bench, answer, hangs=True)
        with pytest.raises(AdbConnectionError) as caught:
            await http(bench, max_body=100).get("/", timeout_ms=20_000)
        assert not isinstance(caught.value, ServerGone)
        assert caught.value.details["delivery"] == "unknown"
        server.end()

    play(story)
