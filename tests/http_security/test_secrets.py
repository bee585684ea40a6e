"""Attacks on the door's secrets, each of which fails: none, guessed, used before, or not a person's."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route
from websockets.exceptions import ConnectionClosed

from handrail.web_server.auth import MOST_GUESSES
from tests.unit.web_server.door import KEY, TOKEN, WINDOW, Door, door, frame_of

OPEN = {"/", "/approve", "/worker.js", "/login", "/api/login", "/healthz", "/favicon.ico"}
NOT_LOGGED_IN = 4401


async def _without_anything(served: Door, path: str, method: str) -> int:
    headers = {"Content-Type": "application/json"} if method == "POST" else {}
    return (await served.ask(method, path, headers, b"{}" if method == "POST" else None)).status


async def test_every_route_wants_a_secret(served: Door) -> None:
    seen = 0
    for route in served.app.routes:
        if not isinstance(route, Route) or route.path in OPEN:
            continue
        path = re.sub(r"{\w+(:path)?}", "x", route.path)
        for method in sorted(route.methods or ()):
            assert await _without_anything(served, path, method) == 401, (method, path)
            seen += 1
    assert seen > 20


DETOURS = [
    "/api/storage/x.png", "/api/storage/x.html", "/api/desk.js", "/api/desk/.css",
    "/api/desk?x=/static/a.js", "/static/../api/desk", "/static/%2e%2e/api/desk", "//api/desk",
    "/apps/notes/index.html", "/api/openapi.json",
]  # fmt: skip


async def test_no_ending_and_no_detour_opens_a_path(served: Door) -> None:
    for path in DETOURS:
        assert (await served.ask("GET", path)).status in (401, 404), path


async def test_whoever_guesses_has_to_wait_and_nobody_else(served: Door) -> None:
    """Every account of this machine has the same address."""
    page = await served.page()
    for turn in range(MOST_GUESSES):
        assert (await served.get("/api/desk", token=f"{TOKEN}{turn}")).status == 401
    last = await served.get("/api/desk", token=f"{TOKEN}x")
    assert (last.status, last.json["code"]) == (429, "TOO_MANY_GUESSES")
    for secret in (TOKEN, KEY):
        assert (await served.get("/api/desk", token=secret)).status == 200
    assert (await served.send("POST", "/api/interrupt", {})).status == 200
    assert (await served.exchange("x" * 43)).status == 429
    assert (await served.exchange(served.context.auth.link_code())).status == 200  # a person gets in
    # A page that is logged in goes on: its token is nothing that could be guessed.
    assert (await served.ask("GET", "/api/desk", page)).status == 200


async def test_a_link_works_once_and_an_invented_one_never(served: Door) -> None:
    code = served.context.auth.link_code()
    first = await served.exchange(code)
    assert (first.status, list(first.json)) == (200, ["token"])
    assert first.json["token"] != code
    for stale in (code, code[:-1], "", "x" * 43):
        answer = await served.exchange(stale)
        assert (answer.status, answer.json["code"]) == (401, "LINK_NOT_VALID")


async def test_nothing_that_a_browser_sends_by_itself_opens_anything(served: Door) -> None:
    token = await served.log_in()
    basic = base64.b64encode(f"owner:{token}".encode()).decode()
    for headers in (
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer \xff\xfe"},
        {"Authorization": f"Basic {basic}"},
        {"Authorization": f"Bearer {token}"},  # a page's token is no program's
        {"Cookie": f"handrail-{served.port}={token}; handrail={token}; handrail-page={token}"},
        {"Handrail-Page": TOKEN},
        {"Handrail-Page": KEY},
        {"Handrail-Page": ""},
    ):
        assert (await served.ask("GET", "/api/desk", headers)).status == 401, headers
    for query in (f"token={TOKEN}", f"handrail-page={token}", f"code={token}"):
        assert (await served.ask("GET", f"/api/desk?{query}")).status == 401
        assert (await served.ask("GET", f"/ticket/{token}?{query}")).status == 410


async def test_no_answer_ever_sets_a_cookie(served: Door) -> None:
    answers = [await served.exchange(served.context.auth.link_code()), await served.ask("GET", "/")]
    answers += [await served.ask("GET", path, await served.page()) for path in ("/api/desk", "/login")]
    assert [one.status for one in answers] == [200] * 4
    assert not any("set-cookie" in one.headers for one in answers)


async def test_a_socket_is_told_nothing_before_its_token_counts(tmp_path: Path) -> None:
    firsts: list[str | bytes] = [
        json.dumps({"type": "HELLO", "clientId": "x"}),
        json.dumps({"type": "HELLO", "clientId": "x", "token": TOKEN}),
        json.dumps({"type": "HELLO", "clientId": "x", "token": "A" * 43}),
        json.dumps({"type": "INTERRUPT"}),
        "nonsense",
        b"\x00",
    ]
    async with door(tmp_path) as served:
        for first in firsts:
            async with served.socket("?since=0", Origin=served.origin) as socket:
                await socket.send(first)
                await socket.send(json.dumps({"type": "USER_INTERACTION", "interactions": [WINDOW]}))
                with pytest.raises(ConnectionClosed):
                    await asyncio.wait_for(socket.recv(), 60)
                assert socket.close_code == NOT_LOGGED_IN
        assert served.desk.state.windows == {}


async def test_a_socket_that_says_nothing_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.web_server.websocket.HELLO_S", 0.1)
    async with door(tmp_path) as served, served.socket("", Origin=served.origin) as socket:
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(socket.recv(), 60)
        assert socket.close_code == NOT_LOGGED_IN


async def test_a_programs_token_does_not_decide_what_people_decide(served: Door) -> None:
    """No agent says yes to itself, gives itself a person's login, or takes a permission away."""
    for method, path, body in (
        ("POST", "/api/approvals", {"id": "ap_0", "approve": True}),
        ("POST", "/api/login-links", {}),
        ("DELETE", "/api/permissions?key=tap:Pay", None),
        ("POST", "/api/phone/x/take", {}),
    ):
        for headers in ({"token": TOKEN}, {"token": KEY, "agent": "writer"}):
            answer = await served.send(method, path, body, **headers)
            assert (answer.status, answer.json["code"]) == (403, "ACTION_REJECTED"), path


async def test_a_programs_socket_can_act_and_not_answer(tmp_path: Path) -> None:
    frames: list[dict[str, Any]] = [
        {"type": "DIALOG_FEEDBACK", "dialogId": "approval:ap_0", "confirmed": True},
        {"type": "DIALOG_FEEDBACK", "dialogId": "mine", "confirmed": True},
        {"type": "USER_MESSAGE", "messageId": "m", "content": "pay"},
        {"type": "PHONE_INPUT", "device": "x", "control": "take"},
        {"type": "INTERRUPT"},
    ]
    async with door(tmp_path) as served, served.socket() as socket:
        await frame_of(socket, "SNAPSHOT")
        for frame in frames:
            await socket.send(json.dumps(frame))
            assert (await frame_of(socket, "ERROR"))["code"] == "ACTION_REJECTED"
        await socket.send(json.dumps({"type": "USER_INTERACTION", "interactions": [WINDOW]}))
        assert (await frame_of(socket, "ACTIONS"))["agentId"] == "http"
        await socket.send(json.dumps({"type": "USER_INTERACTION", "interactions": [WINDOW]}))
        assert (await frame_of(socket, "ERROR"))["code"] == "INVALID_ACTION"  # it exists already
        assert not served.desk.inbox("console").take()
