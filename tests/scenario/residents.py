"""A home whose commands run in its daemon, and the daemon's end: no test leaves a process behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from handrail.cli.daemon import daemon_status
from tests.scenario.doors import HANDRAIL, environment
from tests.scenario.world import until

PATIENCE_S = 60


@dataclass(frozen=True)
class Lodging:
    """One home, and the environment of its commands."""

    home: Path
    env: dict[str, str]

    async def command(
        self, *words: str, env: dict[str, str] | None = None, cwd: Path | None = None, stdin: bytes = b""
    ) -> subprocess.CompletedProcess[str]:
        process = await asyncio.create_subprocess_exec(
            *HANDRAIL,
            *words,
            env=self.env | (env or {}),
            cwd=cwd,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(PATIENCE_S):
            out, err = await process.communicate(stdin)
        return subprocess.CompletedProcess(words, process.returncode or 0, out.decode(), err.decode())

    async def warm(self) -> int:
        """Its daemon, once it listens."""
        done = await self.command("ui", "--device", "127.0.0.1:1")
        assert done.returncode != 0
        return await until(self.resident)

    def resident(self) -> int | None:
        told = daemon_status(self.home)
        return told["pid"] if told["running"] and told["pid"] else None


def processes_of(home: Path) -> list[int]:
    """The daemons whose command lines name this home."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if b"handrail.cli.daemon" in words and os.fsencode(home) in words and state != "Z":
            found.append(int(entry.name))
    return found


@asynccontextmanager
async def lodging(home: Path, **more: str) -> AsyncIterator[Lodging]:
    env = {name: value for name, value in environment(home).items() if name != "HANDRAIL_NO_DAEMON"}
    place = Lodging(home, env | more)
    try:
        yield place
    finally:
        stop = [*HANDRAIL, "daemon", "stop"]
        await asyncio.to_thread(subprocess.run, stop, env=place.env, capture_output=True, timeout=PATIENCE_S)
        try:
            await until(lambda: not processes_of(home))
        finally:
            for one in processes_of(home):
                os.kill(one, signal.SIGKILL)
