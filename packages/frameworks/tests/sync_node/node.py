"""A Node with real React and its own inspector: the nearest thing to a Hermes that runs everywhere."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.clock import SystemClock
from handrail_frameworks.debugger import Cdp
from handrail_frameworks.framework_sync import FrameworkSync
from handrail_frameworks.react_native import SCRIPT, HostTcp, MetroRoute, list_targets
from tests.npm import modules
from tests.unit.android.sim_phone import Bench, bench

PACKAGE = "com.example.lab"
PACKAGES = ("react@19.3.1", "react-reconciler@0.34.0", "react-devtools-core@8.0.0", "xhr2@0.2.1")
PEER = Path(__file__).with_name("peer.cjs")
_LISTENING = re.compile(r"ws://127\.0\.0\.1:(\d+)/")


def run_peer() -> Iterator[int]:
    """The inspector's port, for as long as the program runs."""
    environment = {**os.environ, "NODE_PATH": str(modules(*PACKAGES))}
    command = ["node", "--inspect=0", str(PEER)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr
        try:
            found = next((hit for line in process.stderr if (hit := _LISTENING.search(line))), None)
            assert found, "Node told no port of its inspector"
            yield int(found[1])
        finally:
            process.kill()


def work(sync: FrameworkSync) -> list[str]:
    """What was waited for, but the thread itself: a busy machine makes it slow."""
    return [one for one in sync.waited_for if one != SCRIPT]


@dataclass
class Server:
    """Answers a request when it is told to."""

    port: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mail?token=secret"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.asked.set()
        await self.may_answer.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        await writer.drain()
        writer.close()


@dataclass
class Scene:
    """The program, a second debugger to drive it with, a phone, and the sync under test."""

    port: int
    driver: Cdp
    bench: Bench
    server: Server

    async def run(self, expression: str) -> Any:
        return await self.driver.evaluate(expression, timeout_ms=10_000)

    async def until(self, expression: str) -> None:
        while not await self.run(expression):
            await asyncio.sleep(0.005)

    def sync(self, port: int | None = None, **env: str) -> FrameworkSync:
        return FrameworkSync(
            "react_native",
            PACKAGE,
            device=self.bench.device,
            clock=self.bench.clock,
            env=env,
            metro=("127.0.0.1", port or self.port),
        )

    @asynccontextmanager
    async def attached(self, **env: str) -> AsyncIterator[FrameworkSync]:
        sync = self.sync(**env)
        try:
            await sync.attach()
            assert sync.has_hermes, sync.diagnostics
            yield sync
        finally:
            await sync.close()


@asynccontextmanager
async def scene(port: int) -> AsyncIterator[Scene]:
    """Everything of one story; the program itself goes on to the next."""
    held = Server()
    async with asyncio.timeout(60), bench() as phone:
        server = await asyncio.start_server(held.serve, "127.0.0.1", 0)
        held.port = server.sockets[0].getsockname()[1]
        way = MetroRoute(HostTcp("127.0.0.1", port), port)
        [target] = await list_targets(way, SystemClock())
        driver = await Cdp.open(way.opens, way.service, way.uri(target), SystemClock())
        try:
            made = Scene(port, driver, phone, held)
            await made.until("typeof lab === 'object' && lab.ready")
            yield made
        finally:
            held.may_answer.set()
            await driver.close()
            server.close()
            await server.wait_closed()
