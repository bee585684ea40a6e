"""The official client against `handrail mcp` as clients start it: a process on standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from mcp import StdioServerParameters
from mcp.client import Client

from tests.mcp_conformance.door import MODERN, OLDER, text_of


@pytest.mark.parametrize("mode", [MODERN, pytest.param(OLDER, marks=pytest.mark.slow)])
async def test_the_official_client_lists_and_calls_over_stdio(tmp_path: Path, mode: str) -> None:
    process = StdioServerParameters(
        command=sys.executable,
        args=["-m", "handrail.cli.main", "mcp", "--sim"],
        env={**os.environ, "HANDRAIL_HOME": str(tmp_path)},
    )
    async with asyncio.timeout(60), Client(process, mode=mode) as client:
        listed = await client.list_tools()
        assert {"tap", "get_ui_tree", "request_human_auth"} <= {tool.name for tool in listed.tools}
        seen = await client.call_tool("get_ui_tree", {})
        assert not seen.is_error
        assert "screen 1080x2400" in text_of(seen)
        missing = await client.call_tool("tap", {"target": "No such thing", "reason": "I try"})
        assert missing.is_error
        assert text_of(missing).startswith("ELEMENT_NOT_FOUND")
