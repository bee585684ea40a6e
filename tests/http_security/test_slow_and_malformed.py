"""Attacks by half a request, by two lengths, by frames that keep no protocol: each ends its own line only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send
from websockets.frames import Frame, Opcode

from handrail.asgi_server import BODY_S, HEAD_S, MOST_CONNECTIONS
from handrail.bind import listen
from handrail.web_server.server import serving
from tests.scenario.world import play_live, until
from tests.unit.web_server.door import TOKEN, WINDOW, Door, door, frame_of

ASYNC_RUNNER = play_live  # deadlines of 0.3 s: what a busy machine takes away is no part of them

HEADS = {
    "nothing": b"",
    "half a line": b"GET /healthz HT",
    "half a header": b"GET /healthz HTTP/1.1\r\nHost: 127",
    "no last line": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n",
}
ACTION = json.dumps(WINDOW).encode()


def _post(served: Door, *lines: str) -> bytes:
    head = ["POST /api/actions HTTP/1.1", f"Host: {served.host}", f"Authorization: Bearer {TOKEN}"]
    return "\r\n".join([*head, "Content-Type: application/json", *lines, "", ""]).encode()


@asynccontextmanager
async def _line(served: Door) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def _hung_up(reader: asyncio.StreamReader) -> bytes:
    """What came before the server hung up."""
    try:
        return await asyncio.wait_for(reader.read(), 60)
    except ConnectionError:
        return b""


def _says(status: int, answer: bytes) -> bool:
    """A system may throw an answer away if its client goes on sending after the end."""
    return not answer or answer.startswith(f"HTTP/1.1 {status} ".encode())


def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.asgi_server.HEAD_S", 0.3)
    monkeypatch.setattr("handrail.asgi_server.BODY_S", 0.3)


def test_the_deadlines_are_a_few_seconds() -> None:
    assert HEAD_S <= 5
    assert BODY_S <= 30


@pytest.mark.parametrize("sent", HEADS.values(), ids=HEADS)
async def test_half_a_head_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    _hurry(monkeypatch)
    async with door(tmp_path) as served, _line(served) as (reader, writer):
        writer.write(sent)
        assert (await _hung_up(reader)).startswith(b"HTTP/1.1 408" if sent else b"")
        assert (await served.ask("GET", "/healthz")).status == 200


async def test_a_head_that_trickles_in_is_dropped_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _hurry(monkeypatch)
    async with door(tmp_path) as served, _line(served) as (reader, writer):
        sending = asyncio.create_task(_trickle(writer, b"GET /healthz HTTP/1.1\r\n", b"X: y\r\n"))
        assert _says(408, await _hung_up(reader))
        sending.cancel()


async def _trickle(writer: asyncio.StreamWriter, first: bytes, more: bytes) -> None:
    writer.write(first)
    while True:
        writer.write(more)
        await asyncio.sleep(0.02)


async def test_a_second_head_on_the_same_line_has_its_own_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _hurry(monkeypatch)
    async with door(tmp_path) as served, _line(served) as (reader, writer):
        writer.write(f"GET /healthz HTTP/1.1\r\nHost: {served.host}\r\n\r\nGET /hea".encode())
        assert b"200 OK" in (answer := await _hung_up(reader))
        assert b" 408 " in answer


async def test_a_body_that_trickles_in_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _hurry(monkeypatch)
    async with door(tmp_path) as served:
        for how, more in (("Content-Length: 9000", b" "), ("Transfer-Encoding: chunked", b"1\r\n \r\n")):
            async with _line(served) as (reader, writer):
                sending = asyncio.create_task(_trickle(writer, _post(served, how), more))
                assert _says(408, await _hung_up(reader))
                sending.cancel()
        assert served.desk.state.windows == {}


async def test_slow_lines_take_nobodys_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many half requests as there are places: who comes then is refused, and served when they are gone."""
    _hurry(monkeypatch)
    monkeypatch.setattr("handrail.asgi_server.MOST_CONNECTIONS", 40)
    async with door(tmp_path) as served:
        lines = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(60)]
        for _, writer in lines:
            writer.write(b"GET / HTTP/1.1\r\n")
        await asyncio.gather(*(_hung_up(reader) for reader, _ in lines))
        assert (await served.ask("GET", "/healthz")).status == 200
        for _, writer in lines:
            writer.transport.abort()


def test_a_place_is_free_for_200_clients() -> None:
    assert MOST_CONNECTIONS >= 300


@pytest.mark.parametrize("path", ["/api/actions", "/mcp", "/api/login"])
async def test_two_lengths_are_refused(tmp_path: Path, path: str) -> None:
    async with door(tmp_path) as served, _line(served) as (reader, writer):
        head = _post(served, "Content-Length: 5", "Transfer-Encoding: chunked")
        writer.write(head.replace(b"/api/actions", path.encode()) + b"0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n")
        answer = await _hung_up(reader)
        assert answer.startswith(b"HTTP/1.1 400")
        assert b"TWO_LENGTHS" in answer
        assert answer.count(b"HTTP/1.1") == 1, "what follows is not believed"
        assert served.desk.state.windows == {}


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["Content-Length: 5", "Content-Length: 6"], 400),
        (["Content-Length: -1"], 400),
        (["Content-Length: 0x10"], 400),
        (["Transfer-Encoding: gzip"], 400),
        (["Transfer-Encoding: chunked, chunked"], 400),
        (["X: " + "y" * 17_000], 431),
        (["X: " + "y" * 1_000_000], 400),
        ([f"X-{number}: y" for number in range(2_000)], 431),
        ([f"X-{number}: y" for number in range(200_000)], 400),
        (["No colon here"], 400),
        (["X: a\x00b"], 400),
    ],
)
async def test_a_head_that_keeps_no_protocol_is_refused(
    tmp_path: Path, lines: list[str], status: int
) -> None:
    async with door(tmp_path) as served, _line(served) as (reader, writer):
        writer.write(_post(served, *lines) + ACTION)
        assert _says(status, await _hung_up(reader))
        assert served.desk.state.windows == {}
        assert (await served.ask("GET", "/healthz")).status == 200


