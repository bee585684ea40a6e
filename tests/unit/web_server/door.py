"""A whole HTTP door on a loopback port: a real runtime, a real desk, no phone. Its clients say anything."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from websockets.asyncio.client import ClientConnection, connect

from handrail.bind import listen
from handrail.config import Config
from handrail.desk.desk import Desk
from handrail.runtime import Runtime
from handrail.web_server.approvals import agent_answer_reader, agent_answer_writer
from handrail.web_server.auth import served_hosts
from handrail.web_server.server import DeskContext, build_desk_app, serving
from tests.scenario.world import until

TOKEN = "token-of-a-program-0123456789"
KEY = "key-of-the-owner-0123456789"
WINDOW = {
    "type": "window.create",
    "windowId": "report",
    "title": "Report",
    "bounds": {"x": 10, "y": 20, "w": 400, "h": 300},
    "content": {"renderer": "markdown", "data": "# Hello"},
}


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Door:
    """The served application, and ways to knock."""

    app: Starlette
    runtime: Runtime
    desk: Desk
    port: int

    @property
    def context(self) -> DeskContext:
        context: DeskContext = self.app.state.context
        return context

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    def events_of(self, kind: str) -> list[dict[str, Any]]:
        """The journal's entries of this kind, oldest first."""
        entries = map(json.loads, self.runtime.journal.export())
        return [entry for entry in entries if entry["kind"] == kind]

    async def ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Answer:
        """Exactly these headers, and a Host where none is given."""
        return await asyncio.to_thread(self._ask, method, path, dict(headers or {}), body)

    def _ask(self, method: str, path: str, headers: dict[str, str], body: bytes | None) -> Answer:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            headers = {"Host": self.host, **headers}
            if body is not None:
                headers.setdefault("Content-Length", str(len(body)))
            for name, value in headers.items():
                line.putheader(name, value)
            line.endheaders(body)
            answer = line.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, told, answer.read())
        finally:
            line.close()

    async def get(self, path: str, *, token: str = TOKEN, **headers: str) -> Answer:
        return await self.ask("GET", path, {"Authorization": f"Bearer {token}", **headers})

    async def send(
        self, method: str, path: str, value: Any, *, token: str = TOKEN, agent: str | None = None
    ) -> Answer:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        if agent:
            headers["Handrail-Agent"] = agent
        return await self.ask(method, path, headers, json.dumps(value).encode())

    async def act(self, action: Any, **more: Any) -> Answer:
        return await self.send("POST", "/api/actions", action, **more)

    async def log_in(self) -> str:
        """The token of a person's page."""
        answer = await self.exchange(self.context.auth.link_code())
        assert answer.status == 200, answer
        return str(answer.json["token"])

    async def exchange(self, code: str, **headers: str) -> Answer:
        """What a page does with a link."""
        given = {"Content-Type": "application/json", "Origin": self.origin, **headers}
        return await self.ask("POST", "/api/login", given, json.dumps({"code": code}).encode())

    async def page(self) -> dict[str, str]:
        """The headers of a page that is logged in."""
        return {"Handrail-Page": await self.log_in(), "Origin": self.origin}

    def socket(self, query: str = "", *, host: str | None = None, **headers: str) -> connect:
        """As these headers say; a program with its token when they say nothing. `host` is a lie."""
        given = headers or {"Authorization": f"Bearer {TOKEN}"}
        address = f"ws://{host or self.host}/ws{query}"
        options: dict[str, Any] = {"max_size": None, "proxy": None, "compression": None}
        return connect(address, additional_headers=given, host="127.0.0.1", port=self.port, **options)

    async def person(self, query: str = "") -> PageSocket:
        """The socket of somebody's page that is logged in."""
        return PageSocket(self.socket(query, Origin=self.origin), await self.log_in(), self.desk)


class PageSocket:
    """Says who it is in its first frame, and has joined when it is entered."""

    def __init__(self, opening: connect, token: str, desk: Desk) -> None:
        self._opening = opening
        self._token = token
        self._desk = desk

    async def __aenter__(self) -> ClientConnection:
        socket = await self._opening.__aenter__()
        before = set(self._desk.hub.clients)
        await socket.send(json.dumps({"type": "HELLO", "clientId": "test", "token": self._token}))
        await until(lambda: set(self._desk.hub.clients) - before)
        return socket

    async def __aexit__(self, *error: Any) -> None:
        await self._opening.__aexit__(*error)


@asynccontextmanager
async def door(home: Path, *, runtime: Runtime | None = None, **options: Any) -> AsyncIterator[Door]:
    if runtime is not None:
        async with _served(runtime, options) as served:
            yield served
        return
    env = {"HANDRAIL_HOME": str(home), "HOME": str(home), "HANDRAIL_ADB": str(home / "no-adb")}
    env["ANDROID_ADB_SERVER_PORT"] = "15793"  # where no server of this machine listens
    async with Runtime.open(Config.from_env(env), env=env) as made, _served(made, options) as served:
        yield served


@asynccontextmanager
async def _served(runtime: Runtime, options: dict[str, Any]) -> AsyncIterator[Door]:
    known = runtime.permissions
    desk = await Desk.open(
        runtime.store, runtime.clock, remember=agent_answer_writer(known), recall=agent_answer_reader(known)
    )
    runtime.attach_desk(desk)
    bound = listen("127.0.0.1", 0)
    port = bound.getsockname()[1]
    hosts = served_hosts("127.0.0.1", port)
    app = build_desk_app(runtime, desk, **{"token": TOKEN, "key": KEY, "allowed_hosts": hosts, **options})
    try:
        async with serving(app, bound):
            yield Door(app, runtime, desk, port)
    finally:
        await desk.close()


async def frame_of(socket: ClientConnection, kind: str) -> dict[str, Any]:
    """The next frame of this kind."""
    async with asyncio.timeout(60):
        while True:
            frame = json.loads(await socket.recv())
            if frame["type"] == kind:
                return dict(frame)


def unpack(message: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the picture of a binary frame: four bytes say how long the header is."""
    end = 4 + int.from_bytes(message[:4], "big")
    return json.loads(message[4:end]), message[end:]
