"""Simulated phones on real ports, reached directly or by the stock adb server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.server import Server
from handrail.clock import SystemClock
from handrail_sim.adbd.server import Served, serve
from handrail_sim.phone import Phone
from handrail_sim.shell.processes import processes_of

WAYS = ("direct", "server")


@asynccontextmanager
async def reached(way: str, env: Mapping[str, str]) -> AsyncIterator[tuple[AdbDevice, Served]]:
    """A phone of its own, and the client on it."""
    async with serve([Phone(clock=SystemClock())], port=0) as (served,):
        if way == "direct":
            device = AdbDevice(Direct(served.host, served.port))
            try:
                yield device, served
            finally:
                await device.close()
        else:
            server = Server.from_env(env)
            await server.start()
            await server.connect(served.address)
            try:
                yield AdbDevice(server.link(served.address)), served
            finally:
                await server.disconnect(served.address)


def running(phone: Phone) -> list[str]:
    """The programs that shells have started and that have not ended."""
    return [process.name for process in processes_of(phone).running.values()]


async def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something that others bring about."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.001)
