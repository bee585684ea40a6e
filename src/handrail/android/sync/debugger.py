"""Debugger connections of apps: JSON messages over a WebSocket, as CDP and the Dart VM service use them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from handrail.android.http_over_adb import Opens
from handrail.cdp.connection import StreamWire, WireClosed
from handrail.clock import Clock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, Timeout
from handrail.surface.values import Framework
from handrail.waiting import Background, Deadline, Expired

PRIORITY: tuple[Framework, ...] = ("flutter", "react_native", "compose")
"""An app without evidence of these is native."""
Metro = tuple[str, int]
METRO: Metro = ("127.0.0.1", 8081)
"""Default address of React Native's bundler; the port is the same on the phone."""


class ChannelLost(AdbConnectionError):
    """The other side closed, broke the protocol, or was never there."""

    hint = "Sync continues without this channel; it is reopened with the app."


@dataclass(frozen=True, slots=True)
class IdleOutcome:
    """Outcome of one wait."""

    idle: bool
    """False after a timeout."""
    waited_for: tuple[str, ...] = ()
    """Work that was waited for."""


class AppChannel(Protocol):
    """A channel into one app."""

    async def wait_idle(self, timeout_ms: float) -> IdleOutcome:
        """Waits until the app is idle or the time is up. Raises `ChannelLost` if it can't be asked."""

    async def close(self) -> None:
        """Restores the app."""


Json = dict[str, Any]
Hear = Callable[[Json], None]
CLOSE_MS = 200.0


class Calls:
    """Calls over one WebSocket. `hear` receives every message that is not an answer."""

    def __init__(self, wire: StreamWire, clock: Clock, hear: Hear, **every: str) -> None:
        self._wire = wire
        self._clock = clock
        self._hear = hear
        self._every = every
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._count = 0
        self.lost: ChannelLost | None = None
        """Why it ended; None while it is open."""
        self._tasks = Background()
        self._tasks.start(self._read(), "messages of an app's debugger")

    async def call(self, method: str, params: Mapping[str, Any], *, timeout_ms: float) -> Json:
        """Raises `ChannelLost`, `Timeout`, or `AdbCommandError` if the call is refused."""
        try:
            async with Deadline(self._clock, timeout_ms):
                answer = await self._ask(method, params)
        except Expired:
            raise Timeout(f"{method} was not answered within {timeout_ms:.0f} ms") from None
        if "error" in answer:
            raise AdbCommandError(f"{method} was refused: {_error_text(answer['error'])}", command=method)
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
            await self._wire.send(json.dumps(message).encode())
        except WireClosed as error:
            raise self._end(str(error)) from None

    async def _read(self) -> None:
        try:
            while True:
                message = json.loads((await self._wire.receive()).decode("utf-8", "replace"))
                if not isinstance(message, dict):
                    raise ValueError(f"not an object: {str(message)[:80]!r}")
                number = message.get("id")
                if number is None:
                    self._hear(message)
                elif (
                    isinstance(number, int) and (waiting := self._waiting.get(number)) and not waiting.done()
                ):
                    waiting.set_result(message)
        except WireClosed as error:
            self._end(str(error))
        except ValueError as error:
            self._end(f"what came is not JSON: {error}")
        finally:
            self._end("the reader has ended")

    def _end(self, reason: str) -> ChannelLost:
        self.lost = self.lost or ChannelLost(reason)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self.lost)
                waiting.exception()  # marks it as retrieved: a caller whose send failed does not wait
        return self.lost

    async def close(self) -> None:
        self._end("closed from this side")
        await self._tasks.close()
        try:
            async with Deadline(self._clock, CLOSE_MS):
                await self._wire.close()
        except Expired:  # it accepts no more bytes
            await self._wire.hang_up()


def _error_text(error: Any) -> str:
    """CDP and JSON-RPC use `message`; Dart adds `data.details`."""
    if not isinstance(error, dict):
        return str(error)[:200]
    data = error.get("data")
    details = data.get("details") if isinstance(data, dict) else None
    return f"{error.get('message', error)} {details or ''}".strip()[:300]


OPEN_MS = 1_000.0


async def open_cdp(opens: Opens, service: str, uri: str, clock: Clock) -> Cdp:
    try:
        async with Deadline(clock, OPEN_MS):
            wire = await open_websocket(opens, service, uri)
    except Expired:
        raise ChannelLost(f"{service} opened no WebSocket within {OPEN_MS:.0f} ms") from None
    cdp = Cdp(wire, clock)
    try:
        await cdp.enable()
    except BaseException:
        await cdp.close()
        raise
    return cdp


class Cdp:
    """A debugging session with one JavaScript runtime."""

    def __init__(self, wire: StreamWire, clock: Clock) -> None:
        self._calls = Calls(wire, clock, self._hear)
        self.generation = 0
        """Number of contexts so far; a reload creates one and invalidates what is cached."""

    async def enable(self) -> None:
        await self._calls.call("Runtime.enable", {}, timeout_ms=OPEN_MS)

    async def evaluate(self, expression: str, *, timeout_ms: float) -> Any:
        """Evaluates in the default context. Raises `AdbCommandError` if it throws."""
        params = {"expression": expression, "returnByValue": True, "silent": True}
        reply = await self._calls.call("Runtime.evaluate", params, timeout_ms=timeout_ms)
        if thrown := reply.get("exceptionDetails"):
            raise AdbCommandError(f"the app's JavaScript threw: {_words(thrown)}", command="Runtime.evaluate")
        result = reply.get("result")
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


MAX_MESSAGE = 16 << 20
"""Bytes; a fiber list of the largest screens is smaller than one MiB."""


async def open_websocket(opens: Opens, service: str, uri: str) -> StreamWire:
    """The caller sets the deadline."""
    try:
        stream = await opens.open(service)
    except DeviceError as error:
        raise ChannelLost(f"{service} can't be opened: {error.message}") from None
    try:
        return await StreamWire.open(stream, uri, MAX_MESSAGE)
    except BaseException as error:
        await stream.close()
        if isinstance(error, WireClosed):
            raise ChannelLost(str(error)) from None
        raise
