"""A debugger: the websockets package's own client on a real port, towards a port inside the phone."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from handrail_sim.channels.react import listening
from handrail_sim.phone import Phone
from handrail_sim.stream import Stream


class Debugger:
    """Asks, and keeps what comes unasked."""

    def __init__(self, socket: ClientConnection, **always: Any) -> None:
        self.socket = socket
        self.events: list[dict[str, Any]] = []
        self._always = always
        self._numbers = itertools.count(1)

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self.socket.send(json.dumps({**self._always, "id": number, "method": method, "params": params}))
        while True:
            message: dict[str, Any] = json.loads(await self.socket.recv())
            if message.get("id") == number:
                return message
            self.events.append(message)

    async def evaluate(self, expression: str, **more: Any) -> dict[str, Any]:
        answer = await self.ask("Runtime.evaluate", expression=expression, returnByValue=True, **more)
        result: dict[str, Any] = answer["result"]
        return result

    async def hear(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(await self.socket.recv())
        return message


@asynccontextmanager
async def reached(phone: Phone, port: str) -> AsyncIterator[int]:
    """A port of the phone as one of this machine."""

    async def serve(stream: Stream, _: int) -> None:
        await phone.ports[port](stream)

    async with listening(serve) as number:
        yield number


@asynccontextmanager
async def debugging(address: str, **always: Any) -> AsyncIterator[Debugger]:
    async with connect(address, proxy=None, max_queue=None) as socket:
        yield Debugger(socket, **always)
