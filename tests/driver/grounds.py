"""A phone, an iPhone and a browser as the same thing: a surface, a few scenes on it, and a foreign witness.

The phones' witness is the simulated phone's own state and input log; the browser's is the page's own script.
"""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.android.driver import connect
from handrail.android.surface import AndroidSurface
from handrail.clock import SystemClock
from handrail.ios.surface import open_iphone
from handrail.screen.node import Node, Screen
from handrail.surface.capabilities import Apps, ScreenReader, Surface, Touch
from handrail.surface.gesture import tap
from handrail_sim.adbd.server import serve
from handrail_sim.iphone import ServedIPhone, simulated_iphone
from handrail_sim.phone import Phone
from tests.browser.stage import Site, Stage, served, staged

PATIENCE_S = 60.0
CONTACTS = "com.google.android.contacts"
EDITOR = "com.android.contacts.activities.ContactEditorActivity"
SETTINGS = "com.android.settings"
Point = tuple[int, int]


class Ground(ABC):
    """Where the promises are tried."""

    surface: Surface

    def can(self, kind: type[Any]) -> Any:
        return self.surface.need(kind)

    async def look(self) -> Screen:
        screen = await self.can(ScreenReader).look()
        assert isinstance(screen, Screen)
        return screen

    async def until(self, holds: Callable[[Screen], object]) -> Screen:
        """The first screen for which it holds."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                screen = await self.look()
                if holds(screen):
                    return screen

    @abstractmethod
    async def show_list(self) -> Screen:
        """A long list that scrolls."""

    @abstractmethod
    async def show_field(self) -> Node:
        """An empty field that takes text."""

    @abstractmethod
    async def presses(self) -> list[Point]:
        """Where the device itself felt something come down, since the scene began."""

    @abstractmethod
    async def felt(self) -> int:
        """How much of anything the device itself has felt."""

    @abstractmethod
    async def end(self) -> None:
        """The device goes away."""


class PhoneGround(Ground):
    def __init__(self, surface: AndroidSurface, phone: Phone, hang_up: Callable[[], Any]) -> None:
        self.surface = surface
        self._phone = phone
        self._hang_up = hang_up

    async def show_list(self) -> Screen:
        await self.can(Apps).start(SETTINGS, None)
        screen = await self.until(lambda one: one.package == SETTINGS and len(one.nodes) > 20)
        self._phone.input_log.clear()
        return screen

    async def show_field(self) -> Node:
        await self.can(Apps).start(CONTACTS, EDITOR)
        screen = await self.until(lambda one: any(node.role == "text_field" for node in one.nodes))
        self._phone.input_log.clear()
        return next(node for node in screen.nodes if node.role == "text_field")

    async def presses(self) -> list[Point]:
        return [(one["x"], one["y"]) for one in self._phone.input_log if one.get("action") == "down"]

    async def felt(self) -> int:
        return len(self._phone.input_log)

    async def end(self) -> None:
        await self._hang_up()


class IPhoneGround(Ground):
    def __init__(self, surface: Surface, served: ServedIPhone) -> None:
        self.surface = surface
        self._phone = served.phone

    async def show_list(self) -> Screen:
        await self.can(Apps).start("com.apple.Preferences", None)
        screen = await self.until(lambda one: one.package == "com.apple.Preferences" and len(one.nodes) > 20)
        self._phone.input_log.clear()
        return screen

    async def show_field(self) -> Node:
        await self.can(Apps).start("com.apple.MobileAddressBook", None)
        screen = await self.until(lambda one: "Create new contact" in descriptions(one))
        create = next(node for node in screen.nodes if node.description == "Create new contact")
        await self.can(Touch).perform(tap(create.center))
        screen = await self.until(lambda one: any(node.role == "text_field" for node in one.nodes))
        self._phone.input_log.clear()
        return next(node for node in screen.nodes if node.role == "text_field")

    async def presses(self) -> list[Point]:
        return [(one["x"], one["y"]) for one in self._phone.input_log if one.get("action") == "down"]

    async def felt(self) -> int:
        return len(self._phone.input_log)

    async def end(self) -> None:
        self._phone.faults.load(["phone_gone", "wda_gone"])


def descriptions(screen: Screen) -> set[str]:
    return {node.description for node in screen.nodes}


class BrowserGround(Ground):
    def __init__(self, stage: Stage) -> None:
        self.surface = stage.surface
        self._stage = stage

    async def _show(self, body: str) -> None:
        log = (
            "<script>downs = []; keys = 0; addEventListener('keydown', () => keys++, true);"
            "addEventListener('mousedown', (one) => downs.push([one.clientX, one.clientY]), true)</script>"
        )
        await self.can(Apps).open_url(self._stage.site.put(log + body, "/ground"))

    async def show_list(self) -> Screen:
        rows = "".join(f"<li style='height: 60px'><a href=#{at}>Row {at}</a></li>" for at in range(80))
        await self._show(f"<ul>{rows}</ul>")
        return await self.until(lambda one: len(one.nodes) > 10)

    async def show_field(self) -> Node:
        await self._show("<h1>Person</h1><input aria-label=Name>")
        screen = await self.until(lambda one: any(node.role == "text_field" for node in one.nodes))
        return next(node for node in screen.nodes if node.role == "text_field")

    async def presses(self) -> list[Point]:
        return [(x, y) for x, y in await self._stage.js("downs")]

    async def felt(self) -> int:
        return int(await self._stage.js("keys + downs.length"))

    async def end(self) -> None:
        self._stage.browser.process.kill()
        await self._stage.browser.process.wait()


@asynccontextmanager
async def phone_ground() -> AsyncIterator[Ground]:
    phone = Phone(clock=SystemClock())
    async with AsyncExitStack() as cable:
        [one] = await cable.enter_async_context(serve([phone], port=0))
        device = AdbDevice(Direct("127.0.0.1", one.port))
        driver = await connect(device, clock=SystemClock(), helper="none", env=os.environ)
        try:
            yield PhoneGround(AndroidSurface(device, driver, SystemClock()), phone, cable.aclose)
        finally:
            await driver.close()


@asynccontextmanager
async def iphone_ground() -> AsyncIterator[Ground]:
    async with simulated_iphone() as served:
        env = {"USBMUXD_SOCKET_ADDRESS": served.usbmux}
        surface = await open_iphone(f"ios:{served.udid}", SystemClock(), env)
        try:
            yield IPhoneGround(surface, served)
        finally:
            await surface.close()


@asynccontextmanager
async def browser_ground(folder: Path) -> AsyncIterator[Ground]:
    site: Site
    with served() as site:
        async with staged(site, folder / "home") as stage:
            yield BrowserGround(stage)
