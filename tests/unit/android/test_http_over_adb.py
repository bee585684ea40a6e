from __future__ import annotations

import asyncio

import pytest

from handrail.android.http_over_adb import HttpPort, ServerGone
from handrail.errors import AdbConnectionError, DeviceError, HandrailError, Timeout
from handrail_sim.clock import ManualClock
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


def test_a_body_is_read_by_its_length_however_it_is_cut() -> None:
    async def story(bench: Bench) -> None:
        pieces = [
            b"HTTP/1.1 200 O",
            b"K\r\nContent-Len",
            b"gth: 5\r\nX-A:  b \r\n\r",
            b"\nhel",
            b"lo and more",
        ]
        server = Script(bench, *pieces, hangs=True)
        answer = await http(bench).post("/a?b=c", b'{"d":1}', timeout_ms=20_000)
        assert (answer.status, answer.body, answer.headers["x-a"]) == (200, b"hello", "b")
        assert server.heard.startswith(b"POST /a?b=c HTTP/1.1\r\nHost: localhost:7001\r\n")
        assert server.heard.endswith(b'\r\nContent-Length: 7\r\n\r\n{"d":1}')
        server.end()

    play(story)


def test_chunks_are_put_together() -> None:
    async def story(bench: Bench) -> None:
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        server = Script(bench, head, b"5;x=y\r\nhel", b"lo\r\n1", b"0\r\n0123456789abcdef\r\n0\r\n\r\n")
        answer = await http(bench).get("/", timeout_ms=20_000)
        assert answer.body == b"hello0123456789abcdef"
        server.end()

    play(story)


def test_without_a_length_the_body_ends_with_the_stream() -> None:
    async def story(bench: Bench) -> None:
        server = Script(bench, b"HTTP/1.0 404 Not Found\r\n\r\nno", b"thing")
        answer = await http(bench).get("/", timeout_ms=20_000)
        assert (answer.status, answer.body) == (404, b"nothing")
        server.end()

    play(story)


def test_a_word_in_between_is_not_the_answer() -> None:
    async def story(bench: Bench) -> None:
        between = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"
        server = Script(bench, between, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", hangs=True)
        answer = await http(bench).get("/", timeout_ms=20_000)
        assert (answer.status, answer.body, "x" in answer.headers) == (200, b"hi", False)
        server.end()

    play(story)


def test_an_answer_that_has_no_body_ends_with_its_head() -> None:
    async def story(bench: Bench) -> None:
        server = Script(bench, b"HTTP/1.1 204 No Content\r\n\r\n", hangs=True)
        answer = await http(bench).get("/", timeout_ms=20_000)
        assert (answer.status, answer.body) == (204, b"")
        assert server.heard == b"GET / HTTP/1.1\r\nHost: localhost:7001\r\nConnection: close\r\n\r\n"
        server.end()

    play(story)


def test_a_body_of_exactly_the_limit_is_an_answer() -> None:
    async def story(bench: Bench) -> None:
        size, whole = 300_000, bytes(range(250)) * 1200
        for head, body in [
            (b"Content-Length: 300000\r\n", whole),
            (b"Transfer-Encoding: chunked\r\n", b"493e0\r\n" + whole + b"\r\n0\r\nX-Trailer: y\r\n\r\n"),
            (b"", whole),
        ]:
            server = Script(bench, b"HTTP/1.1 200 OK\r\n" + head + b"\r\n", body)
            answer = await http(bench, max_body=size).get("/", timeout_ms=20_000)
            assert answer.body == whole
            server.end()

    play(story)


def test_a_port_that_nobody_serves_delivered_nothing() -> None:
    async def story(bench: Bench) -> None:
        with pytest.raises(ServerGone) as caught:
            await http(bench).post("/tap", b"{}", timeout_ms=20_000)
        assert caught.value.details["delivery"] == "not_delivered"

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


def test_past_the_deadline_the_stream_is_closed_and_the_request_may_have_arrived() -> None:
    async def story(bench: Bench) -> None:
        server = Script(bench, b"HTTP/1.1 200 OK\r\n", hangs=True)
        clock = ManualClock()
        asking = asyncio.ensure_future(HttpPort(bench.device, PORT, clock).get("/", timeout_ms=500))
        await server.answered.wait()
        await clock.advance(499)
        assert not asking.done()
        await clock.advance(1)
        with pytest.raises(Timeout) as caught:
            await asking
        assert (caught.value.details["delivery"], caught.value.retryable) == ("unknown", False)
        server.end()

    play(story)


def test_a_deadline_before_the_stream_was_open_delivered_nothing() -> None:
    class Deaf:
        async def open(self, service: str) -> Stream:
            await asyncio.Event().wait()
            raise AssertionError(service)

    async def story() -> None:
        clock = ManualClock()
        asking = asyncio.ensure_future(HttpPort(Deaf(), PORT, clock).get("/", timeout_ms=500))  # type: ignore[arg-type]
        while not asking.done():
            await asyncio.sleep(0)
            await clock.advance(100)
        with pytest.raises(Timeout) as caught:
            await asking
        assert (caught.value.details["delivery"], caught.value.retryable) == ("not_delivered", True)

    asyncio.run(story())


def test_a_cancelled_request_leaves_no_stream() -> None:
    async def story(bench: Bench) -> None:
        server = Script(bench, hangs=True)
        asking = asyncio.ensure_future(http(bench).get("/", timeout_ms=20_000))
        await server.answered.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        server.end()

    play(story)


def test_a_line_that_breaks_says_that_delivery_is_unknown() -> None:
    async def story(bench: Bench) -> None:
        server = Script(bench, hangs=True)
        asking = asyncio.ensure_future(http(bench).get("/", timeout_ms=20_000))
        await server.answered.wait()
        bench.phone.reboot()
        with pytest.raises(HandrailError) as caught:
            await asking
        assert isinstance(caught.value, DeviceError)
        assert caught.value.details["delivery"] == "unknown"
        bench.phone.ports.clear()

    play(story)
