"""Attacks on the door's secrets, each of which fails: none, guessed, used before, or not a person's."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route
from websockets.exceptions import InvalidStatus

from handrail.http.auth import MOST_GUESSES
from tests.unit.http.door import KEY, TOKEN, WINDOW, Door, door, frame_of

OPEN = {"/", "/login", "/healthz", "/favicon.ico"}


async def _without_anything(served: Door, path: str, method: str) -> int:
    headers = {"Content-Type": "application/json"} if method == "POST" else {}
    return (await served.ask(method, path, headers, b"{}" if method == "POST" else None)).status


def test_every_route_wants_a_secret(tmp_path: Path) -> None:
    async def story() -> None:
        async with door(tmp_path) as served:
            seen = 0
            for route in served.app.routes:
                if not isinstance(route, Route) or route.path in OPEN:
                    continue
                path = re.sub(r"{\w+(:path)?}", "x", route.path)
                for method in sorted(route.methods or ()):
                    assert await _without_anything(served, path, method) == 401, (method, path)
                    seen += 1
            assert seen > 20
            with pytest.raises(InvalidStatus) as refusal:
                async with served.socket("", Origin=served.origin):
                    pass
            assert refusal.value.response.status_code == 401

    asyncio.run(story())


DETOURS = [
    "/api/storage/x.png",
    "/api/storage/x.html",
    "/api/desk.js",
    "/api/desk/.css",
    "/api/desk?x=/static/a.js",
    "/static/../api/desk",
    "/static/%2e%2e/api/desk",
    "//api/desk",
    "/apps/notes/index.html",
    "/api/openapi.json",
]


def test_no_ending_and_no_detour_opens_a_path(tmp_path: Path) -> None:
    async def story() -> None:
        async with door(tmp_path) as served:
            for path in DETOURS:
                assert (await served.ask("GET", path)).status in (401, 404), path

    asyncio.run(story())


def test_whoever_guesses_has_to_wait(tmp_path: Path) -> None:
    async def story() -> None:
        async with door(tmp_path) as served:
            cookie = await served.log_in()
            for turn in range(MOST_GUESSES):
                assert (await served.get("/api/desk", token=f"{TOKEN}{turn}")).status == 401
            last = await served.get("/api/desk")  # now even the right one is not heard
            assert (last.status, last.json["code"]) == (429, "TOO_MANY_GUESSES")
            assert (await served.ask("GET", f"/login?code={served.context.auth.link_code()}")).status == 429
            # A browser that is logged in goes on: its cookie is nothing that could be guessed.
            assert (await served.ask("GET", "/api/desk", {"Cookie": cookie})).status == 200

    asyncio.run(story())


def test_a_link_works_once_and_an_invented_one_never(tmp_path: Path) -> None:
    async def story() -> None:
        async with door(tmp_path) as served:
            code = served.context.auth.link_code()
            first = await served.ask("GET", f"/login?code={code}")
            assert first.status == 200
            flags = first.headers["set-cookie"]
            assert "HttpOnly" in flags
            assert "SameSite=Strict" in flags
            assert "Path=/" in flags
            assert code not in flags
            for stale in (code, code[:-1], "", "x" * 43):
                answer = await served.ask("GET", f"/login?code={stale}")
                assert answer.status == 401
                assert "set-cookie" not in answer.headers

    asyncio.run(story())


def test_other_schemes_and_cookies_open_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        async with door(tmp_path) as served:
            name = (await served.log_in()).partition("=")[0]
            for headers in (
                {"Authorization": f"Basic {TOKEN}"},
                {"Authorization": TOKEN},
                {"Authorization": "Bearer"},
                {"Authorization": "Bearer \xff\xfe"},
                {"Cookie": f"{name}={TOKEN}"},
                {"Cookie": f"{name}="},
                {"Cookie": "x=\x01;;=;"},
            ):
                assert (await served.ask("GET", "/api/desk", headers)).status == 401, headers
            assert (await served.ask("GET", f"/api/desk?token={TOKEN}")).status == 401

    asyncio.run(story())


def test_a_programs_token_does_not_decide_what_people_decide(tmp_path: Path) -> None:
    """No agent says yes to itself, gives itself a person's login, or takes a permission away."""

    async def story() -> None:
        async with door(tmp_path) as served:
            for method, path, body in (
                ("POST", "/api/approvals", {"id": "ap_0", "approve": True}),
                ("POST", "/api/login-links", {}),
                ("DELETE", "/api/permissions?key=tap:Pay", None),
                ("POST", "/api/phone/x/take", {}),
            ):
                for headers in ({"token": TOKEN}, {"token": KEY, "agent": "writer"}):
                    answer = await served.send(method, path, body, **headers)
                    assert (answer.status, answer.json["code"]) == (403, "ACTION_REJECTED"), path

    asyncio.run(story())


def test_a_programs_socket_can_act_and_not_answer(tmp_path: Path) -> None:
    frames: list[dict[str, Any]] = [
        {"type": "DIALOG_FEEDBACK", "dialogId": "approval:ap_0", "confirmed": True},
        {"type": "DIALOG_FEEDBACK", "dialogId": "mine", "confirmed": True},
        {"type": "USER_MESSAGE", "messageId": "m", "content": "pay"},
        {"type": "PHONE_INPUT", "device": "x", "control": "take"},
        {"type": "INTERRUPT"},
    ]

    async def story() -> None:
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

    asyncio.run(story())
