"""The clock that stands still until it is told otherwise."""

import asyncio
import socket

import pytest

from handrail.clock import SystemClock, WallClock, iso_time
from handrail_sim.clock import ManualClock
from tests.cases import each


async def _sleeper(clock: ManualClock, name: str, duration_ms: float, woken: list[tuple[str, float]]) -> None:
    await clock.sleep_ms(duration_ms)
    woken.append((name, clock.monotonic_ms()))


async def test_time_stands_still_until_it_is_advanced() -> None:
    clock = ManualClock(1_000)
    assert (clock.now_ms(), clock.monotonic_ms()) == (1_000, 0)
    await clock.advance(1_500.5)
    assert (clock.now_ms(), clock.monotonic_ms()) == (2_500, 1_500.5)


async def test_sleepers_wake_in_the_order_of_their_deadlines_at_their_own_times() -> None:
    clock = ManualClock()
    woken: list[tuple[str, float]] = []
    plan = [("late", 30), ("early", 10), ("middle", 20), ("middle too", 20)]
    tasks = [asyncio.create_task(_sleeper(clock, name, ms, woken)) for name, ms in plan]
    await clock.advance(100)
    await asyncio.gather(*tasks)
    assert woken == [("early", 10), ("middle", 20), ("middle too", 20), ("late", 30)]


async def test_nobody_wakes_before_the_deadline() -> None:
    clock = ManualClock()
    woken: list[tuple[str, float]] = []
    task = asyncio.create_task(_sleeper(clock, "one", 10, woken))
    await clock.advance(9.9)
    assert woken == []
    await clock.advance(0.1)
    assert woken == [("one", 10)]
    await task


async def test_who_sleeps_again_within_the_time_wakes_again() -> None:
    clock = ManualClock()
    beats: list[float] = []

    async def beat() -> None:
        for _ in range(4):
            await clock.sleep_ms(10)
            beats.append(clock.monotonic_ms())

    task = asyncio.create_task(beat())
    await clock.advance(35)
    assert not task.done()
    await clock.advance(5)
    await task
    assert beats == [10, 20, 30, 40]


async def test_a_cancelled_sleeper_disturbs_nobody() -> None:
    clock = ManualClock()
    woken: list[tuple[str, float]] = []
    gone = asyncio.create_task(_sleeper(clock, "gone", 10, woken))
    stays = asyncio.create_task(_sleeper(clock, "stays", 20, woken))
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    await clock.advance(20)
    await stays
    assert woken == [("stays", 20)]


async def test_who_wakes_has_done_everything_it_can_before_the_next_one_wakes() -> None:
    """However many turns of the loop that takes."""
    clock = ManualClock()
    done: list[tuple[str, float]] = []

    async def slow() -> None:
        await clock.sleep_ms(10)
        for _ in range(100):
            await asyncio.sleep(0)
        done.append(("slow", clock.monotonic_ms()))

    tasks = [asyncio.create_task(slow()), asyncio.create_task(_sleeper(clock, "next", 11, done))]
    await clock.advance(20)
    await asyncio.gather(*tasks)
    assert done == [("slow", 10), ("next", 11)]


async def test_bytes_on_the_way_within_this_process_arrive_before_the_next_one_wakes() -> None:
    clock = ManualClock()
    done: list[tuple[str, float]] = []
    here, there = socket.socketpair()

    async def send() -> None:
        await clock.sleep_ms(10)
        there.send(b"x")

    async def receive() -> None:
        data = await asyncio.get_running_loop().sock_recv(here, 1)
        done.append((data.decode(), clock.monotonic_ms()))

    with here, there:
        here.setblocking(False)
        works = (receive(), send(), _sleeper(clock, "next", 11, done))
        tasks = [asyncio.create_task(one) for one in works]
        await clock.advance(20)
        await asyncio.gather(*tasks)
    assert done == [("x", 10), ("next", 11)]


async def test_time_does_not_wait_for_ever_for_a_task_that_never_waits() -> None:
    async def spin() -> None:
        while True:
            await asyncio.sleep(0)

    spinning = asyncio.create_task(spin())
    with pytest.raises(RuntimeError, match="every turn"):
        await ManualClock().advance(1)
    spinning.cancel()


@pytest.mark.parametrize("duration_ms", [0, -5])
def test_a_sleep_of_no_time_ends_by_itself(duration_ms: float) -> None:
    asyncio.run(asyncio.wait_for(ManualClock().sleep_ms(duration_ms), timeout=5))


def test_the_systems_clock_never_goes_back() -> None:
    clock = SystemClock()
    first = clock.monotonic_ms()
    asyncio.run(clock.sleep_ms(-1))
    assert clock.monotonic_ms() >= first
    assert isinstance(clock.now_ms(), int)


@each(
    ("epoch_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_710_000_000_000, "2024-03-09T16:00:00.000Z"),
        (1_776_931_200_007, "2026-04-23T08:00:00.007Z"),
        (1_710_000_000_999, "2024-03-09T16:00:00.999Z"),
    ],
)
def test_a_time_on_the_wire_has_milliseconds_and_a_z(epoch_ms: int, text: str) -> None:
    assert iso_time(epoch_ms) == text


class Hands:
    """A machine's two clocks; somebody may turn the hands of the first."""

    def __init__(self) -> None:
        self.wall, self.steady = 1_710_000_000_000, 5_000
        self.clock = WallClock(lambda: self.wall, lambda: self.steady)

    def passes(self, ms: int, set_by: int = 0) -> int:
        self.wall += ms + set_by
        self.steady += ms
        return self.clock.now_ms()


def test_a_clock_that_is_set_back_keeps_nothing_for_longer() -> None:
    hands = Hands()
    start = hands.passes(0)
    assert hands.passes(1_000) == start + 1_000
    assert hands.passes(1_000, set_by=-3_600_000) == start + 2_000
    assert hands.passes(60_000) == start + 62_000
    assert hands.passes(1_000, set_by=-7_200_000) == start + 63_000


@each("by", [-1_000, -1, 0, 1, 1_000, 3_600_000, -25 * 3_600_000, -10 * 365 * 86_400_000])
def test_small_corrections_steps_forward_and_great_ones_are_followed(by: int) -> None:
    hands = Hands()
    start = hands.passes(0)
    assert hands.passes(10_000, set_by=by) == start + 10_000 + by


def test_many_small_steps_back_are_followed_too() -> None:
    hands = Hands()
    start = hands.passes(0)
    for _ in range(20):
        hands.passes(1_000, set_by=-400)
    assert hands.passes(0) == start + 20 * 600
