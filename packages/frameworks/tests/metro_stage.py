"""A Metro on a loopback port whose runtime behaves as a test wants, well or badly."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

PACKAGE = "com.example.app"
Behaviour = Callable[[ServerConnection], Awaitable[None]]
IDLE = json.dumps({"requests": [], "timers": [], "beat": 1, "turned": True})


def answering(value: Callable[[str], Any]) -> Behaviour:
    """A runtime that evaluates every expression to what `value` makes of it."""

    async def behave(socket: ServerConnection) -> None:
        async for message in socket:
            asked = json.loads(message)
            result: dict[str, Any] = {}
            if asked["method"] == "Runtime.evaluate":
                result = {"result": {"type": "string", "value": value(asked["params"]["expression"])}}
            await socket.send(json.dumps({"id": asked["id"], "result": result}))

    return behave


def at_rest(expression: str) -> str:
    """A runtime in which nothing ever happens."""
    return IDLE if ".probe(" in expression else "installed"


@asynccontextmanager
async def metro(behave: Behaviour, **target: str) -> AsyncIterator[tuple[str, int]]:
    """Its address. The target's own address is nobody's: only the path of it may be used."""
    told = {"appId": PACKAGE, "webSocketDebuggerUrl": "ws://[::1]:9/inspector/debug?page=1", **target}

    def list_targets(connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/json/list":
            return connection.respond(HTTPStatus.OK, json.dumps([told]))
        return (
            None
            if request.path == "/inspector/debug?page=1"
            else connection.respond(HTTPStatus.NOT_FOUND, "")
        )

    async with serve(behave, "127.0.0.1", 0, process_request=list_targets) as server:
        yield "127.0.0.1", server.sockets[0].getsockname()[1]
