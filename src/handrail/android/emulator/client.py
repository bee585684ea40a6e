"""The emulator's gRPC calls: bytes out, bytes in, failures with their names. grpcio is an optional extra."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from handrail.android.constants import GRPC_CONNECT_TIMEOUT_MS, GRPC_RPC_TIMEOUT_MS
from handrail.android.emulator.discovery import Endpoint
from handrail.android.emulator.messages import SERVICE, EmulatorStatus, read_status
from handrail.errors import GrpcConnectionError, GrpcRpcError

MAX_ANSWER = 64 << 20
OPTIONS = [("grpc.max_receive_message_length", MAX_ANSWER), ("grpc.enable_http_proxy", 0)]
"""A screenshot is larger than gRPC's 4 MB; a proxy for the internet has no business on the loopback."""
NEVER_RAN = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED", "INVALID_ARGUMENT"})
"""The emulator refused the call before it did anything."""
HINTS = {
    "UNAUTHENTICATED": "The emulator wants a token that its pid_*.ini did not tell; start it with -grpc.",
    "UNIMPLEMENTED": "This emulator is too old for the call; update it.",
}
T = TypeVar("T")


class EmulatorClient:
    """One channel to one emulator. Made inside a running event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Raises ImportError without grpcio."""
        from grpc import aio  # type: ignore[import-untyped]  # noqa: PLC0415 - an optional extra

        self.endpoint = endpoint
        self._closed = False
        self._failure: type[Any] = aio.AioRpcError
        self._channel = aio.insecure_channel(f"127.0.0.1:{endpoint.port}", options=OPTIONS)
        token = endpoint.token
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    async def status(self) -> EmulatorStatus:
        """The first call, and the test whether anybody is there."""
        return await self.ask("getStatus", b"", read_status, timeout_ms=GRPC_CONNECT_TIMEOUT_MS)

    async def ask(
        self,
        method: str,
        request: bytes,
        read: Callable[[bytes], T],
        *,
        timeout_ms: float = GRPC_RPC_TIMEOUT_MS,
    ) -> T:
        """A call whose answer is read; one that can't be read is a failure of the call."""
        answer = await self.call(method, request, timeout_ms=timeout_ms)
        try:
            return read(answer)
        except ValueError as error:
            raise self._named(method, "INTERNAL", f"the answer is no message: {error}") from None

    async def call(self, method: str, request: bytes, *, timeout_ms: float = GRPC_RPC_TIMEOUT_MS) -> bytes:
        """Raises `GrpcConnectionError` when the call never left, else `GrpcRpcError` with `rpc_method`."""
        if self._closed:
            raise GrpcConnectionError("the gRPC channel is closed", delivery="not_delivered")
        invoke = self._channel.unary_unary(f"/{SERVICE}/{method}")
        try:
            answer: bytes = await invoke(request, timeout=timeout_ms / 1000, metadata=self._metadata)
        except self._failure as error:
            raise self._named(method, error.code().name, error.details() or "") from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._closed and task is not None and not task.cancelling():
                raise self._named(method, "CANCELLED", "the channel was closed meanwhile") from None
            raise
        return answer

    def _named(self, method: str, code: str, details: str) -> GrpcConnectionError | GrpcRpcError:
        where = f"127.0.0.1:{self.endpoint.port}"
        if code == "UNAVAILABLE" and "failed to connect" in details.lower():
            reason = f"no emulator answers gRPC on {where}: {details[:160]}"
            return GrpcConnectionError(reason, delivery="not_delivered")
        delivery = "not_delivered" if code in NEVER_RAN else "unknown"
        reason = f"{method} on {where} failed with {code}: {details[:160]}"
        return GrpcRpcError(reason, rpc_method=method, delivery=delivery, hint=HINTS.get(code))

    async def close(self) -> None:
        """Calls that are under way fail: grpcio cancels them, which is no wish of whoever made them."""
        self._closed = True
        await self._channel.close(0)
