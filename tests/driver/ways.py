"""The ways to a phone over which the driver keeps its promises, and the phone at the end of one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import wraps

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.link import Link
from handrail.adb.server import Server
from handrail.android.driver import Driver, connect
from handrail.config import Helper
from handrail.screen.node import Node, Screen
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone
from tests.scenario.world import play, play_live, usual_clock

TRANSPORTS = ("direct", "server")
HELPERS: tuple[Helper, ...] = ("none", "u2", "handrail")
CHANNELS = {"none": "adb", "u2": "u2", "handrail": "helper"}
SETTINGS = "com.android.settings"
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Way:
    """How a phone is reached; with a serial it is a real one."""

    transport: str
    helper: Helper
    server_port: int
    serial: str | None = None


@dataclass(frozen=True)
class Held:
    """A phone in the hand: its driver, and the simulated phone itself unless it is a real one."""

    driver: Driver
    way: Way
    sim: Phone | None

    @property
    def phone(self) -> Phone:
        assert self.sim is not None, "mark the test with pytest.mark.simulator"
        return self.sim

    async def sh(self, *command: str) -> str:
        return (await self.driver.shell.run(command)).text

    async def open_settings(self) -> Screen:
        """The first screen of the app that every Android has."""
        await self.sh("am", "force-stop", SETTINGS)
        await self.sh("am", "start", "-W", "-a", "android.settings.SETTINGS")
        return await self.until(lambda screen: screen.package == SETTINGS and len(rows(screen)) > 2)

    async def start(self, component: str) -> None:
        await self.sh("am", "start", "-W", "-n", component)

    async def until(self, holds: Callable[[Screen], object]) -> Screen:
        """The first screen for which it holds."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                screen = await self.driver.look()
                if holds(screen):
                    return screen
                await asyncio.sleep(0.02)  # a look takes no time in a story


def rows(screen: Screen) -> list[Node]:
    """What can be tapped and has words, away from the edges."""
    return [
        node
        for node in screen.nodes
        if node.clickable
        and node.package_name == screen.package
        and screen.height * 0.25 < node.center.y < screen.height * 0.8
        and any(inner.text for inner in screen.inside(node))
    ]


def texts(screen: Screen) -> set[str]:
    return {node.text for node in screen.nodes if node.text}


def node_of(screen: Screen, words: str) -> Node:
    return next(node for node in screen.nodes if words in (node.text, node.description))


@asynccontextmanager
async def hold(way: Way, phone: Phone | None = None) -> AsyncIterator[Held]:
    """Connect, and leave nothing behind."""
    async with AsyncExitStack() as stack:
        sim = None
        link: Link
        if way.serial is not None:
            server = Server(port=way.server_port)
            await server.start()
            link = server.link(way.serial)
        else:
            sim = phone or Phone(clock=usual_clock())
            [served] = await stack.enter_async_context(serve([sim], port=0))
            if way.transport == "server":
                server = Server(port=way.server_port)
                await server.connect(served.address)
                stack.push_async_callback(server.disconnect, served.address)
                link = server.link(served.address)
            else:
                link = Direct("127.0.0.1", served.port)
        driver = await connect(AdbDevice(link), clock=usual_clock(), helper=way.helper, env=os.environ)
        stack.push_async_callback(driver.close)
        yield Held(driver, way, sim)


def promise(test: Callable[[Held], Awaitable[None]]) -> Callable[[Way], None]:
    """A coroutine that gets a phone, as a test that is run over every way."""

    async def story(way: Way) -> None:
        async with hold(way) as held:
            await test(held)

    @wraps(test)
    def run(way: Way) -> None:
        in_this_process = way.serial is None and way.transport == "direct"
        (play if in_this_process else play_live)(story(way))

    del run.__wrapped__  # pytest would look for the coroutine's parameters
    return run
