"""A simulated phone behind the MCP server, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import types
from mcp.client import Client
from mcp.server.lowlevel import Server

from handrail.clock import Clock
from handrail.mcp_server import http
from handrail.mcp_server.calls import McpState
from handrail.mcp_server.pending_calls import TASK_AFTER_MS, ToolCalls
from handrail.mcp_server.server import build_mcp_server
from tests.scenario.people import PAY_RULE
from tests.scenario.world import World, world

MODERN, OLDER = "2026-07-28", "legacy"


@dataclass
class Door:
    """What a story over MCP plays with."""

    world: World
    server: Server[Any]
    attendant: ToolCalls

    def client(self, mode: str, **more: Any) -> Client:
        return Client(self.server, mode=mode, raise_exceptions=True, **more)


@asynccontextmanager
async def door(
    home: Path,
    *,
    policy: str = PAY_RULE,
    patience_ms: float = 20_000,
    task_after_ms: float = TASK_AFTER_MS,
    clock: Clock | None = None,
) -> AsyncIterator[Door]:
    async with world(home, policy=policy, clock=clock) as w:
        state = McpState(w.runtime)
        state.use_session(w.session)
        attendant = ToolCalls(
            w.runtime.approvals, w.runtime.clock, patience_ms=patience_ms, task_after_ms=task_after_ms
        )
        try:
            yield Door(w, build_mcp_server(state, calls=attendant), attendant)
        finally:
            await attendant.close()


@asynccontextmanager
async def over_http(d: Door) -> AsyncIterator[str]:
    """The same server on a port; its address."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(http.serve(d.server, "127.0.0.1", 0, None, address.set_result))
    try:
        yield await address
    finally:
        serving.cancel()
        await asyncio.wait({serving})


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))
