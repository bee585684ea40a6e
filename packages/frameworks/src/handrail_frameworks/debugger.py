"""Debugger connections of apps: JSON messages over a WebSocket, as CDP and the Dart VM service use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

from handrail.android.http_over_adb import Opens
from handrail.cdp.connection import Answer, Connection, StreamWire, WireClosed
from handrail.clock import Clock
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceError, HandrailError
from handrail.surface.values import Framework
from handrail.waiting import Deadline, Expired

PRIORITY: tuple[Framework, ...] = ("flutter", "react_native", "compose")
"""An app without evidence of these is native."""
Metro = tuple[str, int]
METRO: Metro = ("127.0.0.1", 8081)
"""Default address of React Native's bundler; the port is the same on the phone."""
OPEN_MS = 1_000.0
MAX_MESSAGE = 16 << 20
"""Bytes; a fiber list of the largest screens is smaller than one MiB."""


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


class AppConnection(Connection):
    """Calls to an app's debugger. They raise `ChannelLost`, `Timeout`, or `AdbCommandError` if refused."""

    close_ms = 200.0

    @classmethod
    async def open(cls, opens: Opens, service: str, uri: str, clock: Clock) -> Self:
        try:
            async with Deadline(clock, OPEN_MS):
                wire = await open_websocket(opens, service, uri)
        except Expired:
            raise ChannelLost(f"{service} opened no WebSocket within {OPEN_MS:.0f} ms") from None
        connection = cls(wire, clock)
        try:
            await connection.begin()
        except BaseException:
            await connection.close()
            raise
        return connection

    async def begin(self) -> None:
        """Asks for the events that are needed."""

    def lost(self, why: str, delivery: str = "unknown") -> HandrailError:
        return ChannelLost(why, delivery=delivery)

    def refused(self, method: str, error: Any) -> HandrailError:
        """CDP and JSON-RPC use `message`; Dart adds `data.details`."""
        text = str(error)[:200]
        if isinstance(error, dict):
            more = error.get("data")
            details = more.get("details") if isinstance(more, dict) else None
            text = f"{error.get('message', error)} {details or ''}".strip()[:300]
        return AdbCommandError(f"{method} was refused: {text}", command=method)


class Cdp(AppConnection):
    """A debugging session with one JavaScript runtime."""

    generation = 0
    """Number of contexts so far; a reload creates one and invalidates what is cached."""

    async def begin(self) -> None:
        def count(_: Answer) -> None:
            self.generation += 1

        self.root.on("Runtime.executionContextCreated", count)
        await self.root.call("Runtime.enable", timeout_ms=OPEN_MS)

    async def evaluate(self, expression: str, *, timeout_ms: float) -> Any:
        """Evaluates in the default context. Raises `AdbCommandError` if it throws."""
        params = {"expression": expression, "returnByValue": True, "silent": True}
        reply = await self.root.call("Runtime.evaluate", params, timeout_ms=timeout_ms)
        if thrown := reply.get("exceptionDetails"):
            words = thrown
            if isinstance(thrown, dict):
                exception = thrown.get("exception")
                described = exception.get("description") if isinstance(exception, dict) else None
                words = described or thrown.get("text", thrown)
            reason = f"the app's JavaScript threw: {str(words)[:200]}"
            raise AdbCommandError(reason, command="Runtime.evaluate")
        returned = reply.get("result")
        return returned.get("value") if isinstance(returned, dict) else None


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
