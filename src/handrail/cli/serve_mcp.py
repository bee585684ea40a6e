"""MCP at `/mcp` of `handrail serve`: behind the desk's own guard, on the same phones and the same desk."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import BaseRoute

from handrail.mcp.approvals import Attendant
from handrail.mcp.http import PATH
from handrail.mcp.server import build
from handrail.mcp.state import DoorState
from handrail.runtime import Runtime


async def mcp_routes(
    runtime: Runtime, profile: str, flows: Path | None, stack: AsyncExitStack
) -> Sequence[BaseRoute]:
    """What it needs lives as long as `stack`."""
    state = DoorState(runtime, profile, flows=flows)
    opened = list(runtime.sessions.values())
    if opened:
        state.adopt(opened[0])
    attendant = Attendant(runtime.approvals, runtime.clock)
    stack.push_async_callback(attendant.close)
    made = build(state, attend=attendant).streamable_http_app(
        streamable_http_path=PATH,
        # The guard checks hosts and origins, to the port.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    await stack.enter_async_context(made.router.lifespan_context(made))
    return made.routes