def _frame(opcode: int, data: bytes, *, fin: bool = True, rsv: int = 0, masked: bool = True) -> bytes:
    """Any bits at all; the payload is masked by zeros."""
    first = (0x80 if fin else 0) | (rsv << 4) | opcode
    mask = b"\0\0\0\0" if masked else b""
    size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + len(data).to_bytes(2, "big")
    return bytes([first, size[0] | (0x80 if masked else 0)]) + size[1:] + mask + data


HUGE = bytes([0x81, 0xFF]) + (2**62).to_bytes(8, "big") + b"\0\0\0\0"
OVERLONG = bytes([0x81, 0xFF]) + (1 << 63).to_bytes(8, "big") + b"\0\0\0\0"
MALFORMED: dict[str, tuple[bytes, int]] = {
    **{f"opcode {code}": (_frame(code, b"x"), 1002) for code in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
    **{f"reserved bits {bits}": (_frame(1, b"{}", rsv=bits), 1002) for bits in range(1, 8)},
    "not masked": (_frame(1, b"{}", masked=False), 1002),
    "larger than allowed": (HUGE, 1009),
    "a length with the first bit set": (OVERLONG, 1009),
    "a ping in pieces": (_frame(9, b"x", fin=False), 1002),
    "a close in pieces": (_frame(8, b"", fin=False), 1002),
    "a ping of 126 bytes": (_frame(9, b"x" * 126), 1002),
    "a close of one byte": (_frame(8, b"\x03"), 1002),
    "a close with a code that is none": (_frame(8, (999).to_bytes(2, "big")), 1002),
    "a close that says 1006": (_frame(8, (1006).to_bytes(2, "big")), 1002),
    "a close whose reason is no text": (_frame(8, (1000).to_bytes(2, "big") + b"\xff"), 1007),
    "a piece of nothing": (_frame(0, b"x"), 1002),
    "a text within a text": (_frame(1, b"{", fin=False) + _frame(1, b"}"), 1002),
    "no text": (_frame(1, b"\xff\xfe"), 1007),
    "half a letter": (_frame(1, b"\xc3", fin=False) + _frame(0, b"x"), 1007),
    "a surrogate": (_frame(1, b'"\xed\xa0\x80"'), 1007),
    "an overlong zero": (_frame(1, b"\xc0\x80"), 1007),
}


async def _upgraded(served: Door, token: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    lines = [
        "GET /ws HTTP/1.1", f"Host: {served.host}", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
        f"Origin: {served.origin}", "", "",
    ]  # fmt: skip
    writer.write("\r\n".join(lines).encode())
    assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
    hello = json.dumps({"type": "HELLO", "clientId": "x", "token": token}).encode()
    before = len(served.desk.hub.clients)
    writer.write(Frame(Opcode.TEXT, hello).serialize(mask=True))
    await until(lambda: len(served.desk.hub.clients) > before)
    return reader, writer


async def _close_code(reader: asyncio.StreamReader) -> int | None:
    """Of the close frame that comes after what the desk tells."""
    while True:
        first, second = await asyncio.wait_for(reader.readexactly(2), 60)
        size = second & 0x7F
        if size >= 126:
            size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8), "big")
        data = await reader.readexactly(size)
        if first & 0x0F == 8:
            return int.from_bytes(data[:2], "big") if data else None


async def test_a_frame_that_keeps_no_protocol_closes_its_own_connection_with_the_right_code(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as served, await served.person() as other:
        await frame_of(other, "SNAPSHOT")
        token = await served.log_in()
        told = {}
        for name, (sent, _) in MALFORMED.items():
            reader, writer = await _upgraded(served, token)
            writer.write(sent)
            told[name] = await _close_code(reader)
            writer.transport.abort()
        assert told == {name: code for name, (_, code) in MALFORMED.items()}
        await until(lambda: len(served.desk.hub.clients) == 1)
        await served.act(WINDOW)
        assert (await frame_of(other, "ACTIONS"))["actions"][0]["windowId"] == "report"


def test_whoever_still_waits_when_the_server_ends_is_hung_up_on_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("handrail.web_server.server.GRACE_S", 0)

    async def waits(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
        else:
            await asyncio.Event().wait()

    async def story() -> bytes:
        bound = listen("localhost", 0)
        port = bound.getsockname()[1]
        async with serving(waits, bound):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            await asyncio.sleep(0.1)
        heard = await _hung_up(reader)
        writer.close()
        return heard

    assert b"Traceback" not in asyncio.run(story())
    assert "Traceback" not in caplog.text
    assert not [one for one in caplog.records if one.exc_info]
