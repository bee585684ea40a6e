"""The first look at a phone on which the helper fails: another channel serves, soon, and says why."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.android.adb_channel import FIRST_LOOK_MS
from handrail.android.driver import Driver, connect, is_same_screen
from handrail.android.helper_channel import START, STARTUP_TIMEOUT_MS
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from handrail_sim.adbd.server import serve
from handrail_sim.channels import own_helper
from handrail_sim.channels.attach import OWN_MAIN
from handrail_sim.channels.helper import Refusal
from handrail_sim.channels.http import Request
from handrail_sim.phone import Phone
from handrail_sim.shell.call import Call
from handrail_sim.system.profiles import take_on
from tests import fingers
from tests.cases import each
from tests.scenario.world import play, usual_clock
from tests.unit.android.sim_phone import CountingLink
from tests.unit.screen.drawn import node, windows

Main = Callable[[Call], Awaitable[int]]


@dataclass
class Contact:
    """One session with the phone: what it cost until the first screen was there."""

    driver: Driver
    link: CountingLink
    ms: float

    def started(self, words: str) -> int:
        return sum(words in service for service in self.link.opened)

    @property
    def reason(self) -> str:
        return self.driver.channels().get("helper", "")


@asynccontextmanager
async def contact(phone: Phone, port: int, home: Path) -> AsyncIterator[Contact]:
    clock = usual_clock()
    began = clock.monotonic_ms()
    link = CountingLink(Direct("127.0.0.1", port, clock=clock))
    driver = await connect(AdbDevice(link, clock), clock=clock, helper="auto", env={}, home=home)
    try:
        assert (await driver.look()).package
        yield Contact(driver, link, clock.monotonic_ms() - began)
    finally:
        await driver.close()


def on_phone(story: Callable[[Phone, int], Awaitable[None]], main: Main | None = None) -> None:
    """An Android 4.4 whose adbd has neither `exec:` nor shell v2: a terminal echoes all input."""

    async def run() -> None:
        phone = Phone(clock=usual_clock())
        take_on(phone, "android-4")
        if main is not None:
            phone.helper_mains[OWN_MAIN] = main
        async with serve([phone], port=0) as [served]:
            await story(phone, served.port)

    play(run())


def says(**announcement: object) -> Main:
    async def main(call: Call) -> int:
        await call.line(json.dumps(announcement))
        return 1

    return main


async def starts_slowly(call: Call) -> int:
    await call.phone.clock.sleep_ms(40_000)
    return await own_helper.main(call)


async def aborts(call: Call) -> int:
    """As a runtime that finds no main class."""
    return 134


async def complains(call: Call) -> int:
    await call.line("Error: Could not find or load main class")
    return 1


CONNECT_FAILS = says(
    ok=False, code="NO_UIAUTOMATION", error="java.lang.RuntimeException: Error while connecting UiAutomation"
)
HELD = says(ok=False, code="UIAUTOMATION_HELD", error="UiAutomationService already registered!")
FAULTS: list[tuple[Main, str]] = [
    (starts_slowly, "did not start within 30 s"),
    (aborts, "the helper ended: it said nothing"),
    (complains, "Could not find or load main class"),
    (CONNECT_FAILS, "Error while connecting UiAutomation"),
]


@each("fault", FAULTS, ids=[words for _, words in FAULTS])
def test_a_helper_that_can_not_start_costs_its_time_once_and_no_second_dump(
    fault: tuple[Main, str], tmp_path: Path
) -> None:
    main, words = fault
    home = tmp_path / words.replace(" ", "-")

    async def story(phone: Phone, port: int) -> None:
        async with contact(phone, port, home) as first:
            assert first.driver.channels()["look"] == "adb"
            assert words in first.reason
            assert first.ms <= STARTUP_TIMEOUT_MS + 5_000
            is_slow = main is starts_slowly
            assert (first.started("app_process"), first.started("uiautomator dump")) == (1, 1 + is_slow)
            await first.driver.look()
            assert first.started("uiautomator dump") == 2 + is_slow, "the check's dump counts once"
        async with contact(phone, port, home) as later:
            assert words in later.reason
            assert "remembered" in later.reason
            assert (later.started("app_process"), later.started("uiautomator dump")) == (0, 1)
            assert later.ms < 3_000

    on_phone(story, main)


def test_a_holder_of_ui_automation_is_not_held_against_the_helper(tmp_path: Path) -> None:
    async def story(phone: Phone, port: int) -> None:
        async with contact(phone, port, tmp_path) as first:
            assert "holds UiAutomation" in first.reason
        phone.helper_mains[OWN_MAIN] = own_helper.main
        async with contact(phone, port, tmp_path) as later:
            assert later.driver.channels()["look"] == "helper"

    on_phone(story, HELD)


def test_a_check_on_a_phone_without_a_window_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_window(_self: object, _request: Request) -> dict[str, object]:
        raise Refusal("NO_ACTIVE_WINDOW", "no window shows anything to accessibility", 200)

    async def story(phone: Phone, port: int) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(own_helper.OwnHelper, "_look", no_window)
            async with contact(phone, port, tmp_path) as first:
                assert "NO_ACTIVE_WINDOW" in first.reason
        async with contact(phone, port, tmp_path) as later:
            assert later.driver.channels()["look"] == "helper"

    on_phone(story)


def test_a_helper_that_sees_another_screen_is_not_used_and_started_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stale(_self: object, _request: Request) -> dict[str, object]:
        root = {"className": "a.B", "bounds": [0, 0, 10, 10], "packageName": "p", "text": "old"}
        return {"windows": [{"id": 1, "layer": 0, "root": root}]}

    async def story(phone: Phone, port: int) -> None:
        monkeypatch.setattr(own_helper.OwnHelper, "_look", stale)
        async with contact(phone, port, tmp_path) as first:
            assert "differs from plain adb's" in first.reason
            assert (first.started("app_process"), first.started("uiautomator dump")) == (1, 2)
        async with contact(phone, port, tmp_path) as later:
            assert "remembered" in later.reason

    on_phone(story)


def test_a_screen_that_changed_before_the_look_is_compared_with_what_came_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = own_helper.OwnHelper._look

    async def moves_on(self: own_helper.OwnHelper, request: Request) -> dict[str, object]:
        self.phone.start_activity(package="com.handrail.notes")
        return await look(self, request)

    async def story(phone: Phone, port: int) -> None:
        monkeypatch.setattr(own_helper.OwnHelper, "_look", moves_on)
        async with contact(phone, port, tmp_path) as first:
            assert first.driver.channels()["look"] == "helper"
            assert first.started("uiautomator dump") == 2

    on_phone(story)


def test_a_helper_that_the_phone_ends_again_and_again_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(phone: Phone, port: int) -> None:
        clock = usual_clock()
        async with contact(phone, port, tmp_path) as first:
            phone.faults.add("helper_dies")
            for _ in range(30):
                assert (await first.driver.look()).package
                await clock.sleep_ms(1_000)
            assert "was ended 4 times within 60 s of its start" in first.reason
        async with contact(phone, port, tmp_path) as later:
            assert "remembered" in later.reason
            assert later.started("app_process") == 0

    on_phone(story)


def test_the_dump_of_a_check_is_not_used_after_a_touch_nor_when_it_is_old(tmp_path: Path) -> None:
    async def story(phone: Phone, port: int) -> None:
        clock = usual_clock()
        for wait in (True, False):
            link = CountingLink(Direct("127.0.0.1", port, clock=clock))
            device = AdbDevice(link, clock)
            driver = await connect(device, clock=clock, helper="auto", env={}, home=tmp_path / str(wait))
            if wait:
                await clock.sleep_ms(FIRST_LOOK_MS + 1)
            else:
                await driver.perform(fingers.tap(5, 5))
            del link.opened[:]
            await driver.look()
            assert any("uiautomator dump" in service for service in link.opened)
            await driver.close()

    on_phone(story, aborts)


def test_bounds_beyond_the_screen_are_no_difference() -> None:
    def drawn(bottom: int, *more: str) -> Screen:
        low = node("TextView", text="Low", box=(0, 2300, 1080, bottom))
        return parse(
            windows(node("FrameLayout", node("TextView", text="In", box=(0, 100, 1080, 200)), low, *more))
        )

    hidden = node("Button", text="What a dump leaves out", box=(0, 2390, 10, 2400))
    assert is_same_screen(drawn(2400), drawn(2600, hidden))
    assert not is_same_screen(drawn(2400), drawn(2350, hidden))


def test_the_jar_is_compiled_where_this_user_may_write() -> None:
    """Root keeps Dalvik's own folder: elsewhere the whole framework would be compiled once more."""
    assert START.index("-ge 21 ]") < START.index("[ -w /data/dalvik-cache ]") < START.index("ANDROID_DATA=")
