"""The Chrome DevTools Protocol as far as it is needed: evaluate in a program, notice when it begins anew."""

from __future__ import annotations

from typing import Any

from handrail.adb.deadline import Deadline, Expired
from handrail.android.http_over_adb import Opens
from handrail.android.sync.calls import Calls, Json
from handrail.android.sync.lost import ChannelLost
from handrail.android.sync.websocket import WebSocket, open_websocket
from handrail.clock import Clock
from handrail.errors import AdbCommandError

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
