"""Who is behind a request: a client by the name that it gives itself, which proves nothing; near or far."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from handrail.engine.events import Caller

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from starlette.requests import Request

SESSION = "mcp-session-id"
LONGEST = 60
UNNAMED = "mcp client"


def caller_of(ctx: ServerRequestContext[Any, Any]) -> Caller:
    """The same one for all requests of a client: by its name, and its session where the protocol has one."""
    params = ctx.session.client_params
    name = params.client_info.name if params else UNNAMED
    shown = "".join(char for char in name if char.isprintable())[:LONGEST] or UNNAMED
    request: Request | None = ctx.request
    if request is None:
        return Caller(shown, "agent", "mcp")
    session = request.headers.get(SESSION)
    return Caller(
        f"{shown} {session[:8]}" if session else shown, "agent", "mcp", is_remote=not _is_near(request)
    )


def _is_near(request: Request) -> bool:
    """From this machine; an address that is not known is far."""
    try:
        return request.client is not None and ip_address(request.client.host).is_loopback
    except ValueError:
        return False
