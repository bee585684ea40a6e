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
from handrail.errors import AdbCommandError, GrpcRpcError, HandrailError, SecureScreen, Timeout, Unsupported
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
        self._do(f"{gesture.kind} {gesture.start.x} {gesture.start.y}")

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


class TwoFingers(Fake):
    name = "grpc"
    gestures = frozenset({"tap", "pinch"})


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


@story
async def test_the_first_channel_that_can_serves_and_adb_does_the_rest() -> None:
    u2 = Fake()
    scene = Scene(u2)
    driver = await scene.open()
    assert await scene.label() == "by u2"
    await driver.perform(fingers.tap(1, 2))
    await driver.perform(fingers.swipe(1, 2, 3, 4, 100))
    assert u2.did == ["look", "tap 1 2"]
    assert scene.phone.ran == ["input swipe 1 2 3 4 100"]
    table = driver.channels()
    assert (table["look"], table["swipe"]) == ("u2", "adb")
    assert not driver.waits_for_idle


@story
async def test_a_failed_read_goes_on_to_adb_and_is_said_once() -> None:
    u2 = Fake(failure("unknown"))
    scene = Scene(u2)
    driver = await scene.open()
    assert [await scene.label() for _ in range(3)] == ["by adb"] * 3
    assert u2.did == ["look"]
    lines = driver.diagnostics()
    assert len(lines) == 1
    assert "u2: put aside" in lines[0]
    assert "the server is gone" in lines[0]
    assert driver.diagnostics() == []
    assert driver.waits_for_idle
    assert "the server is gone" in driver.channels()["u2"]


@story
async def test_a_channel_that_is_put_aside_is_closed_so_that_adb_may_dump() -> None:
    u2 = Fake(failure("unknown"))
    scene = Scene(u2)
    await scene.open()
    await scene.label()
    assert u2.closed == 1


@story
async def test_input_is_sent_again_only_when_nothing_was_delivered() -> None:
    scene = Scene(Fake(failure("not_delivered")))
    driver = await scene.open()
    await driver.perform(fingers.tap(5, 6))
    assert scene.phone.ran == ["input tap 5 6"]


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
async def test_input_does_not_wait_while_a_channel_is_opened_again() -> None:
    u2 = Fake(failure("unknown"))
    scene = Scene(u2)
    driver = await scene.open()
    await scene.label()
    await scene.clock.advance(1_000)
    await driver.perform(fingers.tap(5, 6))
    assert scene.phone.ran[-1] == "input tap 5 6"
    await asyncio.sleep(0)
    assert driver.in_use() == [u2]


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
async def test_pauses_grow_while_it_keeps_failing_and_are_short_again_after_it_worked() -> None:
    u2 = Fake(*(failure("unknown") for _ in range(3)))
    scene = Scene(u2)
    driver = await scene.open()
    for pause_ms in (1_000, 2_000, 4_000):
        assert await scene.label() == "by adb"
        await scene.clock.advance(pause_ms - 1)
        assert await scene.label() == "by adb"
        assert driver.in_use() == []
        await scene.clock.advance(1)
    assert await scene.label() == "by u2"
    u2.errors.append(failure("unknown"))
    await scene.label()
    assert "after 1 s" in driver.diagnostics()[-1]


@story
async def test_a_channel_that_never_opened_is_told_once_and_left_alone() -> None:
    scene = Scene(None)
    driver = await scene.open()
    await scene.clock.advance(100_000)
    assert await scene.label() == "by adb"
    assert driver.diagnostics() == ["u2: not in use: no jar"]
    assert scene.opened == 1


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
async def test_two_fingers_are_where_a_channel_has_them_and_refused_with_reasons_elsewhere() -> None:
    grpc = TwoFingers()
    driver = await Scene(grpc, None).open()
    await driver.perform(fingers.pinch(500, 500, 100, 200, 300))
    assert grpc.did == ["pinch 400 500"]
    with pytest.raises(Unsupported, match="grpc has no rotate") as caught:
        await driver.perform(fingers.rotate(500, 500, 100, 0, 90, 300))
    assert "no jar" in caught.value.message
    assert caught.value.details["delivery"] == "not_delivered"


@story
async def test_the_order_is_grpc_then_helper_then_adb() -> None:
    grpc, helper = TwoFingers(GrpcRpcError("down", delivery="not_delivered")), WithEvents()
    scene = Scene(grpc, helper)
    driver = await scene.open()
    await driver.perform(fingers.tap(1, 1))
    assert (grpc.did, helper.did, scene.phone.ran) == (["tap 1 1"], ["tap 1 1"], [])


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
