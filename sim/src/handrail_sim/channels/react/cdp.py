"""The Chrome DevTools Protocol as far as Hermes speaks it: one client of one app's JS context."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from handrail_sim.channels.react.runtime import Stopped
from handrail_sim.waiting import Background

if TYPE_CHECKING:
    from handrail_sim.channels.react.runtime import Runtime
    from handrail_sim.channels.websocket import WebSocket

CONTEXT = 1
POLL_MS = 10.0
"""How often a promise that somebody awaits is looked at: the phone's timers run when somebody looks."""
NOT_FOUND, BAD_REQUEST, BAD_JSON = -32601, -32602, -32700
Params = dict[str, Any]


class Refusal(Exception):
    """An answer with `error`."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Session:
    """One debugger."""

    def __init__(self, socket: WebSocket, runtime: Runtime) -> None:
        self._socket = socket
        self._runtime = runtime
        self._methods: dict[str, Callable[[Params], Awaitable[Params]]] = {
            "Runtime.enable": self._enable,
            "Runtime.disable": _nothing,
            "Runtime.evaluate": self._evaluate,
            "Runtime.runIfWaitingForDebugger": _nothing,
            "Runtime.discardConsoleEntries": _nothing,
            "Runtime.getHeapUsage": self._heap,
            "Debugger.enable": self._debugger,
            "Debugger.disable": _nothing,
        }

    async def serve(self) -> None:
        """Until the client goes. A promise that is awaited does not hold up other questions."""
        async with Background() as answering:
            while (text := await self._socket.read()) is not None:
                answering.start(self._answer(text), "answer to a debugger")

    async def _answer(self, text: str) -> None:
        try:
            message = json.loads(text)
            number, method = message["id"], message["method"]
        except (ValueError, KeyError, TypeError):
            await self._send({"error": {"code": BAD_JSON, "message": "Malformed JSON"}})
            return
        try:
            work = self._methods.get(method)
            if work is None:
                raise Refusal(NOT_FOUND, f"Unsupported method '{method}'")
            answer: Params = {"result": await work(message.get("params") or {})}
        except Refusal as refusal:
            answer = {"error": {"code": refusal.code, "message": str(refusal)}}
        await self._send({"id": number, **answer})

    async def _send(self, message: Params) -> None:
        try:
            await self._socket.write(json.dumps(message, separators=(",", ":")))
        except BrokenPipeError:
            return

    async def _enable(self, _: Params) -> Params:
        context = {"id": CONTEXT, "origin": "", "name": "main", "auxData": {"isDefault": True}}
        await self._send({"method": "Runtime.executionContextCreated", "params": {"context": context}})
        return {}

    async def _debugger(self, _: Params) -> Params:
        return {"debuggerId": "1"}

    async def _heap(self, _: Params) -> Params:
        return {"usedSize": 4_194_304, "totalSize": 8_388_608}

    async def _evaluate(self, params: Params) -> Params:
        source = params.get("expression")
        if not isinstance(source, str):
            raise Refusal(BAD_REQUEST, "Invalid parameters: expression: string value expected")
        if params.get("contextId", CONTEXT) != CONTEXT:
            raise Refusal(BAD_REQUEST, "Cannot find context with specified id")
        phone, runtime = self._runtime.phone, self._runtime
        phone.catch_up()
        wait = bool(params.get("awaitPromise"))
        try:
            answer = runtime.evaluate(source, by_value=bool(params.get("returnByValue")), wait=wait)
            while "awaited" in answer:
                await phone.clock.sleep_ms(POLL_MS)
                phone.catch_up()
                answer = runtime.settled(answer["awaited"]) or answer
        except Stopped as stopped:
            raise Refusal(BAD_REQUEST, str(stopped)) from None
        return answer


async def _nothing(_: Params) -> Params:
    return {}
