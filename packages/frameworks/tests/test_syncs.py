"""Which apps get channels, when they are opened, and that they are let go. Against the simulated phone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from handrail.android.adb_channel import AdbChannel
from handrail.android.driver import connect
from handrail.clock import SystemClock
from handrail.errors import InvalidAction
from handrail.screen.node import Screen
from handrail_frameworks import MOST_LOSSES, OPEN_MS, FrameworkSyncs
from handrail_frameworks.framework_sync import FrameworkSync
from handrail_sim.stream import Stream
from tests.unit.android.sim_phone import Bench, play

REACT, FLUTTER, COMPOSE = "com.handrail.reactlab", "com.handrail.flutterlab", "com.handrail.composelab"
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


def test_each_framework_says_what_it_has() -> None:
    async def story(bench: Bench, syncs: FrameworkSyncs) -> None:
        found = {}
        for package in (REACT, FLUTTER, COMPOSE):
            told = await syncs.wait(await seen(bench, package), 3000)
            assert told is not None
            found[told.framework] = told.channels
        assert found == {"react_native": ("hermes",), "flutter": ("dart_vm",), "compose": ("idling",)}

    synced(story)


def test_an_app_with_a_bridge_has_it_and_says_so() -> None:
    async def story(bench: Bench, _: FrameworkSyncs) -> None:
        bench.phone.start_activity(package=COMPOSE)
        sync = FrameworkSync("compose", COMPOSE, device=bench.device, clock=bench.clock, env={})
        assert not sync.has_idling_bridge
        await sync.attach()
        assert (sync.has_idling_bridge, sync.has_hermes, sync.has_dart_vm) == (True, False, False)
        await sync.close()
        assert not sync.has_idling_bridge

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


def test_a_bad_address_of_metro_is_refused_by_name() -> None:
    async def story(bench: Bench) -> None:
        with pytest.raises(InvalidAction, match="HANDRAIL_METRO"):
            await connect(bench.device, clock=bench.clock, helper="none", env={"HANDRAIL_METRO": "8081"})

    play(story)
