"""The Chrome DevTools Protocol as far as Hermes speaks it: one client of one app's JS context."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from handrail_sim.js.lib_data import to_plain
from handrail_sim.js.lib_promises import Promised
from handrail_sim.js.values import UNDEFINED, Arr, Fault, Func, Obj, Throw, Value, to_text, type_of
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
            await self._socket.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")))
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
        self._runtime.phone.catch_up()
        by_value = bool(params.get("returnByValue"))
        try:
            value = self._runtime.realm.run(source)
            if params.get("awaitPromise") and isinstance(value, Obj) and value.kind == "Promise":
                value = await self._awaited(value)
            return {"result": remote(value, by_value)}
        except Throw as thrown:
            return _exception(thrown.value)
        except Fault as fault:
            raise Refusal(BAD_REQUEST, str(fault)) from None

    async def _awaited(self, promise: Obj) -> Value:
        state: Promised = promise.own
        phone = self._runtime.phone
        while state.state == "pending":
            await phone.clock.sleep_ms(POLL_MS)
            phone.catch_up()
        if state.state == "rejected":
            raise Throw(state.value)
        return state.value


async def _nothing(_: Params) -> Params:
    return {}


def remote(value: Value, by_value: bool) -> Params:
    """A value as CDP's RemoteObject."""
    kind = type_of(value)
    if value is UNDEFINED:
        return {"type": kind}
    if value is None:
        return {"type": "object", "subtype": "null", "value": None}
    if isinstance(value, float) and not math.isfinite(value):
        return {"type": kind, "unserializableValue": to_text(value), "description": to_text(value)}
    if not isinstance(value, Obj):
        return (
            {"type": kind, "value": value} if kind != "symbol" else {"type": kind, "description": "Symbol()"}
        )
    if by_value:
        plain = to_plain(value)
        return {"type": kind, "value": {} if plain is UNDEFINED else plain}
    subtype = {"subtype": "array"} if isinstance(value, Arr) else {}
    name = "Function" if isinstance(value, Func) else value.kind
    return {"type": kind, **subtype, "className": name, "description": name, "objectId": str(id(value))}


def _exception(value: Value) -> Params:
    shown = remote(value, False)
    if isinstance(value, Obj) and value.kind == "Error":
        shown |= {"subtype": "error", "description": to_text(value.get("stack"))}
    details = {"exceptionId": 1, "text": "Uncaught", "lineNumber": 0, "columnNumber": 0, "exception": shown}
    return {"result": shown, "exceptionDetails": details}
