"""The door with its transports: the official client in memory and over HTTP, and lines through pipes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from handrail.mcp_server import http
from handrail.mcp_server.server import DATA, ENVELOPE, INSTRUCTIONS, build_mcp_server
from handrail.protocol.envelope import Envelope
from tests.scenario.test_mcp_answers import CONTACTS, Door, door
from tests.scenario.world import play

ASYNC_RUNNER = play

TOKEN = "a-token-of-some-length"
WHY = {"reason": "I try it"}


async def test_envelopes_travel_beside_the_text_and_can_be_read_again_as_resources(tmp_path: Path) -> None:
    async with door(tmp_path) as ask, Client(build_mcp_server(ask.state)) as client:
        assert client.instructions == INSTRUCTIONS
        result = await client.call_tool("start_app", {"package": CONTACTS, **WHY})
        assert [block.type for block in result.content] == ["text"]
        assert result.structured_content is None
        envelope = Envelope.model_validate((result.meta or {})[ENVELOPE])
        stored = await client.read_resource(f"handrail://journal/{envelope.action_id}")
        assert json.loads(stored.contents[0].text)["action_id"] == envelope.action_id  # type: ignore[union-attr]
        wrong = await client.call_tool("tap", {})
        assert wrong.is_error
        assert (wrong.meta or {})[DATA]["code"] == "INVALID_ACTION"


async def test_resources_are_the_screen_the_journal_and_the_flows(tmp_path: Path) -> None:
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "home.yaml").write_text("name: home\nsteps:\n  - press_key: home\n")
    async with door(tmp_path) as ask, Client(build_mcp_server(ask.state)) as client:
        listed = await client.list_resources()
        names = "screen picture journal flows flow run".split()
        assert [one.uri for one in listed.resources] == [f"handrail://{name}" for name in names]
        templates = (await client.list_resource_templates()).resource_templates
        assert "handrail://journal/{action_id}" in [one.uri_template for one in templates]
        screen = await client.read_resource("handrail://screen")
        assert "screen 1080x2400" in screen.contents[0].text  # type: ignore[union-attr]
        journal = await client.read_resource("handrail://journal")
        assert json.loads(journal.contents[0].text)[0]["type"] == "get_ui_tree"  # type: ignore[union-attr]
        flows = await client.read_resource("handrail://flows")
        assert json.loads(flows.contents[0].text) == ["home.yaml"]  # type: ignore[union-attr]
        for uri in ("handrail://nothing", "handrail://journal/tap_1_1"):
            with pytest.raises(MCPError, match="INVALID_ACTION"):
                await client.read_resource(uri)
        # what a resource has shown is not what the tools have told
        first = await client.call_tool("tap", {"target": "1,1", **WHY})
        assert "screen 1080x2400" in first.content[0].text  # type: ignore[union-attr]


async def test_structured_content_is_sent_only_when_asked_for_and_never_beside_a_picture(
    tmp_path: Path,
) -> None:
    async with door(tmp_path) as ask, Client(build_mcp_server(ask.state, structured=True)) as client:
        tree = await client.call_tool("get_ui_tree", {})
        assert tree.structured_content["action_type"] == "get_ui_tree"
        assert tree.content[0].type == "text"
        shot = await client.call_tool("screenshot", {})
        assert shot.structured_content is None
        assert [block.type for block in shot.content] == ["text", "image"]


@asynccontextmanager
async def served(ask: Door, token: str | None = None) -> AsyncIterator[str]:
    """The door on a port of its own."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        http.serve(build_mcp_server(ask.state), "127.0.0.1", 0, token, address.set_result)
    )
    try:
        yield await address
    finally:
        os.kill(os.getpid(), signal.SIGTERM)  # as the person stops it
        await task


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_http_keeps_what_a_caller_knows_although_it_has_no_session(tmp_path: Path, mode: str) -> None:
    async with door(tmp_path) as ask, served(ask) as url, Client(url, mode=mode) as client:
        first = await client.call_tool("tap", {"target": "1,1", **WHY})
        assert "screen 1080x2400" in first.content[0].text  # type: ignore[union-attr]
        second = await client.call_tool("tap", {"target": "1,1", **WHY})
        assert "screen 1080x2400" not in second.content[0].text  # type: ignore[union-attr]
        door_and_actor = [(event["door"], event["actor"]["kind"]) for event in ask.world.events()]
        assert set(door_and_actor) == {("mcp", "agent")}


async def test_http_lets_nobody_in_who_has_no_token_or_comes_from_another_site(tmp_path: Path) -> None:
    async with door(tmp_path) as ask, served(ask, TOKEN) as url, httpx2.AsyncClient() as client:
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert (await client.post(url, json=ping)).status_code == 401
        bearer = {"authorization": f"Bearer {TOKEN}"}
        evil = bearer | {"origin": "https://evil.example"}
        assert (await client.post(url, json=ping, headers=evil)).status_code == 403
        rebound = bearer | {"host": "evil.example"}
        assert (await client.post(url, json=ping, headers=rebound)).status_code == 421


@contextmanager
def program(home: Path) -> Iterator[Any]:
    """`handrail mcp --sim`, spoken to line by line."""
    env = {**os.environ, "HANDRAIL_HOME": str(home), "HANDRAIL_HELPER": "none"}
    command = [sys.executable, "-m", "handrail.cli.main", "mcp", "--sim"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def ask_line(process: Any, number: int, method: str, **params: Any) -> None:
    line = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(line) + "\n")
    process.stdin.flush()


def begin(process: Any) -> None:
    """Past the handshake, holding the phone, with a wait in flight."""
    who = {"name": "a test", "version": "1"}
    ask_line(process, 1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=who)
    assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "handrail"
    process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    ask_line(process, 2, "tools/call", name="tap", arguments={"target": "1,1", **WHY})
    assert json.loads(process.stdout.readline())["id"] == 2
    ask_line(process, 3, "tools/call", name="wait_for", arguments={"visible": "Never", "timeout_ms": 600_000})
    ask_line(process, 4, "tools/call", name="what_changed", arguments={"since": 7})
    assert json.loads(process.stdout.readline())["id"] == 4  # so that the wait has been read


@pytest.mark.parametrize(
    "end", ["SIGTERM", *(pytest.param(one, marks=pytest.mark.slow) for one in ("end of input", "SIGINT"))]
)
def test_the_program_ends_cleanly_with_what_was_in_flight_journalled_and_the_phone_given_back(
    tmp_path: Path, end: str
) -> None:
    with program(tmp_path) as process:
        begin(process)
        if end == "end of input":
            process.stdin.close()
        else:
            process.send_signal(getattr(signal, end))
        assert process.wait(20) == 0, process.stderr.read()
        assert process.stderr.read() == ""
        assert '"result"' not in process.stdout.read()  # a call that was cut off has none
    assert ended(tmp_path) == [("tap", None), ("wait_for", "CANCELLED")]
    with closing(sqlite3.connect(tmp_path / "handrail.db")) as db:
        assert db.execute("SELECT count(*) FROM leases").fetchone() == (0,)


def ended(home: Path) -> list[tuple[str, str | None]]:
    env = {**os.environ, "HANDRAIL_HOME": str(home)}
    command = [sys.executable, "-m", "handrail.cli.main", "journal", "list", "--json"]
    rows = json.loads(subprocess.run(command, env=env, capture_output=True, check=True).stdout)
    return [(row["type"], row.get("failure_code")) for row in reversed(rows)]
