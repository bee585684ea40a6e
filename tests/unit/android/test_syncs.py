"""Which apps get channels, when they are opened, and that they are let go. Against the simulated phone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from handrail.android.adb_channel import AdbChannel
from handrail.android.driver import connect
from handrail.android.sync import AGAIN_FIRST_MS, MOST_LOSSES, OPEN_MS, FrameworkSyncs
from handrail.clock import SystemClock
from handrail.errors import InvalidAction
from handrail.screen.node import Screen
from handrail_sim.stream import Stream
from tests.unit.android.sim_phone import Bench, play

REACT, FLUTTER, COMPOSE = "com.handrail.reactlab", "com.handrail.flutterlab", "com.handrail.composelab"
NATIVE = ("com.google.android.contacts", "com.android.settings", "com.handrail.shop", "com.android.launcher3")
Story = Callable[[Bench, FrameworkSyncs], Awaitable[None]]


class LateClock(SystemClock):
    """The machine's clock, and time that a story skips."""

    def __init__(self) -> None:
        self.skipped_ms = 0.0

    def monotonic_ms(self) -> float:
        return super().monotonic_ms() + self.skipped_ms


def synced(story: Story, clock: SystemClock | None = None) -> None:
    async def run(bench: Bench) -> None:
        # A loaded machine may take longer to open a channel than an answer waits for it.
        syncs = FrameworkSyncs(bench.device, clock or bench.clock, {}, bench.said.append, open_ms=20_000)
        try:
            await story(bench, syncs)
        finally:
            await syncs.close()
            for package in (REACT, FLUTTER, COMPOSE):
                bench.phone.force_stop(package)

    play(run)


async def seen(bench: Bench, package: str) -> Screen:
    bench.phone.start_activity(package=package)
    return await AdbChannel(bench.device, bench.clock).look()


def test_a_native_app_is_never_asked() -> None:
    async def story(bench: Bench, syncs: FrameworkSyncs) -> None:
        for package in NATIVE:
            screen = await seen(bench, package)
            opened = len(bench.link.opened)
            syncs.notice(screen)
            assert await syncs.wait(screen, 1000) is None
            assert await syncs.labels(screen) is None
            assert len(bench.link.opened) == opened, bench.link.opened[opened:]
        assert bench.said == []

    synced(story)


def test_channels_are_opened_once_for_all_that_ask() -> None:
    async def story(bench: Bench, syncs: FrameworkSyncs) -> None:
        screen = await seen(bench, REACT)
        syncs.notice(screen)
        told = await asyncio.gather(*(syncs.wait(screen, 3000) for _ in range(3)))
        assert [one is not None and one.idle for one in told] == [True] * 3
        assert sum("attached to" in line for line in bench.said) == 1
        names = await syncs.labels(screen)
        assert names is not None
        assert "RefreshButton" in names.values()

    synced(story)


def test_each_framework_says_what_it_has() -> None:
    async def story(bench: Bench, syncs: FrameworkSyncs) -> None:
        found = {}
        for package in (REACT, FLUTTER, COMPOSE):
            told = await syncs.wait(await seen(bench, package), 3000)
            assert told is not None
            found[told.framework] = told.channels
        assert found == {"react_native": ("hermes",), "flutter": ("dart_vm",), "compose": ("idling",)}

    synced(story)


def test_only_a_wordless_canvas_is_asked_for_semantics_and_only_once() -> None:
    async def story(bench: Bench, syncs: FrameworkSyncs) -> None:
        screen = await seen(bench, FLUTTER)
        first = await syncs.wait(screen, 3000)
        again = await syncs.wait(screen, 3000)
        assert first is not None
        assert again is not None
        assert (first.refreshed, again.refreshed) == (True, False)

    synced(story)


def test_a_new_process_gets_new_channels_within_the_same_wait() -> None:
    async def story(bench: Bench, syncs: FrameworkSyncs) -> None:
        assert await syncs.wait(await seen(bench, REACT), 3000) is not None
        bench.phone.force_stop(REACT)
        told = await syncs.wait(await seen(bench, REACT), 3000)
        assert told is not None
        assert told.channels == ("hermes",)
        assert sum("attached to" in line for line in bench.said) == 2

    synced(story)


def test_an_app_that_could_not_be_asked_is_tried_again_after_a_while() -> None:
    clock = LateClock()

    async def story(bench: Bench, syncs: FrameworkSyncs) -> None:
        screen = await seen(bench, REACT)
        metro = bench.phone.ports.pop("tcp:8081")
        assert await syncs.wait(screen, 3000) is None
        bench.phone.ports["tcp:8081"] = metro
        assert await syncs.wait(screen, 3000) is None
        clock.skipped_ms += AGAIN_FIRST_MS
        assert await syncs.wait(screen, 3000) is not None

    synced(story, clock)


class CutShort:
    """A stream that carries a list of targets, or a handshake and three messages, and then no more."""

    def __init__(self, stream: Stream) -> None:
        self.read = stream.read
        self.close = stream.close
        self._stream = stream
        self._left = 4

    async def write(self, data: bytes) -> None:
        if not self._left:
            self._stream.close()
            raise BrokenPipeError
        self._left -= 1
        await self._stream.write(data)


def test_channels_that_break_again_and_again_are_left_alone_for_a_while() -> None:
    async def story(bench: Bench, syncs: FrameworkSyncs) -> None:
        screen = await seen(bench, REACT)
        metro = bench.phone.ports["tcp:8081"]
        bench.phone.ports["tcp:8081"] = lambda stream: metro(CutShort(stream))
        for _ in range(5):
            assert await syncs.wait(screen, 3000) is None
        assert sum("attached to" in line for line in bench.said) == MOST_LOSSES
        bench.phone.ports["tcp:8081"] = metro

    synced(story)


def test_a_peer_that_never_answers_holds_up_an_answer_no_longer_than_its_share() -> None:
    clock = LateClock()

    async def silent(stream: Stream) -> None:
        while await stream.read():
            clock.skipped_ms += OPEN_MS

    async def story(bench: Bench, syncs: FrameworkSyncs) -> None:
        screen = await seen(bench, REACT)
        bench.phone.ports["tcp:8081"] = silent
        assert await syncs.wait(screen, 3000) is None
        del bench.phone.ports["tcp:8081"]

    synced(story, clock)


@pytest.mark.parametrize("name", ["HANDRAIL_DISABLE_FRAMEWORK_SYNC", "AGENTEST_DISABLE_FRAMEWORK_SYNC"])
def test_the_environment_switches_all_of_it_off(name: str) -> None:
    async def story(bench: Bench) -> None:
        driver = await connect(bench.device, clock=bench.clock, helper="none", env={name: "1"})
        assert driver.syncs is None

    play(story)


def test_a_bad_address_of_metro_is_refused_by_name() -> None:
    async def story(bench: Bench) -> None:
        with pytest.raises(InvalidAction, match="HANDRAIL_METRO"):
            await connect(bench.device, clock=bench.clock, helper="none", env={"HANDRAIL_METRO": "8081"})

    play(story)
