"""A hundred pages and a hundred agents at once, through one server: each is answered."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from handrail.config import Config
from handrail.mcp_server.http import mcp_routes
from handrail.runtime import Runtime
from tests.unit.web_server.door import TOKEN, WINDOW, Door, PageSocket, door, frame_of

pytestmark = pytest.mark.slow
MANY = 100
PATIENCE_S = 240


async def _served(home: Path, stack: AsyncExitStack) -> Door:
    """The desk with MCP beside it, as `handrail serve` has them."""
    env = {"HANDRAIL_HOME": str(home), "HOME": str(home), "HANDRAIL_ADB": str(home / "no-adb")}
    runtime = await stack.enter_async_context(Runtime.open(Config.from_env(env), env=env))
    routes = await mcp_routes(runtime, "desk", None, stack)
    return await stack.enter_async_context(door(home, runtime=runtime, routes=routes))


async def _agent(served: Door, number: int) -> None:
    """Shows a window of its own."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Handrail-Agent": f"agent-{number}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as line:
        transport = streamable_http_client(f"{served.origin}/mcp", http_client=line)
        async with Client(transport) as client:
            shown: dict[str, Any] = {**WINDOW, "windowId": f"w-{number}"}
            answer = await client.call_tool("desk", {"actions": [shown], "reason": "I show it"})
            assert not answer.is_error, answer


async def _page(person: PageSocket, ready: asyncio.Barrier, wanted: set[str]) -> None:
    """Joins, waits for the others, and hears of every window."""
    async with person as socket:
        await frame_of(socket, "SNAPSHOT")
        await ready.wait()
        seen: set[str] = set()
        while seen < wanted:
            frame = await frame_of(socket, "ACTIONS")
            seen |= {one["windowId"] for one in frame["actions"] if one["type"] == "window.create"}


async def test_a_hundred_pages_see_what_a_hundred_agents_show(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack, asyncio.timeout(PATIENCE_S):
        served = await _served(tmp_path, stack)
        ready = asyncio.Barrier(MANY + 1)
        wanted = {f"w-{number}" for number in range(MANY)}
        people = [await served.person() for _ in range(MANY)]
        async with asyncio.TaskGroup() as group:
            for person in people:
                group.create_task(_page(person, ready, wanted))
            await ready.wait()
            for number in range(MANY):
                group.create_task(_agent(served, number))
        assert {key.partition("/")[2] for key in served.desk.state.windows} == wanted
        assert (await served.get("/api/desk")).status == 200
