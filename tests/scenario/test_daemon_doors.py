"""Every door of a home sees the same phones and the same sessions: they are in its daemon."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from handrail import simulated_phone
from handrail.cli.daemon import daemon_status
from handrail.config import Config
from handrail.runtime import Runtime
from tests.scenario.doors import HANDRAIL
from tests.scenario.residents import Lodging, lodging, processes_of
from tests.scenario.world import play_live, until

ASYNC_RUNNER = play_live

pytestmark = pytest.mark.slow


def mcp_client(place: Lodging, *words: str) -> Client:
    command, *first = HANDRAIL
    return Client(StdioServerParameters(command=command, args=[*first, "mcp", *words], env=place.env))


def texts(result: Any) -> str:
    return "\n".join(getattr(block, "text", "") for block in result.content)


@asynccontextmanager
async def serving(place: Lodging, *words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *HANDRAIL, "serve", "--port", "0", *words, env=place.env, stdout=subprocess.PIPE
    )
    assert process.stdout
    try:
        while b"Ctrl-C" not in (line := await process.stdout.readline()):
            assert line
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
            assert await process.wait() == 0


async def test_a_phone_of_the_desk_is_seen_by_every_door(tmp_path: Path) -> None:
    async with lodging(tmp_path) as place, serving(place, "--sim", "1", "--no-mcp"):
        status = daemon_status(tmp_path)
        [serial] = status["phones"]
        listed = json.loads((await place.command("devices", "--json")).stdout)["devices"]
        assert [(device["serial"], device["open"]) for device in listed] == [(serial, True)]
        async with mcp_client(place) as client:
            seen = await client.call_tool("get_ui_tree", {})
            assert not seen.is_error, texts(seen)
            assert len(processes_of(tmp_path)) == 1
        assert (await place.command("ui")).returncode == 0
        assert (await place.command("desk", "state")).returncode == 0
        async with Runtime.open(Config.from_env(place.env), env=place.env) as runtime:
            assert (await runtime.session()).serial == serial
        alone = await place.command("ui", env={"HANDRAIL_NO_DAEMON": "1"})
        assert alone.returncode == 0, alone.stderr
    assert daemon_status(tmp_path)["running"] is False


async def test_a_command_uses_the_refs_and_the_session_of_an_mcp_client(tmp_path: Path) -> None:
    async with simulated_phone() as serial, lodging(tmp_path) as place:
        async with mcp_client(place, "--device", serial) as client:
            started = await client.call_tool(
                "start_app", {"package": "com.google.android.contacts", "reason": "I add a contact"}
            )
            line = next(line for line in texts(started).splitlines() if "Create new contact" in line)
            tapped = await place.command("tap", line.split()[0], "--expect", "First name")
            assert tapped.returncode == 0, tapped.stderr
            assert tapped.stdout.startswith('Tapped "Create new contact".')
            typed = await client.call_tool(
                "type_text", {"target": "First name", "text": "Ada", "reason": "I go on"}
            )
            assert not typed.is_error, texts(typed)
        await until(lambda: daemon_status(tmp_path)["phones"] == [])
        looked = await place.command("ui", "--device", serial)
        assert "Ada" in looked.stdout, looked
        rows = json.loads((await place.command("journal", "list", "--json")).stdout)
        doors = {(row["door"], row["actor"]["kind"]) for row in rows}
        assert doors == {("mcp", "agent"), ("cli", "person")}


async def test_a_client_that_leaves_frees_the_phone_that_the_desk_still_shows(tmp_path: Path) -> None:
    contacts = {"package": "com.google.android.contacts", "reason": "I look"}
    async with lodging(tmp_path) as place, serving(place, "--sim", "1", "--no-mcp"):
        own = Config.from_env(place.env)
        async with mcp_client(place) as client, Runtime.open(own, env=place.env) as runtime:
            assert not (await client.call_tool("start_app", contacts)).is_error
            foreign = await runtime.session()
            busy = await foreign.start_app(contacts["package"])
            assert busy.error.code == "DEVICE_BUSY"
        async with Runtime.open(own, env=place.env) as runtime:
            foreign = await runtime.session()
            assert (await foreign.start_app(contacts["package"])).success
        assert (await place.command("press-key", "home")).returncode == 0
        async with Runtime.open(own, env=place.env) as runtime:
            assert (await (await runtime.session()).start_app(contacts["package"])).success


async def test_a_server_that_is_killed_leaves_its_phones_and_its_desk(tmp_path: Path) -> None:
    async with lodging(tmp_path) as place:
        async with serving(place, "--sim", "1", "--no-mcp") as process:
            assert len(daemon_status(tmp_path)["phones"]) == 1
            process.kill()
            await process.wait()
            await until(lambda: daemon_status(tmp_path)["commands"] == 0)
        assert daemon_status(tmp_path)["phones"] == []
        assert (await place.command("desk", "state")).returncode != 0
        async with serving(place, "--no-mcp"):
            assert (await place.command("desk", "state")).returncode == 0


async def test_two_homes_do_not_see_each_other(tmp_path: Path) -> None:
    async with (
        lodging(tmp_path / "a") as first,
        lodging(tmp_path / "b") as second,
        serving(first, "--sim", "1", "--no-mcp"),
    ):
        assert await second.warm() != await until(first.resident)
        listed = json.loads((await second.command("devices", "--json")).stdout)
        assert listed["devices"] == []


async def test_a_busy_daemon_of_another_version_is_left_alone_and_says_so(tmp_path: Path) -> None:
    async with lodging(tmp_path) as place, serving(place, "--sim", "1", "--no-mcp"):
        first = place.resident()
        other = {"HANDRAIL_WITNESS": str(tmp_path)}  # it shapes a daemon as a whole, as its version does
        done = await place.command("ui", env=other)
        assert "busy; this command runs by itself" in done.stderr
        assert done.returncode == 0, done
        assert place.resident() == first


PLAIN = """
import sys
sys.path.insert(0, {root!r})
from tests.platforms.elsewhere import become
become("plain")
"""


async def test_a_machine_without_fork_and_unix_sockets_has_one_too(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(PLAIN.format(root=str(Path(__file__).parents[2])))
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    home = tmp_path / "home"
    async with simulated_phone() as serial, lodging(home, PYTHONPATH=path, HANDRAIL_DEVICE=serial) as place:
        for _ in range(2):
            done = await place.command("ui")
            assert (done.returncode, done.stderr) == (0, ""), done
        assert (home / "daemon.port").stat().st_mode & 0o777 == 0o600
        assert not (home / "daemon.sock").exists()
        assert len(processes_of(home)) == 1
        status = json.loads((await place.command("daemon", "status", "--json")).stdout)
        assert status["running"] is True
        port, _, token = (home / "daemon.port").read_text().partition(" ")
        reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
        writer.write(token[::-1].encode() + b'{"daemon": "stop"}\n')
        assert await reader.read() == b""
        writer.close()
        assert (await place.command("daemon", "stop")).stdout.startswith("Stopped process")
        await until(lambda: not processes_of(home))


CRASHES = """
import sys
if "handrail.cli.daemon" in sys.orig_argv:
    with open({starts!r}, "a") as file:
        file.write("started\\n")
    sys.modules["handrail.cli.daemon_server"] = None
"""


async def test_a_daemon_that_crashes_once_it_listens_is_started_twice_and_its_log_is_quoted(
    tmp_path: Path,
) -> None:
    starts, home = tmp_path / "starts", tmp_path / "home"
    (tmp_path / "sitecustomize.py").write_text(CRASHES.format(starts=str(starts)))
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    async with simulated_phone() as serial, lodging(home, PYTHONPATH=path, HANDRAIL_DEVICE=serial) as place:
        done = await place.command("ui")
        assert done.returncode == 0, done
        assert starts.read_text().count("started") == 2
        assert "the daemon can't be started: ModuleNotFoundError" in done.stderr
        assert f"(see {home}/daemon.log); this command runs by itself." in done.stderr
        again = await place.command("ui")  # for a minute nobody tries it again
        assert (again.returncode, again.stderr) == (0, "")
        assert starts.read_text().count("started") == 2
