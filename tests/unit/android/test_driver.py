"""Which channel serves what, what happens when one fails, and how it comes back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

import pytest

from handrail.adb.shell import Command, Output
from handrail.android.adb_channel import AdbChannel
from handrail.android.channel import Channel, ManagedChannel, Say
from handrail.android.driver import Driver
from handrail.errors import AdbCommandError, HandrailError, SecureScreen, Timeout, Unsupported
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from handrail.surface.gesture import Gesture
from handrail.surface.values import IdleResult
from handrail_sim.clock import ManualClock
from tests import fingers
from tests.cases import each

XML = (
    '<hierarchy rotation="0"><node text="{}" class="android.widget.Button" bounds="[0,0][9,9]" /></hierarchy>'
)


class PlainPhone:
    """An AdbDevice whose shell knows two commands."""

    def __init__(self) -> None:
        self.link = self
        self.shell = self
        self.serial = "plain"
        self.ran: list[str] = []
        self.closed = False

    async def run(self, command: Command, **_: object) -> Output:
        line = command if isinstance(command, str) else " ".join(command)
        self.ran.append(line)
        return Output(XML.format("by adb").encode() if "uiautomator" in line else b"", b"", 0)

    async def close(self) -> None:
        self.closed = True


class Fake(Channel):
    """Does what it is told: fails with the errors that it holds, then works."""

    name = "u2"
    gestures = frozenset({"tap"})

    def __init__(self, *errors: HandrailError) -> None:
        self.errors = list(errors)
        self.did: list[str] = []
        self.closed = 0

    def _do(self, what: str) -> None:
        self.did.append(what)
        if self.errors:
            raise self.errors.pop(0)

    async def look(self) -> Screen:
        self._do("look")
        return parse(XML.format("by u2"))

    async def perform(self, gesture: Gesture) -> None:
        self._do(f"{gesture.kind} {gesture.start_point.x} {gesture.start_point.y}")

    async def screenshot(self) -> bytes:
        self._do("screenshot")
        return b""

    async def close(self) -> None:
        self.closed += 1


class WithEvents(Fake):
    name = "helper"

    async def wait_idle(self, timeout_ms: float) -> IdleResult:
        self._do("wait_idle")
        return IdleResult(True, True, "events_quiet")


class Scene:
    """A routed driver and all that it is made of."""

    def __init__(self, *channels: Channel | None) -> None:
        self.clock = ManualClock()
        self.phone = PlainPhone()
        self.opened = 0
        self.hang = False
        lines: deque[str] = deque()
        self.waiting = {id(channel): [channel] for channel in channels}
        doors = [
            ManagedChannel(channel.name if channel else "u2", self._opener(channel), self.clock, lines.append)
            for channel in channels
        ]
        adb = AdbChannel(self.phone, self.clock)
        self.driver = Driver(adb, doors, self.clock, lines)

    def _opener(self, channel: Channel | None) -> Callable[[Say], Awaitable[Channel | None]]:
        async def opener(say: Say) -> Channel | None:
            self.opened += 1
            if self.hang:
                await asyncio.Event().wait()
            if channel is None:
                say("no jar")
            return channel

        return opener

    async def label(self) -> str:
        return (await self.driver.look()).root.text

    async def open(self) -> Driver:
        for door in self.driver.doors:
            await door.open()
        return self.driver


def story(test: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    def run() -> None:
        asyncio.run(test())

    run.__name__ = test.__name__
    return run


def failure(delivery: str) -> AdbCommandError:
    return AdbCommandError("the server is gone", delivery=delivery)


@each("error", [failure("unknown"), AdbCommandError("?"), Timeout("late", delivery="unknown")])
def test_input_that_may_have_arrived_is_not_sent_again(error: HandrailError) -> None:
    async def test() -> None:
        scene = Scene(Fake(error))
        driver = await scene.open()
        with pytest.raises(type(error)):
            await driver.perform(fingers.tap(5, 6))
        assert scene.phone.ran == []

    asyncio.run(test())


@story
async def test_a_channel_comes_back_by_itself_after_its_pause() -> None:
    u2 = Fake(failure("unknown"))
    scene = Scene(u2)
    driver = await scene.open()
    await scene.label()
    assert await scene.label() == "by adb"
    await scene.clock.advance(1_000)
    assert await scene.label() == "by u2"
    assert driver.diagnostics()[-1] == "u2: in use again"


@story
async def test_a_look_waits_a_while_for_a_channel_that_is_opening_and_then_goes_by_adb() -> None:
    scene = Scene(Fake(failure("unknown")))
    driver = await scene.open()
    await scene.label()
    scene.hang = True
    await scene.clock.advance(1_000)
    look = asyncio.ensure_future(scene.label())
    while scene.opened < 2:
        await asyncio.sleep(0)
    await scene.clock.advance(4_900)
    assert not look.done()
    await scene.clock.advance(200)
    assert await look == "by adb"
    await driver.close()


@story
async def test_what_a_channel_can_not_do_with_this_argument_goes_on_without_harm() -> None:
    u2 = Fake(Unsupported("no such key", delivery="not_delivered"))
    scene = Scene(u2)
    driver = await scene.open()
    await driver.perform(fingers.tap(5, 6))
    assert scene.phone.ran == ["input tap 5 6"]
    assert driver.in_use() == [u2]


@story
async def test_a_secure_screen_is_an_answer_and_no_fault_of_the_channel() -> None:
    u2 = Fake(SecureScreen("bank"))
    scene = Scene(u2)
    driver = await scene.open()
    with pytest.raises(SecureScreen):
        await driver.screenshot()
    assert driver.in_use() == [u2]


@story
async def test_idle_is_none_where_no_channel_hears_events() -> None:
    assert await (await Scene(Fake()).open()).wait_idle(1000) is None
    assert await (await Scene(WithEvents()).open()).wait_idle(1000) == IdleResult(True, True, "events_quiet")
    assert await (await Scene(WithEvents(failure("unknown"))).open()).wait_idle(1000) is None


@story
async def test_closing_closes_every_channel_and_the_device_and_ends_what_was_opening() -> None:
    u2, helper = Fake(failure("unknown")), WithEvents()
    scene = Scene(u2, helper)
    driver = await scene.open()
    await scene.label()
    scene.hang = True
    await scene.clock.advance(1_000)
    await driver.perform(fingers.tap(5, 6))
    assert len(asyncio.all_tasks()) == 2
    await driver.close()
    await driver.close()
    assert scene.phone.closed
    assert (u2.closed, helper.closed) == (1, 1)
    assert driver.in_use() == []
    assert asyncio.all_tasks() == {asyncio.current_task()}
