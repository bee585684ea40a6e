"""Somebody who types into a simulated phone by one route or another, and asks the app what came."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.android.driver import Driver, connect
from handrail.android.text_entry import TextEntry, TextMethod
from handrail.clock import SystemClock
from handrail.config import Helper
from handrail.screen.node import Screen
from handrail.surface.values import Typed
from handrail_sim.adbd.server import serve
from handrail_sim.phone import Phone

HELPERS: dict[str, Helper] = {"u2": "u2", "helper": "handrail"}
CTRL, A, DELETE = 0x3000, 29, 67
U2_KEYBOARD = "com.github.uiautomator"
OTHER_KEYBOARD = "com.android.adbkeyboard"


@dataclass(frozen=True)
class Place:
    """A field of an app: how to get there, and what the app itself has in it."""

    activity: str
    field: str
    value: Callable[[dict[str, Any], Phone], str]
    several_lines: bool = False


PLACES = {
    "single-line": Place(
        "com.handrail.notes/.EditActivity", "title", lambda state, _: str(state["front"]["state"]["title"])
    ),
    "multi-line": Place(
        "com.handrail.notes/.EditActivity",
        "body",
        lambda state, _: str(state["front"]["state"]["body"]),
        several_lines=True,
    ),
    "search": Place(
        "com.android.settings/.search.SearchActivity",
        "search_src_text",
        lambda state, _: str(state["front"]["state"]["query"]),
    ),
    "password": Place(
        "com.handrail.bank/.LoginActivity", "password", lambda _, phone: phone.tasks.top.field("password")
    ),
}


@dataclass
class Person:
    """One phone in hand, the cursor in one field."""

    phone: Phone
    device: AdbDevice
    driver: Driver
    place: Place

    async def look(self) -> Screen:
        return await self.driver.look()

    async def type_text(self, text: str) -> Typed:
        return await self.driver.text.type_text(text)

    async def clear_text(self) -> Typed:
        return await self.driver.text.clear_text()

    def ways(self, text: str) -> Sequence[TextMethod]:
        """Those that the driver has at the moment, one by one."""
        return TextEntry(self.device.shell, self.look, SystemClock(), self.driver.in_use).ways(text)

    def value(self) -> str:
        """What the app has, not what the screen shows."""
        return self.place.value(self.phone.state(), self.phone)

    def start_over(self) -> None:
        """An empty field, by the phone's own keys."""
        self.phone.key(A, meta=CTRL)
        self.phone.key(DELETE)
        assert self.value() == ""
        self.phone.input_log.clear()

    @property
    def keyboard(self) -> str:
        return str(self.phone.settings["secure"].get("default_input_method", ""))


@asynccontextmanager
async def person(route: str, place: Place) -> AsyncIterator[Person]:
    """A phone of its own, reached over a socket."""
    phone, clock = Phone(clock=SystemClock(), serial="typing"), SystemClock()
    async with serve([phone], port=0) as [served]:
        device = AdbDevice(Direct(served.host, served.port, keys=()), clock)
        try:
            async with _driver(route, phone, device) as driver:
                await go_to(phone, place)
                yield Person(phone, device, driver, place)
        finally:
            await device.close()


async def go_to(phone: Phone, place: Place) -> None:
    """Open the screen and tap the field."""
    phone.start_activity(place.activity)
    window = phone.focused_window()
    assert window is not None
    view = window.find(place.field)
    assert view is not None, place.field
    await phone.tap(view.x + view.w / 2, view.y + view.h / 2)


@asynccontextmanager
async def _driver(route: str, phone: Phone, device: AdbDevice) -> AsyncIterator[Driver]:
    if route == "vendor clipboard":
        phone.props["debug.sim.cmd_clipboard"] = "1"
    if route.endswith("keyboard"):
        phone.packages.install(U2_KEYBOARD if route.startswith("u2") else OTHER_KEYBOARD)
    driver = await connect(device, clock=SystemClock(), helper=HELPERS.get(route, "none"), env={})
    try:
        assert isinstance(driver, Driver)
        expected = [route] if route in HELPERS else []
        assert [channel.name for channel in driver.in_use()] == expected, driver.diagnostics()
        yield driver
    finally:
        await driver.close()
