"""Long calls say how they get on, and a cancelled one stops at the phone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from tests.mcp_conformance.door import MODERN, OLDER, Door, door, over_http
from tests.scenario.world import FastClock, play_live, until

ASYNC_RUNNER = play_live

BOTH = pytest.mark.parametrize("mode", [MODERN, OLDER])
LONG = {"visible": "No such thing anywhere", "timeout_ms": 8_000}


class Listener:
    """A client's progress callback."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, str]] = []

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        self.heard.append((progress, message or ""))


@BOTH
async def test_a_long_wait_reports_growing_progress(tmp_path: Path, mode: str) -> None:
    listener = Listener()
    async with door(tmp_path, clock=FastClock(10)) as d, over_http(d) as address:
        async with Client(address, mode=mode) as client:
            result = await client.call_tool("wait_for", LONG, progress_callback=listener)
        assert result.is_error
    seconds = [progress for progress, _ in listener.heard]
    assert len(seconds) >= 2
    assert seconds == sorted(set(seconds))
    assert all(message.startswith("wait_for: ") for _, message in listener.heard)
    assert any("resolved" in message or "dispatched" in message for _, message in listener.heard)


@BOTH
async def test_a_quick_call_reports_nothing(tmp_path: Path, mode: str) -> None:
    listener = Listener()
    async with door(tmp_path, clock=FastClock(0.01)) as d, d.client(mode) as client:
        result = await client.call_tool("get_state", {}, progress_callback=listener)
        assert not result.is_error
    assert listener.heard == []


def ends(d: Door) -> list[dict[str, Any]]:
    return [event["envelope"] for event in d.world.events() if event.get("terminal")]


@BOTH
async def test_a_cancelled_call_stops_on_the_phone_and_is_in_the_journal(tmp_path: Path, mode: str) -> None:
    async with door(tmp_path) as d, d.client(mode) as client:
        waiting = {**LONG, "timeout_ms": 60_000}
        calling = asyncio.create_task(client.call_tool("wait_for", waiting))
        await until(lambda: any(event["kind"] == "resolved" for event in d.world.events()))
        calling.cancel()
        await asyncio.wait({calling})
        assert calling.cancelled()
        await until(lambda: ends(d))
        assert [end["failure_code"] for end in ends(d)] == ["CANCELLED"]
        assert not (await client.call_tool("get_state", {})).is_error


@BOTH
async def test_a_call_that_is_cancelled_while_a_person_thinks_takes_its_question_back(
    tmp_path: Path, mode: str
) -> None:
    async with door(tmp_path) as d, d.client(mode) as client:
        asking = {"instruction": "Put your finger on it.", "capability": "biometric", "reason": "I sign in"}
        calling = asyncio.create_task(client.call_tool("request_human_auth", asking))
        approvals = d.world.runtime.approvals
        await until(approvals.pending)
        calling.cancel()
        await asyncio.wait({calling})
        await until(lambda: ends(d))
        [kept] = await approvals.history()
        assert kept.state == "withdrawn"
