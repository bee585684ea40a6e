"""Phones on TCP ports, all in one event loop. Knows ports and daemons, nothing of what they say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from handrail_sim.adbd.auth import KeyRing
from handrail_sim.adbd.daemon import Adbd
from handrail_sim.adbd.ports import DEFAULT_PORT, ports
from handrail_sim.errors import BadSetting
from handrail_sim.system.cell import Cell

if TYPE_CHECKING:
    from handrail_sim.channels.emulator import EmulatorPorts
    from handrail_sim.phone import Phone
from handrail_sim.shell.processes import processes_of

BACKLOG = 512


@dataclass(frozen=True, slots=True)
class Served:
    """One phone that can be connected to."""

    phone: Phone
    adbd: Adbd
    host: str
    port: int
    doors: EmulatorPorts | None = None

    @property
    def address(self) -> str:
        """What `adb connect` takes."""
        return f"{self.host}:{self.port}"

    def describe(self) -> dict[str, Any]:
        line = {"serial": self.phone.serial, "host": self.host, "port": self.port, "connect": self.address}
        if self.doors is not None:
            line |= {"console_port": self.doors.console_port, "grpc_port": self.doors.grpc_port}
            line |= {"note": self.doors.reason} if self.doors.reason else {}
        return line


@asynccontextmanager
async def serve(
    phones: Sequence[Phone],
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    *,
    auth: bool = False,
    emulator: bool = False,
) -> AsyncIterator[list[Served]]:
    """Listen for every phone while the block runs; connections end with it. They share one mobile network."""
    Cell(phones)
    async with AsyncExitStack() as stack:
        served = []
        for phone, number in zip(phones, ports(port, len(phones), emulator=emulator), strict=True):
            entry = await stack.enter_async_context(_listen(phone, host, number, auth=auth))
            served.append(await _emulated(stack, entry) if emulator else entry)
        yield served


async def _emulated(stack: AsyncExitStack, served: Served) -> Served:
    from handrail_sim.channels.emulator import emulate  # noqa: PLC0415  (by flag only)

    console = served.port - 1
    try:
        doors = await stack.enter_async_context(emulate(served.phone, console, served.host))
    except OSError as error:
        raise _unusable(console, served.host, error) from None
    return replace(served, doors=doors)


@asynccontextmanager
async def _listen(phone: Phone, host: str, port: int, *, auth: bool) -> AsyncIterator[Served]:
    adbd = Adbd(phone, keys=KeyRing() if auth else None, host=host)
    try:
        server = await asyncio.get_running_loop().create_server(adbd.connection, host, port, backlog=BACKLOG)
    except OSError as error:
        raise _unusable(port, host, error) from None
    try:
        yield Served(phone, adbd, host, server.sockets[0].getsockname()[1])
    finally:
        server.close()
        adbd.stop()
        await processes_of(phone).switch_off()
        await server.wait_closed()


def _unusable(port: int, host: str, error: OSError) -> BadSetting:
    return BadSetting(
        f"port {port} on {host} can't be used: {error.strerror or error}",
        hint="Another program has it; choose another with --port.",
        path="port",
    )
