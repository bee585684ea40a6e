"""A debugging socket as Chromium on Android has it: what pages there are, and a WebSocket to each.

Messages go to Chromium as they are, in a session of this client's own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from handrail_sim.channels.http import Request, Response, json_response, serve
from handrail_sim.channels.web.chromium import Chromium, Refused
from handrail_sim.channels.websocket import WebSocket, accept
from handrail_sim.stream import Stream
from handrail_sim.waiting import Background

PAGE = "/devtools/page/"
List = Callable[[], list[dict[str, str]]]


async def serve_devtools(stream: Stream, chromium: Chromium, package: str, listed: List) -> None:
    """One connection."""

    async def answer(request: Request) -> Response:
        if request.path in ("/json", "/json/list"):
            return json_response(listed())
        if request.path == "/json/version":
            return json_response(await _version(chromium, package))
        return Response(b"", 404)

    async def debug(request: Request, stream: Stream) -> None:
        target = request.path.removeprefix(PAGE)
        if "origin" in request.headers or target not in {one["id"] for one in listed()}:
            await stream.write(Response(b"", 404).encode(keep_alive=False))
            return
        socket = await accept(request, stream)
        if socket is not None:
            await _Client(socket, chromium, target).serve()

    await serve(stream, answer, debug)


async def _version(chromium: Chromium, package: str) -> dict[str, str]:
    told = await chromium.call("Browser.getVersion")
    return {
        "Android-Package": package,
        "Browser": str(told["product"]).replace("HeadlessChrome", "Chrome"),
        "Protocol-Version": str(told["protocolVersion"]),
        "User-Agent": str(told["userAgent"]).replace("HeadlessChrome", "Chrome"),
        "V8-Version": str(told["jsVersion"]),
        "WebKit-Version": str(told["revision"]),
        "webSocketDebuggerUrl": "ws://localhost/devtools/browser",
    }


class _Client:
    """Whoever debugs one page: a session of their own, and those of its frames."""

    def __init__(self, socket: WebSocket, chromium: Chromium, target: str) -> None:
        self._socket = socket
        self._chromium = chromium
        self._target = target
        self._session = ""
        self._inner: set[str] = set()
        self._out: asyncio.Queue[str] = asyncio.Queue()
        self._tasks = Background()

    async def serve(self) -> None:
        asked = {"targetId": self._target, "flatten": True}
        try:
            self._session = (await self._chromium.call("Target.attachToTarget", asked))["sessionId"]
        except Refused:
            self._socket.close()
            return
        self._chromium.listeners.append(self._heard)
        self._tasks.start(self._write(), "what a page says")
        try:
            while (text := await self._socket.read()) is not None:
                self._tasks.start(self._forward(json.loads(text)), "a message to a page")
        except (ValueError, BrokenPipeError):
            pass
        finally:
            self._chromium.listeners.remove(self._heard)
            await self._tasks.close()
            self._socket.close()
            await self._detach()

    async def _detach(self) -> None:
        with suppress(Refused):  # its page is gone
            await self._chromium.call("Target.detachFromTarget", {"sessionId": self._session}, within_s=1.0)

    async def _forward(self, message: dict[str, Any]) -> None:
        number, session = message.pop("id", None), str(message.pop("sessionId", ""))
        try:
            answer = await self._chromium.forward(message, session or self._session)
        except Refused as refusal:
            answer = {"error": {"code": -32000, "message": str(refusal)}}
        self._say({**answer, "id": number}, session)

    def _heard(self, session: str, method: str, told: dict[str, Any]) -> None:
        if session != self._session and session not in self._inner:
            return
        if method == "Target.attachedToTarget":
            self._inner.add(str(told.get("sessionId")))
        inner = "" if session == self._session else session
        self._say({"method": method, "params": told}, inner)

    def _say(self, message: dict[str, Any], session: str) -> None:
        message.pop("sessionId", None)
        self._out.put_nowait(json.dumps({**message, **({"sessionId": session} if session else {})}))

    async def _write(self) -> None:
        """One message after the other: frames of two must not mix."""
        try:
            while True:
                await self._socket.write(await self._out.get())
        except BrokenPipeError:
            pass  # nobody listens any more
