"""Stop by real programs: commands, the desk's HTTP and its daemon as processes of their own.

The phone's own input log is the judge. The daemon is killed while the phone is held.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from handrail.clock import SystemClock
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.doors import HANDRAIL
from tests.scenario.residents import Lodging, lodging
from tests.scenario.world import play_live, until

ASYNC_RUNNER = play_live

pytestmark = pytest.mark.slow
QUIET_S = 2.0
SWIPE = {"type": "swipe", "direction": "up", "reason": "I look further"}


class Desk:
    """The owner's programs at the desk's HTTP."""

    def __init__(self, home: Path) -> None:
        self._file = json.loads((home / "config" / "desk.json").read_text())

    async def post(self, path: str, body: dict[str, Any], secret: str = "token") -> dict[str, Any]:
        def ask() -> dict[str, Any]:
            headers = {"Authorization": f"Bearer {self._file[secret]}", "Content-Type": "application/json"}
            request = urllib.request.Request(
                f"{self._file['address']}{path}", json.dumps(body).encode(), headers
            )
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    reply: dict[str, Any] = json.load(answer)
            except HTTPError as error:
                reply = json.load(error)
            return reply

        return await asyncio.to_thread(ask)


@asynccontextmanager
async def serving(place: Lodging) -> AsyncIterator[Desk]:
    process = await asyncio.create_subprocess_exec(
        *HANDRAIL, "serve", "--port", "0", "--no-mcp", env=place.env, stdout=subprocess.PIPE
    )
    assert process.stdout
    try:
        while b"Ctrl-C" not in (line := await process.stdout.readline()):
            assert line
        yield Desk(place.home)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        await process.wait()


Stop = Callable[[Lodging, Desk, str], Awaitable[object]]
STOPS: dict[str, Stop] = {
    "command": lambda place, _, __: place.command("stop"),
    "command for one phone": lambda place, _, serial: place.command("stop", "--device", serial),
    "interrupt": lambda _, desk, __: desk.post("/api/interrupt", {}),
    "the phone's page": lambda _, desk, serial: desk.post(f"/api/phone/{serial}/stop", {}, "key"),
}


@pytest.mark.parametrize("how", STOPS)
async def test_no_program_reaches_a_stopped_phone_also_after_the_daemon_was_killed(
    tmp_path: Path, how: str
) -> None:
    async def agents(place: Lodging, desk: Desk, over: asyncio.Event) -> None:
        async def command() -> None:
            while not over.is_set():
                await place.command("swipe", "up")

        async def program() -> None:
            while not over.is_set():
                await desk.post("/api/actions", SWIPE)
                await asyncio.sleep(0.05)

        await asyncio.gather(command(), program())

    phone = Phone(clock=SystemClock())
    async with serve([phone], port=0) as [served], lodging(tmp_path, HANDRAIL_DEVICE=served.address) as place:
        over = asyncio.Event()
        async with serving(place) as desk:
            acting = asyncio.create_task(agents(place, desk, over))
            await until(lambda: len(phone.input_log) > 20)
            await STOPS[how](place, desk, served.address)
            before = len(phone.input_log)
            await asyncio.sleep(QUIET_S)
            over.set()
            await acting
            refused = await desk.post("/api/actions", SWIPE)
            assert (refused["failure_code"], "was stopped by" in refused["message"]) == ("DEVICE_BUSY", True)
            os.kill(place.resident() or 0, signal.SIGKILL)
            await until(lambda: place.resident() is None)
        done = await place.command("swipe", "up")
        assert done.returncode != 0
        assert "was stopped by" in done.stdout + done.stderr
        assert "handrail hand-back" in done.stdout + done.stderr
        assert "stopped by" in (await place.command("devices")).stdout
        assert phone.input_log[before:] == []
        back = await place.command("hand-back")
        assert "handed back" in back.stdout, back
        done = await place.command("swipe", "up")
        assert "DEVICE_BUSY" not in done.stderr
        assert len(phone.input_log) > before, done
