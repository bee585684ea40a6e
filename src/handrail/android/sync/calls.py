"""Requests with numbers, their answers, and events beside them: the part that CDP and JSON-RPC share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from handrail.adb.deadline import Deadline, Expired
from handrail.android.sync.lost import ChannelLost
from handrail.android.sync.websocket import WebSocket
from handrail.clock import Clock
from handrail.errors import AdbCommandError, DeviceError, Timeout

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
        self._reading = asyncio.create_task(self._read())

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
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
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
