"""Streamable HTTP: the server as an application, and that application on a port until it is told to stop.

The guard lets in known hosts and origins only (no DNS rebinding), and whoever has the token. For
`handrail serve` there are routes without it: the desk has a guard of its own.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute

from handrail.asgi_server import door_server
from handrail.bind import Certificate, check_bind, host_headers_at, is_loopback, listen
from handrail.invocation import current
from handrail.mcp_server.calls import McpState
from handrail.mcp_server.pending_calls import ToolCalls
from handrail.mcp_server.server import build_mcp_server
from handrail.runtime import Runtime

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
GRACE_S = 2  # what is in flight when the server stops has been cancelled; this is for its last words


def guarded_app(
    server: Server[Any],
    *,
    port: int,
    host: str = "127.0.0.1",
    token: str | None = None,
    certificate: Certificate | None = None,
) -> Starlette:
    """Answers are streams, so that a client that goes away is noticed; older clients keep their sessions."""
    check_bind(host, token, certificate)
    application = _unguarded_app(server)
    application.add_middleware(McpGuard, host=host, port=port, token=token)
    return application


def _unguarded_app(server: Server[Any]) -> Starlette:
    # Hosts and origins are checked by `McpGuard`, or by the desk's own.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return server.streamable_http_app(streamable_http_path=PATH, transport_security=security)


async def serve(
    server: Server[Any],
    host: str,
    port: int,
    token: str | None,
    ready: Callable[[str], None],
    certificate: Certificate | None = None,
) -> None:
    """Until SIGINT or SIGTERM, or until the task is cancelled; `ready` is told the address."""
    bound = listen(host, port)
    port = bound.getsockname()[1]
    application = guarded_app(server, host=host, port=port, token=token, certificate=certificate)
    tls = {"ssl_certfile": certificate[0], "ssl_keyfile": certificate[1]} if certificate else {}
    serving = door_server(application, ws="none", timeout_graceful_shutdown=GRACE_S, **tls)
    try:
        with current.get().on_stop(serving.stop, once=False):
            ready(f"{'https' if certificate else 'http'}://{host}:{port}{PATH}")
            await serving.serve(sockets=[bound])
    finally:
        bound.close()


class McpGuard:
    """Lets in requests with a known Host and Origin, and with the token."""

    def __init__(self, guarded_app: ASGIApp, host: str, port: int, token: str | None = None) -> None:
        self._app = guarded_app
        self._token = token
        self._hosts = host_headers_at(host, port)
        self._origins = {f"{scheme}://{name}" for name in self._hosts for scheme in ("http", "https")}
        self._is_local = is_loopback(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refusal(scope, receive, send)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        """A page of another site has an Origin that is not ours; a rebound name is a Host that is not ours.

        On an address that others can reach, names are many: there the token alone keeps strangers out.
        """
        if self._is_local and headers.get("host") not in self._hosts:
            return PlainTextResponse("This host is not served here.", 421)
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            return PlainTextResponse("Pages of other sites may not come in.", 403)
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        is_same = hmac.compare_digest(credentials.strip().encode(), (self._token or "").encode())
        if self._token is not None and not (scheme.lower() == "bearer" and is_same):
            return PlainTextResponse("A bearer token is needed.", 401, {"WWW-Authenticate": "Bearer"})
        return None


async def mcp_routes(
    runtime: Runtime, profile: str, flows: Path | None, stack: AsyncExitStack
) -> Sequence[BaseRoute]:
    """Routes of an MCP server for another application. Its calls and sessions end with `stack`."""
    state = McpState(runtime, profile, flows=flows)
    opened = list(runtime.sessions.values())
    if opened:
        state.use_session(opened[0])
    tool_calls = ToolCalls(runtime.approvals, runtime.clock, desk=runtime.desk_address)
    stack.push_async_callback(tool_calls.close)
    application = _unguarded_app(build_mcp_server(state, calls=tool_calls))
    await stack.enter_async_context(application.router.lifespan_context(application))
    return application.routes
