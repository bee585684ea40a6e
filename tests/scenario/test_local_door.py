"""Commands beside a running server: the same session, the same refs; and a phone that is only watched."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from handrail import simulated_phone
from handrail.cli.local_server import serve_local
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.world import play_live, until, usual_clock, world

ASYNC_RUNNER = play_live

pytestmark = pytest.mark.slow

HANDRAIL = [sys.executable, "-m", "handrail.cli.main"]
PATIENCE_S = 60


def env_of(home: Path, **more: str) -> dict[str, str]:
    paths = {"PATH": os.environ["PATH"], "HOME": str(home), "HANDRAIL_HOME": str(home / "home")}
    return paths | {"HANDRAIL_HELPER": "none", "HANDRAIL_NO_DAEMON": "1"} | more


async def command(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(
        subprocess.run, [*HANDRAIL, *words], env=env, capture_output=True, text=True, timeout=PATIENCE_S
    )


def texts(result: Any) -> str:
    return "\n".join(getattr(block, "text", "") for block in result.content)


async def test_a_command_uses_the_refs_and_the_session_of_the_server_that_runs(tmp_path: Path) -> None:
    async with simulated_phone() as serial:
        env = env_of(tmp_path)
        server = [*HANDRAIL[1:], "mcp", "--device", serial]
        async with Client(StdioServerParameters(command=HANDRAIL[0], args=server, env=env)) as client:
            # The agent touches the phone, and so holds it.
            started = await client.call_tool(
                "start_app", {"package": "com.google.android.contacts", "reason": "I add a contact"}
            )
            line = next(line for line in texts(started).splitlines() if "Create new contact" in line)

            tapped = await command(env, "tap", line.split()[0], "--expect", "First name")
            assert tapped.returncode == 0, tapped.stderr
            assert tapped.stdout.startswith('Tapped "Create new contact".')

            missed = await command(env, "tap", "No such thing", "--json")
            assert missed.returncode == 1
            assert json.loads(missed.stdout)["failure_code"] == "ELEMENT_NOT_FOUND"

            wrong = await command(env, "swipe", "upp")
            assert wrong.returncode == 2

            typed = await client.call_tool(
                "type_text", {"target": "First name", "text": "Ada", "reason": "I go on"}
            )
            assert not typed.is_error, texts(typed)

        # It is gone: the same command does the work itself.
        alone = await command(env | {"HANDRAIL_DEVICE": serial}, "get-ui-tree")
        assert alone.returncode == 0, alone.stderr
        assert "Ada" in alone.stdout

        listed = await command(env, "journal", "list", "--json")
        doors = {(row["door"], row["actor"]["kind"]) for row in json.loads(listed.stdout)}
        assert doors == {("mcp", "agent"), ("cli", "person")}


async def test_a_question_and_an_interrupt_reach_the_terminal_through_the_server(tmp_path: Path) -> None:
    async with world(tmp_path / "home") as one, serve_local(one.runtime):
        env = env_of(tmp_path)
        asking = await _start(env, "shell", "echo", "all", "right")
        assert asking.stderr
        question = ""
        while "handrail approve" not in question:
            question = (await asking.stderr.readline()).decode()
            assert question
        approved = await command(env, "approve", re.findall(r"approve (\w+)", question)[0])
        assert approved.returncode == 0, approved.stderr
        out, _ = await asking.communicate()
        assert (asking.returncode, out) == (0, b"all right\n")

        waiting = await _start(env, "wait-for", "There is no such thing", "--timeout-ms", "600000")
        await until(lambda: '"wait_for"' in json.dumps(one.events()))
        waiting.send_signal(signal.SIGINT)
        _, told = await waiting.communicate()
        assert waiting.returncode == 130
        assert told.decode().startswith("CANCELLED: wait_for was stopped")


async def _start(env: dict[str, str], *words: str) -> asyncio.subprocess.Process:
    pipe = subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *HANDRAIL, *words, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe
    )


async def test_a_watcher_sees_the_screen_what_is_done_and_what_comes_of_it(tmp_path: Path) -> None:
    phone = Phone(clock=usual_clock())
    async with serve([phone], port=0) as [served]:
        env = env_of(tmp_path, HANDRAIL_DEVICE=served.address)
        watcher = await asyncio.create_subprocess_exec(
            *HANDRAIL, "watch", "--json", "--every-ms", "50", env=env, stdout=subprocess.PIPE
        )
        assert watcher.stdout
        try:
            async with asyncio.timeout(PATIENCE_S):
                first = json.loads(await watcher.stdout.readline())
                assert first["kind"] == "screen"
                assert "com.android.launcher3" in first["text"]
                assert "@" not in first["text"]
                touched = len(phone.input_log)
                done = await command(env, "start-app", "com.google.android.contacts", "--reason", "I look")
                assert done.returncode == 0, done.stderr
                news = [json.loads(await watcher.stdout.readline())]
                while {one["kind"] for one in news} != {"action", "changes"}:
                    news.append(json.loads(await watcher.stdout.readline()))
        finally:
            watcher.send_signal(signal.SIGINT)
            code = await watcher.wait()
        action = next(one for one in news if one["kind"] == "action")
        assert (action["type"], action["reason"]) == ("start_app", "I look")
        assert any("com.google.android.contacts" in one["text"] for one in news if one["kind"] == "changes")
        assert code == 0
        assert len(phone.input_log) == touched
