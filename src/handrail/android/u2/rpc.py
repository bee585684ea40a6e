"""JSON-RPC to the u2 server: what goes into a call and what its answers mean. Knows no method."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from handrail.android.http_over_adb import Answer, HttpPort, ServerGone
from handrail.errors import AdbCommandError

CALL_TIMEOUT_MS = 10_000
DEAD = ("UiAutomation not connected", "android.os.DeadObjectException")
"""The server still answers, and has lost the accessibility service: only a new one helps."""
NEVER_RAN = (-32700, -32600, -32601, -32602)
"""JSON-RPC's own codes: the request was refused before any method ran."""
NO_SUCH_OBJECT = "UiObjectNotFoundException"


class ServiceLost(ServerGone):
    """The server answers, and can neither see nor touch any more."""


@dataclass(frozen=True, slots=True)
class Rpc:
    """Calls methods of the server behind a port."""

    http: HttpPort

    async def ping(self, timeout_ms: float) -> bool:
        """Whether the server is up; raises as `call` does when there is none."""
        return (await self.http.get("/ping", timeout_ms=timeout_ms)).body == b"pong"

    async def call(self, method: str, *params: Any, timeout_ms: float = CALL_TIMEOUT_MS) -> Any:
        """The method's result."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params) or {}}
        body = json.dumps(request).encode()
        return _result(method, await self.http.post("/jsonrpc/0", body, timeout_ms=timeout_ms))


def _result(method: str, answer: Answer) -> Any:
    try:
        told = json.loads(answer.body) if answer.status == 200 else {}
    except ValueError:
        told = {}
    if isinstance(told, dict) and "result" in told:
        return told["result"]
    raise _failure(method, answer, told.get("error") if isinstance(told, dict) else None)


def _failure(method: str, answer: Answer, error: Any) -> AdbCommandError | ServiceLost:
    words = answer.body.decode("utf-8", "replace")
    if any(mark in words for mark in DEAD):
        hint = "The server is started again at the next read."
        reason = f"the u2 server has lost the accessibility service ({method})"
        return ServiceLost(reason, hint=hint, delivery="unknown")
    if not isinstance(error, dict):
        reason = f"the u2 server answered {method} with HTTP {answer.status}: {words[:120]!r}"
        return AdbCommandError(reason, command=method, delivery="unknown")
    message = str(error.get("message", ""))
    refused = error.get("code") in NEVER_RAN or NO_SUCH_OBJECT in message
    delivery = "not_delivered" if refused else "unknown"
    return AdbCommandError(
        f"the u2 server refused {method}: {message[:200]}", command=method, delivery=delivery
    )
