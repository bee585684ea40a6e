"""Requests with numbers, their answers, and events beside them: the part that CDP and JSON-RPC share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from handrail.android.http_over_adb import Opens
from handrail.android.sync.answers import ChannelLost
from handrail.android.sync.websocket import WebSocket, open_websocket
from handrail.clock import Clock
from handrail.errors import AdbCommandError, DeviceError, Timeout
from handrail.waiting import Background, Deadline, Expired

Json = dict[str, Any]
Hear = Callable[[Json], None]
CLOSE_MS = 200.0


class Calls:
    """One WebSocket's conversation. `hear` gets every message that is no answer."""

    def __init__(self, socket: WebSocket, clock: Clock, hear: Hear, **every: str) -> None:
        self._socket = socket
        self._clock = clock
        self._hear = hear
        self._every = every
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._count = 0
        self.lost: ChannelLost | None = None
        """Why it ended; None while it lives."""
        self._tasks = Background()
        self._tasks.start(self._read(), "messages of an app's debugger")

    async def call(self, method: str, params: Mapping[str, Any], *, timeout_ms: float) -> Json:
        """The answer's `result`. `ChannelLost`, `Timeout`, or `AdbCommandError` when it was refused."""
        try:
            async with Deadline(self._clock, timeout_ms):
                answer = await self._ask(method, params)
        except Expired:
            raise Timeout(f"{method} was not answered within {timeout_ms:.0f} ms") from None
        if "error" in answer:
            raise AdbCommandError(f"{method} was refused: {_said(answer['error'])}", command=method)
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Json:
        if self.lost is not None:
            raise self.lost
        self._count += 1
        number = self._count
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await self._send({**self._every, "id": number, "method": method, "params": params})
            return await answer
        finally:
            del self._waiting[number]

    async def _send(self, message: Mapping[str, Any]) -> None:
        try:
            await self._socket.send(json.dumps(message))
        except DeviceError as error:
            raise self._end(error.message) from None

    async def _read(self) -> None:
        try:
            while True:
                self._sort(json.loads(await self._socket.receive()))
        except DeviceError as error:
            self._end(error.message)
        except ValueError as error:
            self._end(f"what came is not JSON: {error}")
        finally:
            self._end("nobody reads any more")

    def _sort(self, message: Any) -> None:
        if not isinstance(message, dict):
            raise ValueError(f"not an object: {str(message)[:80]!r}")
        number = message.get("id")
        if number is None:
            self._hear(message)
        elif isinstance(number, int) and (waiting := self._waiting.get(number)) and not waiting.done():
            waiting.set_result(message)

    def _end(self, reason: str) -> ChannelLost:
        self.lost = self.lost or ChannelLost(reason)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self.lost)
                waiting.exception()  # a caller that could not even send does not look
        return self.lost

    async def close(self) -> None:
        self._end("closed from this side")
        await self._tasks.close()
        try:
            async with Deadline(self._clock, CLOSE_MS):
                await self._socket.close()
        except Expired:  # it takes no more bytes, not even a farewell
            await self._socket.hang_up()


def _said(error: Any) -> str:
    """CDP and JSON-RPC put words into `message`; Dart has more of them in `data.details`."""
    if not isinstance(error, dict):
        return str(error)[:200]
    data = error.get("data")
    details = data.get("details") if isinstance(data, dict) else None
    return f"{error.get('message', error)} {details or ''}".strip()[:300]


OPEN_MS = 1_000.0


async def open_cdp(opens: Opens, service: str, uri: str, clock: Clock) -> Cdp:
    """Connects and enables `Runtime`."""
    try:
        async with Deadline(clock, OPEN_MS):
            socket = await open_websocket(opens, service, uri)
    except Expired:
        raise ChannelLost(f"{service} opened no WebSocket within {OPEN_MS:.0f} ms") from None
    cdp = Cdp(socket, clock)
    try:
        await cdp.enable()
    except BaseException:
        await cdp.close()
        raise
    return cdp


class Cdp:
    """One debugging session with one JavaScript runtime."""

    def __init__(self, socket: WebSocket, clock: Clock) -> None:
        self._calls = Calls(socket, clock, self._hear)
        self.generation = 0
        """Contexts that were begun; a reload begins one, and what was known of the last is void."""

    async def enable(self) -> None:
        await self._calls.call("Runtime.enable", {}, timeout_ms=OPEN_MS)

    async def evaluate(self, expression: str, *, timeout_ms: float) -> Any:
        """Its value, in the default context. `AdbCommandError` when it throws there."""
        params = {"expression": expression, "returnByValue": True, "silent": True}
        told = await self._calls.call("Runtime.evaluate", params, timeout_ms=timeout_ms)
        if thrown := told.get("exceptionDetails"):
            raise AdbCommandError(f"the app's JavaScript threw: {_words(thrown)}", command="Runtime.evaluate")
        result = told.get("result")
        return result.get("value") if isinstance(result, dict) else None

    @property
    def lost(self) -> ChannelLost | None:
        return self._calls.lost

    async def close(self) -> None:
        await self._calls.close()

    def _hear(self, event: Json) -> None:
        self.generation += event.get("method") == "Runtime.executionContextCreated"


def _words(thrown: Any) -> str:
    if not isinstance(thrown, dict):
        return str(thrown)[:200]
    exception = thrown.get("exception")
    described = exception.get("description") if isinstance(exception, dict) else None
    return str(described or thrown.get("text", thrown))[:200]
