"""Attacks by size and speed, each of which fails: huge frames, floods, deaf clients, packed bodies."""

from __future__ import annotations

import asyncio
import base64
import gzip
import io
import json
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from PIL import Image
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from handrail.desk.hub import MOST_BEHIND
from handrail.protocol.read import MAX_BYTES
from handrail.web_server.websocket import MOST_TEXT
from tests.scenario.world import until
from tests.unit.web_server.door import TOKEN, WINDOW, Door, door, frame_of

PROGRAM = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
CLOSE = {"type": "window.close", "windowId": "report"}


async def _closed_with(socket: ClientConnection) -> int | None:
    """What the server says when it hangs up."""
    async with asyncio.timeout(60):
        async for _ in _frames(socket):
            pass
    return socket.close_code


async def _frames(socket: ClientConnection) -> AsyncIterator[str | bytes]:
    with suppress(ConnectionClosed):
        while True:
            yield await socket.recv()


async def test_a_frame_of_ten_megabytes_ends_its_own_connection_only(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as other, await served.person() as socket:
        picture = "A" * 10_000_000
        feedback = {"requestId": "r", "windowId": "w", "kind": "capture", "success": True}
        await socket.send(json.dumps({"type": "RENDERING_FEEDBACK", **feedback, "imageData": picture}))
        assert await _closed_with(socket) == 1009
        await frame_of(other, "SNAPSHOT")
        await served.act(WINDOW)
        assert (await frame_of(other, "ACTIONS"))["actions"][0]["windowId"] == "report"


async def test_a_picture_that_was_asked_for_may_be_large(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as socket:
        shown = {"monitorId": "monitor-0", "viewport": {"w": 1280, "h": 720}}
        await socket.send(json.dumps({"type": "SUBSCRIBE_MONITOR", **shown}))
        await until(lambda: served.desk.hub.in_use("monitor-0"))
        await served.act(WINDOW)
        capturing = asyncio.create_task(served.act({"type": "window.capture", "windowId": "report"}))
        while (asked := await frame_of(socket, "ACTIONS"))["actions"][0]["type"] != "window.capture":
            pass
        feedback = {
            "type": "RENDERING_FEEDBACK",
            "requestId": asked["actions"][0]["requestId"],
            "windowId": "report",
            "kind": "capture",
            "success": True,
            "imageData": _large_png(),
        }
        assert len(feedback["imageData"]) > MOST_TEXT
        await socket.send(json.dumps(feedback))
        assert (await capturing).json["success"] is True


def _large_png() -> str:
    """A picture of noise can't be packed."""
    file = io.BytesIO()
    Image.frombytes("RGB", (600, 600), os.urandom(600 * 600 * 3)).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


async def test_a_flood_of_frames_is_cut_off(tmp_path: Path) -> None:
    async with door(tmp_path) as served, await served.person() as socket:
        message = {"type": "USER_MESSAGE", "messageId": "m", "content": "flood"}
        with suppress(ConnectionClosed):
            for _ in range(5_000):
                await socket.send(json.dumps(message))
        assert await _closed_with(socket) == 1008
        heard = served.desk.inbox("console")
        assert len(heard) + heard.dropped < 5_000
        assert (await served.get("/api/desk")).status == 200


async def test_ten_bad_frames_close_the_connection_and_nine_do_not(tmp_path: Path) -> None:
    bad = ["", "[]", "{", '{"type":"NOPE"}', '{"type":"HELLO"}', "1", "null", '"x"', "[" * 100_000]
    async with door(tmp_path) as served, await served.person() as socket:
        for text in bad:
            await socket.send(text)
            assert (await frame_of(socket, "ERROR"))["code"] == "INVALID_ACTION"
        await socket.send(json.dumps({"type": "USER_MESSAGE", "messageId": "m", "content": "still here"}))
        await socket.send(b"\x00binary")
        assert await _closed_with(socket) == 1008
        assert [one["content"] for one in served.desk.inbox("console").take()] == ["still here"]


async def test_a_client_that_never_reads_holds_nobody_up_and_is_sent_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handrail.web_server.websocket.SEND_S", 1.0)
    async with door(tmp_path) as served, await served.person() as quick:
        writer = await _deaf(served.port, await served.log_in())
        await until(lambda: len(served.desk.hub.clients) == 2)
        snapshot = await frame_of(quick, "SNAPSHOT")
        last = snapshot["seq"]
        padding = "x" * 20_000
        for turn in range(MOST_BEHIND + 100):
            served.desk.publish("AGENT_STATUS", agentId="a", status="acting", message=f"{turn} {padding}")
            frame = await frame_of(quick, "AGENT_STATUS")
            assert frame["seq"] == last + 1
            last += 1
        await until(lambda: len(served.desk.hub.clients) == 1)
        writer.transport.abort()


async def _deaf(port: int, token: str) -> asyncio.StreamWriter:
    """A browser that shakes hands and then takes nothing any more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
    host = f"127.0.0.1:{port}"
    lines = [
        "GET /ws HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
        f"Origin: http://{host}", "", "",
    ]  # fmt: skip
    writer.write("\r\n".join(lines).encode())
    assert b"101" in await reader.readline()
    hello = json.dumps({"type": "HELLO", "clientId": "deaf", "token": token}).encode()
    writer.write(Frame(Opcode.TEXT, hello).serialize(mask=True))
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    return writer


async def test_a_hundred_thousand_actions_are_refused_packed_listed_or_interacted(tmp_path: Path) -> None:
    many = json.dumps([CLOSE] * 100_000).encode()
    async with door(tmp_path) as served:
        packed = await served.ask(
            "POST", "/api/actions", PROGRAM | {"Content-Encoding": "gzip"}, gzip.compress(many)
        )
        assert (packed.status, packed.json["code"]) == (415, "NOT_JSON")
        listed = await served.ask("POST", "/api/actions", PROGRAM, many)
        assert (listed.status, listed.json["code"]) == (422, "INVALID_ACTION")
        async with await served.person() as socket:
            interactions = [CLOSE] * 10_000
            await socket.send(json.dumps({"type": "USER_INTERACTION", "interactions": interactions}))
            error = await frame_of(socket, "ERROR")
            assert (error["code"], error["path"]) == ("INVALID_ACTION", "interactions")


async def test_a_body_is_read_to_its_limit_only_also_when_it_does_not_say_its_size(served: Door) -> None:
    told = await served.ask("POST", "/api/actions", PROGRAM | {"Content-Length": str(MAX_BYTES + 1)}, b"")
    assert (told.status, told.json["code"]) == (413, "TOO_LARGE")
    assert await _chunked(served.port) == 413


async def _chunked(port: int) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = [
        "POST /api/actions HTTP/1.1", f"Host: 127.0.0.1:{port}", "Transfer-Encoding: chunked",
        *(f"{name}: {value}" for name, value in PROGRAM.items()), "", "",
    ]  # fmt: skip
    writer.write("\r\n".join(head).encode())
    chunk = b"%x\r\n%s\r\n" % (1_000_000, b"[" * 1_000_000)
    try:
        for _ in range(MAX_BYTES // 1_000_000 + 2):
            writer.write(chunk)
            await writer.drain()
    except ConnectionError:
        pass
    status = int((await reader.readline()).split()[1])
    writer.transport.abort()
    return status
