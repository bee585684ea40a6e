"""Telemetry at every door: commands by themselves and through the resident process, MCP, HTTP, `/metrics`.

Real processes; a collector in the test's own. Off, nothing of it is imported anywhere.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client
from packages.telemetry.tests.collector import Collector, attributes, collecting, never_answers
from packages.telemetry.tests.marker import MARKER, leaks
from packages.telemetry.tests.test_spans import PARENT, named

from handrail.mcp_server.server import build_mcp_server
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.doors import Http, environment, server
from tests.scenario.residents import Lodging, lodging
from tests.scenario.test_mcp_answers import door
from tests.scenario.world import play_live, usual_clock

ASYNC_RUNNER = play_live

pytestmark = pytest.mark.slow

TRACE, SPAN = PARENT.split("-")[1:3]


@asynccontextmanager
async def home_with_phone(home: Path, collector: Collector, **more: str) -> AsyncIterator[Lodging]:
    async with (
        serve([Phone(clock=usual_clock())], port=0) as [served],
        lodging(
            home, HANDRAIL_DEVICE=served.address, HANDRAIL_OTLP_ENDPOINT=collector.address, **more
        ) as place,
    ):
        yield place


@pytest.mark.parametrize("alone", [True, False], ids=["by itself", "by the resident process"])
def test_a_short_command_is_told_with_its_parent(alone: bool, tmp_path: Path) -> None:
    more = {"TRACEPARENT": PARENT} | ({"HANDRAIL_NO_DAEMON": "1"} if alone else {})

    async def story() -> None:
        async with home_with_phone(tmp_path, collector) as place:
            if not alone:
                await place.warm()
            for _ in range(2):
                done = await place.command("press-key", "home", env=more)
                assert done.returncode == 0, done.stderr
            assert await asyncio.to_thread(
                collector.wait_for, lambda: sum(collector.counted("handrail.actions").values()) == 2
            )

    with collecting() as collector:
        play_live(story())
    pressed = named(collector, "execute_tool press_key")
    assert len(pressed) == 2
    assert {(one.trace_id.hex(), one.parent_span_id.hex()) for one in pressed} == {(TRACE, SPAN)}


def test_a_command_of_the_resident_process_is_answered_although_the_collector_is_silent(
    tmp_path: Path,
) -> None:
    """How soon is measured by bench/telemetry.py."""

    async def story() -> None:
        async with home_with_phone(tmp_path, collector) as place:
            await place.warm()
            done = await place.command("press-key", "home", "--json")
            assert done.returncode == 0, done.stderr
            assert '"success": true' in done.stdout

    with collecting(never_answers) as collector:
        play_live(story())


def test_a_command_that_a_server_does_is_in_the_callers_trace(tmp_path: Path) -> None:
    async def story() -> None:
        async with (
            serve([Phone(clock=usual_clock())], port=0) as [served],
            _served(tmp_path, served.address, collector),
        ):
            place = Lodging(tmp_path, environment(tmp_path) | {"TRACEPARENT": PARENT})
            done = await place.command("press-key", "home", "--device", served.address)
            assert done.returncode == 0, done.stderr

    with collecting() as collector:
        play_live(story())
    [pressed] = named(collector, "execute_tool press_key")
    assert (pressed.trace_id.hex(), pressed.parent_span_id.hex()) == (TRACE, SPAN)


def test_an_mcp_call_brings_its_trace_in_meta(tmp_path: Path) -> None:
    async def story() -> None:
        env = {"HANDRAIL_OTLP_ENDPOINT": collector.address}
        async with door(tmp_path, env=env) as ask, Client(build_mcp_server(ask.state)) as client:
            arguments = {"key": "home", "reason": "I go home"}
            for given in (PARENT, "00-nonsense", f"{MARKER}-{MARKER}", 7):
                meta = {"traceparent": given, "tracestate": f"vendor={MARKER}", "baggage": f"k={MARKER}"}
                await client.call_tool("press_key", arguments, meta=meta)  # type: ignore[arg-type]

    with collecting() as collector:
        play_live(story())
    pressed = named(collector, "execute_tool press_key")
    assert [one.parent_span_id.hex() for one in pressed] == [SPAN, "", "", ""]
    assert pressed[0].trace_id.hex() == TRACE
    assert leaks(collector.raw) == []


class Traced(Http):
    """A program that sends its trace, and more than that."""

    def _head(self, path: str, length: int) -> bytes:
        more = f"\r\ntraceparent: {PARENT}\r\ntracestate: v={MARKER}\r\nbaggage: k={MARKER}\r\n\r\n"
        return super()._head(path, length).removesuffix(b"\r\n\r\n") + more.encode()


def _get(port: int, token: str | None) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


async def test_counts_are_served_to_whoever_has_the_token_where_that_was_asked_for(tmp_path: Path) -> None:
    async with serve([Phone(clock=usual_clock())], port=0) as [served]:
        words = ["--no-mcp", "--device", served.address]
        async with server(tmp_path, [served.address], *words, "--metrics") as at:
            program = Traced(at, MARKER)
            action = {"type": "press_key", "key": "home", "reason": MARKER}
            assert not (await program.act(action)).failed
            assert (await program.act({"type": "tap", "target": MARKER, "reason": MARKER})).failed
            for token in (None, "wrong", at.token[:-1]):
                assert (await asyncio.to_thread(_get, at.port, token))[0] == 401
            status, told = await asyncio.to_thread(_get, at.port, at.token)
        assert status == 200
        lines = told.splitlines()
        failed = 'handrail_failures_total{gen_ai_tool_name="tap",error_type="ELEMENT_NOT_FOUND"} 1'
        assert failed in lines
        assert 'handrail_action_duration_seconds_count{gen_ai_tool_name="press_key"} 1' in lines
        assert leaks(told.encode()) == []
        assert served.address not in told
        (tmp_path / "config" / "desk.json").unlink()
        async with server(tmp_path, [served.address], *words) as at:  # off unless it is asked for
            assert (await asyncio.to_thread(_get, at.port, at.token))[0] == 404


@asynccontextmanager
async def _served(home: Path, phone: str, collector: Collector) -> AsyncIterator[Traced]:
    env = {"HANDRAIL_OTLP_ENDPOINT": collector.address}
    async with server(home, [phone], "--no-mcp", "--device", phone, env=env) as at:
        yield Traced(at)


def test_a_request_over_http_brings_its_trace_in_a_header(tmp_path: Path) -> None:
    async def story() -> None:
        async with (
            serve([Phone(clock=usual_clock())], port=0) as [served],
            _served(tmp_path, served.address, collector) as program,
        ):
            action = {"type": "press_key", "key": "home", "reason": MARKER}
            assert not (await program.act(action)).failed

    with collecting() as collector:
        play_live(story())
    [pressed] = named(collector, "execute_tool press_key")
    assert (pressed.trace_id.hex(), pressed.parent_span_id.hex()) == (TRACE, SPAN)
    assert leaks(collector.raw) == []
    assert attributes(pressed.attributes)["handrail.actor"] == "agent"


OFF = """
import asyncio, sys
from handrail import simulated_phone
from handrail.runtime import Runtime

async def main():
    async with simulated_phone() as serial, Runtime.open() as runtime:
        session = await runtime.session(serial, helper="none")
        assert (await session.press_key("home")).success
        assert runtime.telemetry is None

asyncio.run(main())
print(*[name for name in sys.modules if name.startswith(("handrail_telemetry", "opentelemetry.sdk"))])
"""


def test_off_nothing_of_it_is_imported_whatever_other_programs_have_set(tmp_path: Path) -> None:
    others = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
        "OTEL_TRACES_EXPORTER": "otlp",
        "TRACEPARENT": PARENT,
        "HANDRAIL_OTLP_HEADERS": "a=b",
        "HANDRAIL_OTLP_ENDPOINT": " ",
    }
    done = subprocess.run(
        [sys.executable, "-c", OFF],
        env=environment(tmp_path) | others,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
