"""A WebDriverAgent that answers what a test has written, over real sockets, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from handrail.clock import Clock, SystemClock
from handrail.ios.wda import Wda

Route = Callable[[Any], Any]
STATUS = {
    "ready": True,
    "state": "success",
    "os": {"name": "iOS", "version": "17.4", "sdkVersion": "17.4"},
    "build": {"time": "Mar 18 2024 11:29:21"},
    "device": "iphone",
}
SCREEN = {"scale": 3, "screenSize": {"width": 390, "height": 844}}


def node(kind: str, box: tuple[int, int, int, int], *children: Any, **more: Any) -> dict[str, Any]:
    """One element as `/source?format=json` tells it."""
    x, y, width, height = box
    told = {"type": kind, "rect": {"x": x, "y": y, "width": width, "height": height}, "isEnabled": "1"}
    told |= {"name": more.get("label"), "label": None, "value": None, **more}
    return told | ({"children": list(children)} if children else {})


def app(*children: Any, name: str = "Notes") -> dict[str, Any]:
    window = node("Window", (0, 0, 390, 844), *children)
    return node("Application", (0, 0, 390, 844), window, label=name)


@dataclass
class WdaRefusal(Exception):
    """An error of WebDriverAgent."""

    error: str
    status: int = 404
    message: str = "no"


@dataclass
class ScriptedWda:
    """Routes by method and path without the session's part; whatever has none is an unknown command."""

    tree: Any = None
    bundle: str = "com.example.notes"
    session: str | None = None
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    routes: dict[str, Route] = field(default_factory=dict)
    raw: Callable[[asyncio.StreamWriter, str], Awaitable[bool]] | None = None
    """Answers in its own way; whether it did."""
    opened: int = 0
    connections: int = 0
    port: int = 0

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        plain, _, _ = path.partition("?")
        if plain == "/session" and method == "POST":
            self.opened += 1
            self.session = f"S-{self.opened}"
            return 200, {"sessionId": self.session, "capabilities": {}}
        if plain.startswith("/session/"):
            _, _, session, *rest = plain.split("/")
            if session != self.session:
                raise WdaRefusal("invalid session id", message="Session does not exist")
            plain = "/" + "/".join(rest)
            if not rest:
                self.session = None
                return 200, None
        return 200, self.route(f"{method} {plain}", body)

    def route(self, name: str, body: Any) -> Any:
        if name in self.routes:
            return self.routes[name](body)
        fixed = {
            "GET /status": STATUS, "GET /wda/screen": SCREEN, "GET /source": self.tree,
            "GET /wda/activeAppInfo": {"pid": 7, "bundleId": self.bundle, "name": "Notes"},
            "GET /window/size": {"width": 390, "height": 844}, "GET /orientation": "PORTRAIT",
            "POST /appium/settings": {}, "POST /actions": None, "POST /wda/keys": None,
        }  # fmt: skip
        if name not in fixed:
            raise WdaRefusal("unknown command", message=f"Unhandled endpoint: {name}")
        return fixed[name]

    def sent(self, *paths: str) -> list[Any]:
        """The bodies that were sent to these paths, whatever the session."""
        return [body for _, path, body in self.asked if path.endswith(paths)]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._once(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _once(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split(" ", 2)
        lengths = [
            line.split(":")[1] for line in head.splitlines() if line.lower().startswith("content-length")
        ]
        length = int(lengths[0]) if lengths else 0
        data = await reader.readexactly(length)
        body = json.loads(data) if data else None
        self.asked.append((method, path, body))
        if self.raw is not None and await self.raw(writer, path):
            return False
        try:
            status, value = self.answer(method, path, body)
        except WdaRefusal as refusal:
            status = refusal.status
            value = {"error": refusal.error, "message": refusal.message, "traceback": ""}
        text = json.dumps({"value": value, "sessionId": self.session}).encode()
        writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, len(text)) + text)
        await writer.drain()
        return True


@asynccontextmanager
async def served(script: ScriptedWda) -> AsyncIterator[ScriptedWda]:
    server = await asyncio.start_server(script._serve, "127.0.0.1", 0)
    script.port = server.sockets[0].getsockname()[1]
    try:
        yield script
    finally:
        server.close()


@asynccontextmanager
async def client_of(script: ScriptedWda, clock: Clock | None = None) -> AsyncIterator[Wda]:
    async with served(script):
        dial = partial(asyncio.open_connection, "127.0.0.1", script.port)
        wda = Wda(dial, clock or SystemClock(), "ios:test")
        try:
            yield wda
        finally:
            await wda.close()
